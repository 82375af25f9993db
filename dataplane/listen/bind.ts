// A server and an address in, a listening server out. Clears away the socket file of a process that is
// gone, never that of one that lives.

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
  /** Another process has looked after the socket file already. */
  readonly keepSocketFile: boolean
}

/**
 * Resolves with the real address: port 0 and "every address" are replaced by what they became.
 * @throws StartError when the address is taken, not ours or not permitted
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

/** @throws StartError when a living process listens on the path, or something else than a socket is there */
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
  // A plain file refuses connections like a stale socket does, but is somebody's content.
  if (code !== 'ECONNREFUSED')
    throw new StartError(`--${setting} unix:${path}: ${reasonOf({ code })}`)
  if (!statSync(path).isSocket()) throw new StartError(`--${setting} unix:${path}: not a socket`)
  unlinkSync(path)
}

const startListening = (server: Server, address: Address, onListening: () => void): void => {
  if (address.kind === 'tcp') {
    // Without a host Node takes `::`, which is IPv4 as well, or 0.0.0.0 where there is no IPv6.
    const host = address.host === '' ? {} : { host: address.host }
    server.listen({ ...host, port: address.port, backlog: BACKLOG }, onListening)
    return
  }
  // The file is created within listen(): no moment in which everybody could connect.
  const before = process.umask(0o177)
  server.listen({ path: address.path, backlog: BACKLOG }, onListening)
  process.umask(before)
}

/** Node's own 511 is cut to somaxconn on older systems; a burst after a restart needs more. */
const BACKLOG = 4096

const REASONS: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'the address is already in use; stop the other process or choose another address'],
  ['EADDRNOTAVAIL', 'this machine has no such address'],
  ['EACCES', 'not permitted; a port below 1024 or a folder of another user needs rights'],
  ['ENOTFOUND', 'the host name is not known'],
  ['ENOENT', 'the folder of the socket does not exist'],
])

const reasonOf = (error: {
  readonly code?: string | undefined
  readonly message?: string
}): string => REASONS.get(error.code ?? '') ?? error.message ?? String(error.code)
