// The connections to one origin: idle ones are handed out, the latest used first, new ones are opened
// when there is none. Each carries one request at a time, so a request knows its connection and can
// give it up while it still connects. How many there may be is the limiters' affair.

import type { EventEmitter } from 'node:events'
import { Client } from 'undici'
import type { Socket } from 'node:net'
import type { Connector } from './connector.ts'
import { withoutContinue } from './interim.ts'
import type { UpstreamFailure } from './upstream.ts'

export interface Connection {
  readonly client: Client
  /** The latest socket, also one that is still connecting. */
  socket: Socket | undefined
  isBusy: boolean
  isConnected: boolean
  /** A request is out and nothing of its answer is in. */
  awaitsAnswer: boolean
}

export interface OriginPool {
  take(): Connection
  /** The request is over and the connection may serve another. */
  giveBack(connection: Connection): void
  /** The request failed or was given up: the connection is of no use any more. */
  drop(connection: Connection): void
  /** For whoever counts failures. */
  report(failure: UpstreamFailure): void
  /** Idle connections now, the others when their request is over. */
  close(): void
  count(): Readonly<Record<'connected' | 'running' | 'queued', number>>
}

export interface PoolOptions {
  readonly origin: string
  readonly connector: Connector
  /** Idle connections are closed after this time, or a second or two before the time that the upstream names. */
  readonly keepAliveMs: number
  /** No connection is left. */
  readonly onEmpty: () => void
  readonly onFailure?: (failure: UpstreamFailure) => void
}

const MAX_HEAD_BYTES = 64 * 1024

export const createOriginPool = (options: PoolOptions): OriginPool => {
  const idle: Connection[] = []
  const all = new Set<Connection>()
  let isClosing = false

  const forget = (connection: Connection): void => {
    const at = idle.lastIndexOf(connection)
    if (at >= 0) idle.splice(at, 1)
    if (all.delete(connection) && all.size === 0) options.onEmpty()
  }

  const open = (): Connection => {
    const connection = openConnection(options)
    connection.client.on('disconnect', () => {
      // A busy one tells its request, or connects anew for one that was just handed to it.
      if (!connection.isBusy) forget(connection)
    })
    all.add(connection)
    return connection
  }

  const drop = (connection: Connection): void => {
    forget(connection)
    // Later: undici may be in the middle of its own bookkeeping for this very client.
    queueMicrotask(() => {
      destroy(connection)
    })
  }

  return {
    report(failure) {
      options.onFailure?.(failure)
    },
    take() {
      const connection = idle.pop() ?? open()
      connection.isBusy = true
      return connection
    },
    giveBack(connection) {
      connection.isBusy = false
      if (isClosing) drop(connection)
      else idle.push(connection)
    },
    drop,
    close() {
      isClosing = true
      for (const connection of [...idle]) drop(connection)
    },
    count() {
      let connected = 0
      let queued = 0
      for (const connection of all) {
        if (connection.isConnected) connected++
        else if (connection.isBusy) queued++
      }
      return { connected, running: all.size - idle.length - queued, queued }
    },
  }
}

const openConnection = (options: PoolOptions): Connection => {
  const connection: Connection = {
    client: openClient(options, (socket) => {
      connection.socket = socket
      if (socket !== undefined) skipContinue(socket, connection)
    }),
    socket: undefined,
    isBusy: true,
    isConnected: false,
    awaitsAnswer: false,
  }
  connection.client
    .on('connect', () => (connection.isConnected = true))
    .on('disconnect', () => (connection.isConnected = false))
  // A handler that threw has been told so by then; without a listener it would end the process.
  const emitter: EventEmitter = connection.client
  emitter.on('error', () => undefined)
  return connection
}

const openClient = (options: PoolOptions, onSocket: (socket: Socket | undefined) => void): Client =>
  new Client(options.origin, {
    connect: (to, connected) => {
      onSocket(options.connector(to, connected))
    },
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: options.keepAliveMs,
    maxHeaderSize: MAX_HEAD_BYTES,
    // Deadlines are our own: undici's timers tick twice a second and may fire half a second early.
    headersTimeout: 0,
    bodyTimeout: 0,
  })

/** undici reads its sockets by `read`; there is no other place between them and its parser. */
const skipContinue = (socket: Socket, connection: Connection): void => {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null
  socket.read = (size) => {
    const chunk = read(size)
    if (chunk === null || !connection.awaitsAnswer) return chunk
    const rest = withoutContinue(chunk)
    return rest.length === 0 ? read() : rest
  }
}

const destroy = ({ client, socket }: Connection): void => {
  client.destroy(null, () => undefined)
  // A client that still connects would wait for the kernel to give up.
  socket?.destroy()
}
