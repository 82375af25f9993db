// Binds a server to an address. It removes the socket file of a process that is gone, never that of one that runs.

import { chmodSync, existsSync, statSync, unlinkSync } from 'node:fs'
import { connect, type Server } from 'node:net'
import { boundAddress } from '../../telemetry/bound-address.ts'
import { formatAddress } from '../../telemetry/settings-value.ts'
import type { Address } from '../../telemetry/settings-table.ts'
import { StartError } from '../start-error.ts'

export interface BindOptions {
  /** Flag of the address, for messages: `public`. */
  readonly setting: string
  readonly address: Address
  /** Permissions of a Unix socket. */
  readonly socketMode: 0o600 | 0o660
  /** Another process has handled the socket file already. */
  readonly keepSocketFile: boolean
}

/**
 * Resolves to the real address, with the port that 0 became and the address that "every address" became.
 * @throws StartError when the address is in use, not one of this machine, or not permitted
 */
export const bind = async (server: Server, options: BindOptions): Promise<Address> => {
  const { setting, address, socketMode, keepSocketFile } = options
  if (address.kind === 'unix' && !keepSocketFile) await removeStaleSocket(setting, address.path)
  await new Promise<void>((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => {
      reject(new StartError(`--${setting} ${formatAddress(address)}: ${reasonOf(error)}`, error))
    }
    server.once('error', onError)
    startListening(server, address, () => {
      server.off('error', onError)
      resolve()
    })
  })
  if (address.kind === 'unix') {
    chmodSync(address.path, socketMode)
    return address
  }
  return boundAddress(server, address)
}

/** @throws StartError when a running process listens on the path, or the file there is not a socket */
export const removeStaleSocket = async (setting: string, path: string): Promise<void> => {
  if (!existsSync(path)) return
  const code = await new Promise<string>((resolve) => {
    const probe = connect(path, () => {
      probe.destroy()
      resolve('EADDRINUSE')
    })
    probe.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code ?? '')
    })
  })
  if (code === 'ENOENT') return
  // A plain file refuses connections like a stale socket, but must not be deleted.
  if (code !== 'ECONNREFUSED')
    throw new StartError(`--${setting} unix:${path}: ${reasonOf({ code })}`)
  if (!statSync(path).isSocket()) throw new StartError(`--${setting} unix:${path}: not a socket`)
  unlinkSync(path)
}

const startListening = (server: Server, address: Address, onListening: () => void): void => {
  if (address.kind === 'tcp') {
    // Without a host Node listens on `::`, which includes IPv4, or on 0.0.0.0 where there is no IPv6.
    const host = address.host === '' ? {} : { host: address.host }
    server.listen({ ...host, port: address.port, backlog: BACKLOG }, onListening)
    return
  }
  // The file is created within listen(), so that there is no moment in which everybody could connect.
  const before = process.umask(0o177)
  server.listen({ path: address.path, backlog: BACKLOG }, onListening)
  process.umask(before)
}

/** More than Node's own 511, for a burst after a restart; systems cap it at somaxconn. */
const BACKLOG = 4096

const REASONS: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'the address is already in use; stop the other process or choose another address'],
  [
    'EADDRNOTAVAIL',
    'this machine does not have the address; choose one of its own, or leave the host out',
  ],
  [
    'EACCES',
    'not permitted: a port below 1024, or a directory of another user, needs more privileges',
  ],
  ['ENOTFOUND', 'the host name cannot be resolved'],
  ['ENOENT', 'the directory of the socket does not exist'],
])

const reasonOf = (error: {
  readonly code?: string | undefined
  readonly message?: string
}): string => REASONS.get(error.code ?? '') ?? error.message ?? String(error.code)
