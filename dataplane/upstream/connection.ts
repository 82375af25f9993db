// One connection to an upstream, as undici keeps it: it goes to the address that the pool chooses at the time of
// connecting, or where that one does not answer to another, and it knows which it has. It decides nothing itself.

import type { EventEmitter } from 'node:events'
import type { LookupFunction, Socket } from 'node:net'
import { Client } from 'undici'
import type { Connector, OnConnected } from './connector.ts'
import type { Endpoint } from './endpoint-set.ts'
import { withoutContinue } from './interim.ts'
import type { SharedFault } from './origin-health.ts'

export interface Connection {
  readonly client: Client
  /** The latest socket, also one that is still connecting. */
  socket: Socket | undefined
  isBusy: boolean
  isConnected: boolean
  /** A request is out and nothing of its answer is in. */
  awaitsAnswer: boolean
  /** undefined: it is not known yet which addresses there are. */
  endpoint: Endpoint | undefined
  /** An attempt to connect to the endpoint is under way, or was made. */
  hasAttempted: boolean
  /** It takes no request after that time. */
  readonly dueMs: number
  /** In a row, of those that tell of a fault of the instance behind it. */
  badAnswers: number
  /** It has answered without a fault. */
  hasServed: boolean
  /** Of the request that has it. */
  realm: string | undefined
  avoid: Endpoint | undefined
  method: string
  /** Among the outstanding requests of the endpoint. */
  isCounted: boolean
  isJudged: boolean
  begunAt: number
}

export interface ConnectionOptions {
  readonly origin: string
  readonly connector: Connector
  readonly keepAliveMs: number
  readonly dueMs: number
  /** undefined: the origin is an address itself. */
  readonly whenKnown: ((callback: (error: Error | null) => void) => void) | undefined
  /** Milliseconds in which the event loop ran: what came in meanwhile was heard. */
  readonly heardMs: () => number
}

/** What the pool does for a connection. */
export interface ConnectionEvents {
  /** The endpoint to connect to first, and those to try where it does not answer. Called when addresses are known. */
  candidates(connection: Connection): readonly Endpoint[]
  /** It connects to this one now. */
  assign(connection: Connection, endpoint: Endpoint): void
  /** Its endpoint did not answer, or not as it should. */
  onAttemptFailed(connection: Connection, fault: SharedFault): void
  onDisconnected(connection: Connection): void
}

/**
 * An attempt ends after 250 ms. Where the event loop stood for a part of them, the peer may have answered: so many count,
 * in ticks of 20 ms that come a little late.
 */
const TELLING_ATTEMPT_MS = 150
const MAX_HEAD_BYTES = 64 * 1024

export const openConnection = (
  options: ConnectionOptions,
  events: ConnectionEvents,
): Connection => {
  const connection: Connection = {
    client: openClient(options, (to, connected) => {
      connection.hasAttempted = false
      const socket = connectSocket(connection, options, events)(to, connected)
      connection.socket = socket
      if (socket !== undefined) skipContinue(socket, connection)
    }),
    socket: undefined,
    isBusy: true,
    isConnected: false,
    awaitsAnswer: false,
    endpoint: undefined,
    hasAttempted: false,
    dueMs: options.dueMs,
    badAnswers: 0,
    hasServed: false,
    realm: undefined,
    avoid: undefined,
    method: '',
    isCounted: false,
    isJudged: false,
    begunAt: 0,
  }
  connection.client
    .on('connect', () => (connection.isConnected = true))
    .on('disconnect', () => {
      connection.isConnected = false
      events.onDisconnected(connection)
    })
  // A handler that threw has been told so by then; without a listener it would end the process.
  const emitter: EventEmitter = connection.client
  emitter.on('error', () => undefined)
  return connection
}

export const destroyConnection = ({ client, socket }: Connection): void => {
  client.destroy(null, () => undefined)
  // A client that still connects would wait for the kernel to give up.
  socket?.destroy()
}

type Connect = (to: Parameters<Connector>[0], connected: OnConnected) => void

const openClient = ({ origin, keepAliveMs }: ConnectionOptions, connect: Connect): Client =>
  new Client(origin, {
    connect,
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: keepAliveMs,
    maxHeaderSize: MAX_HEAD_BYTES,
    // Deadlines are our own: undici's timers tick twice a second and may fire half a second early.
    headersTimeout: 0,
    bodyTimeout: 0,
  })

const connectSocket = (
  connection: Connection,
  { connector, whenKnown, heardMs }: ConnectionOptions,
  events: ConnectionEvents,
): ((...request: Parameters<Connect>) => Socket | undefined) => {
  if (whenKnown === undefined) return (to, connected) => connector(to, connected)
  let endpoints: readonly Endpoint[] = []
  let socket: Socket | undefined
  let attemptedMs = 0
  const lookup: LookupFunction = (_hostname, { all }, callback) => {
    whenKnown((error) => {
      // Nobody waits for it any more.
      if (error !== null || socket?.destroyed === true) {
        callback(error ?? GIVEN_UP, '')
        return
      }
      endpoints = events.candidates(connection)
      const [first] = endpoints
      if (first === undefined) callback(GIVEN_UP, '')
      else if (all === true) {
        callback(
          null,
          endpoints.map(({ address, family }) => ({ address, family })),
        )
      } else callback(null, first.address, first.family)
    })
  }
  return (to, connected) => {
    let isOpen = false
    socket = connector(
      to,
      (...outcome) => {
        // The peer took the connection, but not the handshake of TLS.
        if (outcome[0] !== null && isOpen) events.onAttemptFailed(connection, 'tls')
        connected(...outcome)
      },
      lookup,
    )
    const opening = socket
    // Of one that we have destroyed ourselves nobody can tell what would have become.
    const onFailed = (fault: SharedFault) => (): void => {
      if (opening?.destroyed === false) events.onAttemptFailed(connection, fault)
    }
    opening
      ?.on('connectionAttempt', (address: string) => {
        const endpoint = endpoints.find((each) => each.address === address)
        if (endpoint === undefined) return
        connection.hasAttempted = true
        attemptedMs = heardMs()
        events.assign(connection, endpoint)
      })
      .on('connectionAttemptFailed', onFailed('refused'))
      .on('connectionAttemptTimeout', () => {
        if (heardMs() - attemptedMs >= TELLING_ATTEMPT_MS) onFailed('unreachable')()
      })
      .once('connect', () => (isOpen = true))
    return socket
  }
}

const GIVEN_UP = new Error('nobody waits for this connection')

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
