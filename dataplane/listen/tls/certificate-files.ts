// Keeps TLS servers up to date with their certificate files: it refreshes them when the files change, and opens them
// when the files appear. A pair that does not match, as in the middle of a renewal, changes nothing. When the CAs of client
// certificates change, connections that the new ones would not let in end.

import type { Server as TlsServer } from 'node:https'
import type { Log } from '../../../telemetry/log.ts'
import { withTlsFloor } from '../http-server.ts'
import { watchFiles, type FileWatch } from '../../watched-files.ts'
import { type ClientConnections, trackClientConnections } from './client-connections.ts'

export interface TlsFiles {
  readonly cert: string
  readonly key: string
  /** CAs of client certificates. */
  readonly ca?: string
}

export interface TlsContents {
  readonly cert: Buffer
  readonly key: Buffer
  readonly ca?: Buffer
}

export interface Refreshing {
  readonly files: TlsFiles
  readonly log: Log
  /** Called for each certificate that is used from now on, including the first. */
  readonly onUse: (contents: TlsContents) => void
  readonly intervalMs: number | undefined
}

/** Gives a running server the new certificate whenever a file changes; open connections stay. */
export const refreshContext = (server: TlsServer, refreshing: Refreshing): FileWatch => {
  const { files, log, onUse, intervalMs } = refreshing
  return watchFiles({
    paths: pathsOf(files),
    onContents: (buffers) => {
      const contents = contentsOf(buffers)
      server.setSecureContext(withTlsFloor(contents))
      onUse(contents)
    },
    onFailure: (error) => {
      log.error('cannot use the new TLS files; the previous ones stay in use', {
        files: pathsOf(files),
        error,
      })
    },
    ...(intervalMs === undefined ? {} : { intervalMs }),
  })
}

export interface DeferredOpening {
  readonly files: TlsFiles
  readonly log: Log
  readonly create: (contents: TlsContents) => TlsServer
  readonly listen: (server: TlsServer) => Promise<void>
  readonly intervalMs?: number
}

export interface DeferredServer extends FileWatch {
  /** Resolves when the server listens, or immediately while its files cannot be used; rejects as `listen` does. */
  readonly first: Promise<void>
}

/** Opens a server as soon as its files are there and match, then keeps its certificate up to date. */
export const openWhenFilesAppear = (opening: DeferredOpening): DeferredServer => {
  const { files, log, create, listen, intervalMs } = opening
  let server: TlsServer | undefined
  let clients: ClientConnections | undefined
  let ca: Buffer | undefined
  let first: Promise<void> | undefined

  const listenLate = async (created: TlsServer): Promise<void> => {
    try {
      await listen(created)
      log.info('management listener is open now')
    } catch (error) {
      server = undefined
      log.error('cannot open the management listener', { error })
    }
  }

  const watch = watchFiles({
    paths: pathsOf(files),
    onContents: (buffers) => {
      const contents = contentsOf(buffers)
      if (server !== undefined) {
        server.setSecureContext(withTlsFloor(contents))
        if (contents.ca !== undefined && ca?.equals(contents.ca) !== true) {
          clients?.endUntrusted(contents.ca.toString())
          log.info('the CAs of management clients have changed: connections of others were ended')
        }
        ca = contents.ca
        return
      }
      server = create(contents)
      clients = trackClientConnections(server)
      ca = contents.ca
      if (first === undefined) first = listen(server)
      else void listenLate(server)
    },
    onFailure: (error) => {
      first ??= Promise.resolve()
      log.warn('TLS files of the management listener cannot be used yet', { error })
    },
    ...(intervalMs === undefined ? {} : { intervalMs }),
  })
  return { ...watch, first: first ?? Promise.resolve() }
}

const pathsOf = ({ cert, key, ca }: TlsFiles): readonly string[] =>
  ca === undefined ? [cert, key] : [cert, key, ca]

const contentsOf = ([cert, key, ca]: readonly Buffer[]): TlsContents => {
  if (cert === undefined || key === undefined)
    throw new Error('both certificate and key are required')
  return ca === undefined ? { cert, key } : { cert, key, ca }
}
