// Opens the public TLS listener with one certificate, or one for each of several hosts, and follows their files. Open
// connections keep the certificate that they started with.

import { readFileSync } from 'node:fs'
import type { Server as TlsServer } from 'node:https'
import type { TlsOptions } from 'node:tls'
import type { Log } from '../../../telemetry/log.ts'
import type { GatewaySettings } from '../../config.ts'
import {
  createSecureServer,
  type ServerHandlers,
  type ServerLimits,
  withTlsFloor,
} from '../http-server.ts'
import { StartError } from '../../start-error.ts'
import { messageOf } from '../../../base/thrown.ts'
import { watchTlsDirectory } from './certificate-directory.ts'
import { refreshContext, type TlsFiles } from './certificate-files.ts'
import {
  createTlsHostTable,
  endOfCertificate,
  type TlsHost,
  type TlsHostTable,
} from './certificate-for-host.ts'
import type { FileWatch } from '../../watched-files.ts'

export interface PublicTlsOptions {
  readonly settings: Pick<GatewaySettings, 'tlsCert' | 'tlsKey' | 'tlsDir'>
  readonly limits: ServerLimits
  readonly handlers: ServerHandlers
  readonly log: Log
  /** How often files are read; if left out, 2000. */
  readonly intervalMs: number | undefined
  /** Opens the listener. @returns its URL */
  readonly listen: (server: TlsServer) => Promise<string>
}

export interface PublicTlsWatch extends FileWatch {
  /** Folder in `--tls-dir`, or `--tls-cert` → expiry of the certificate that is served, Unix time in ms. */
  endsMs(): ReadonlyMap<string, number>
}

/**
 * With `--tls-cert` it must open now; with `--tls-dir` alone it opens when the first certificate is there.
 * @returns the watch of the files; close it before the listener
 * @throws StartError with the line to print
 */
export const openPublicTls = async (
  options: PublicTlsOptions,
): Promise<readonly PublicTlsWatch[]> => {
  const { tlsCert: cert, tlsKey: key, tlsDir } = options.settings
  const files = cert === null || key === null ? undefined : { cert, key }
  if (tlsDir !== null) return openForHosts(options, tlsDir, files)
  return files === undefined ? [] : [await openForOne(options, files)]
}

const openForOne = async (
  options: PublicTlsOptions,
  files: TlsFiles,
  more: TlsOptions = {},
): Promise<PublicTlsWatch> => {
  const pair = { cert: readNow('tls-cert', files.cert), key: readNow('tls-key', files.key) }
  const server = createNow(() =>
    createSecureServer(options.limits, options.handlers, { ...more, ...pair }),
  )
  await options.listen(server)
  const { log, intervalMs } = options
  let endsMs = endOfCertificate(pair.cert)
  const onUse = ({ cert }: { readonly cert: Buffer }): void => {
    endsMs = endOfCertificate(cert)
  }
  const watch = refreshContext(server, { files, log, onUse, intervalMs })
  return { ...watch, endsMs: () => new Map([['--tls-cert', endsMs]]) }
}

const openForHosts = async (
  options: PublicTlsOptions,
  directory: string,
  files: TlsFiles | undefined,
): Promise<readonly PublicTlsWatch[]> => {
  const { log, intervalMs } = options
  let table: TlsHostTable = createTlsHostTable([])
  const bySni = { SNICallback: chooseFrom(() => table) }
  const first = files === undefined ? openWithFirstHost(options, bySni) : undefined
  const one = files === undefined ? [] : [await openForOne(options, files, bySni)]
  const watch = await watchTlsDirectory({
    directory,
    log,
    onHosts: (hosts) => {
      table = createTlsHostTable(hosts)
      if (hosts[0] !== undefined) first?.use(hosts[0])
    },
    ...(intervalMs === undefined ? {} : { intervalMs }),
  })
  try {
    await first?.endStart()
  } catch (error) {
    watch.close()
    throw error
  }
  const endsMs = () => new Map(table.hosts.map((host) => [host.folder, host.endsMs]))
  return [{ ...watch, endsMs }, ...one]
}

/** Without a match the server's own certificate is used. */
const chooseFrom =
  (table: () => TlsHostTable): NonNullable<TlsOptions['SNICallback']> =>
  (serverName, answer) => {
    answer(null, table().find(serverName)?.context)
  }

interface FirstHost {
  /** Opens the listener, or sets this certificate, for clients that send no name, on the one that is open. */
  use(host: TlsHost): void
  /** From now on the opening of the listener is logged, as the start does not wait for it. */
  endStart(): Promise<void>
}

const openWithFirstHost = (options: PublicTlsOptions, bySni: TlsOptions): FirstHost => {
  const { settings, limits, handlers, log, listen } = options
  let server: TlsServer | undefined
  let opening: Promise<string> | undefined
  let shown: TlsHost | undefined
  let isStarting = true

  const openLate = async (late: Promise<string>): Promise<void> => {
    try {
      log.info('public TLS listener is open now', { url: await late })
    } catch (error) {
      // The next change of a certificate tries again.
      server = undefined
      log.error('cannot open the public TLS listener', { error })
    }
  }

  return {
    use: (host) => {
      const { cert, key } = host
      if (server !== undefined) {
        if (host !== shown) server.setSecureContext(withTlsFloor({ cert, key }))
        shown = host
        return
      }
      shown = host
      server = createSecureServer(limits, handlers, { ...bySni, cert, key })
      opening = listen(server)
      // During the start `endStart` reports a failure.
      opening.catch(() => undefined)
      if (!isStarting) void openLate(opening)
    },
    endStart: async () => {
      isStarting = false
      if (opening === undefined)
        log.warn('public TLS listener opens when there is a certificate', {
          directory: settings.tlsDir,
        })
      await opening
    },
  }
}

const readNow = (setting: string, path: string): Buffer => {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new StartError(`--${setting} ${path}: cannot read the file: ${messageOf(error)}`, error)
  }
}

const createNow = <S>(create: () => S): S => {
  try {
    return create()
  } catch (error) {
    throw new StartError(`--tls-cert, --tls-key: cannot be used: ${messageOf(error)}`, error)
  }
}
