// Manages one connection to an upstream: it connects to the address that the pool chooses, or to another one if that
// does not respond, and records which address it has. The pool makes all decisions, and a client speaks HTTP.

import type { LookupFunction, Socket } from 'node:net'
import {
  type Connector,
  type Destination,
  destinationOf,
  type OnConnected,
  type Reading,
} from './destinations/connector.ts'
import type { Endpoint } from './endpoints/endpoint-set.ts'
import type { SharedFailure } from './endpoints/origin-health.ts'
import type { ConnectSocket, Http1Client, OpenClient } from './http1/client.ts'

export interface Connection {
  readonly client: Http1Client
  /** The latest socket, also one that is still connecting. */
  socket: Socket | undefined
  isBusy: boolean
  isConnected: boolean
  /** undefined: the addresses are not known yet. */
  endpoint: Endpoint | undefined
  /** An attempt to connect to the endpoint is in progress, or was made. */
  hasAttempted: boolean
  /** It gets no request after that time. */
  readonly dueMs: number
  /** Consecutive responses that indicate a fault of the instance behind it. */
  badResponses: number
  /** It has returned a response without a fault. */
  hasServed: boolean
  /** The request that uses it is not its first one. */
  isReused: boolean
  /** The realm of the request that uses it. */
  realm: string | undefined
  avoid: Endpoint | undefined
  method: string
  /** How long that request waits for it. */
  connectTimeoutMs: number
  /** The ejected endpoint that the request tries. */
  probed: Endpoint | undefined
  /** Why it will probably fail: the request does not wait long for it. */
  expectedError: Error | undefined
  /** Whether it is counted among the outstanding requests of the endpoint. */
  isCounted: boolean
  isValidated: boolean
  begunAt: number
}

export interface ConnectionOptions {
  readonly origin: string
  readonly openClient: OpenClient
  readonly connector: Connector
  readonly keepAliveMs: number
  readonly dueMs: number
  readonly whenKnown: (callback: (error: Error | null) => void) => void
  /** Milliseconds in which the event loop ran, so that bytes which arrived were seen. */
  readonly heardMs: () => number
}

/** What the pool does for a connection. */
export interface ConnectionEvents {
  /**
   * The endpoint to connect to first, and those to try if it does not respond; an error: none is to be tried. Called
   * when addresses are known.
   */
  candidates(connection: Connection): readonly Endpoint[] | Error
  /** It now connects to this endpoint. */
  assign(connection: Connection, endpoint: Endpoint): void
  /** Its endpoint did not respond, or failed. @param isSlow that took so long that requests should not wait for it */
  onAttemptFailed(connection: Connection, fault: SharedFailure, isSlow: boolean): void
  /** Its endpoint accepted the connection. */
  onConnected(connection: Connection): void
  /** Requests can use it: with TLS the handshake is over. */
  onUsable(connection: Connection): void
  onDisconnected(connection: Connection): void
}

/** The time that the connector gives one of several addresses before it tries the next. */
const ATTEMPT_MS = 250
/**
 * If the event loop was blocked for a part of that time, the peer may have responded: at least this much must have
 * been observed, as ticks come a little late.
 */
const CONCLUSIVE_ATTEMPT_MS = 150

export const openConnection = (
  options: ConnectionOptions,
  events: ConnectionEvents,
): Connection => {
  const { origin, keepAliveMs, openClient } = options
  const connection: Connection = {
    client: openClient({
      origin,
      keepAliveMs,
      connect: (connected, reading) => {
        connection.hasAttempted = false
        connectSocket(connection, options, events)(connected, reading)
      },
      onConnected: () => {
        connection.isConnected = true
        events.onUsable(connection)
      },
      onDisconnected: () => {
        connection.isConnected = false
        events.onDisconnected(connection)
      },
    }),
    socket: undefined,
    isBusy: true,
    isConnected: false,
    endpoint: undefined,
    hasAttempted: false,
    dueMs: options.dueMs,
    badResponses: 0,
    hasServed: false,
    isReused: false,
    realm: undefined,
    avoid: undefined,
    method: '',
    connectTimeoutMs: 0,
    probed: undefined,
    expectedError: undefined,
    isCounted: false,
    isValidated: false,
    begunAt: 0,
  }
  return connection
}

export const destroyConnection = ({ client, socket }: Connection): void => {
  client.destroy()
  // A client that is still connecting would wait for the kernel's time-out.
  socket?.destroy()
}

/** Not synchronously, so that listeners to attempts are called for the first one. */
const connectSocket =
  (connection: Connection, options: ConnectionOptions, events: ConnectionEvents): ConnectSocket =>
  (connected, reading) => {
    const { origin, connector, whenKnown, heardMs } = options
    const to = destinationOf(origin)
    whenKnown((error) => {
      // No request waits for it any more.
      if (error !== null || connection.client.isDestroyed) {
        connected(error ?? GIVEN_UP, null)
        return
      }
      const candidates = events.candidates(connection)
      if (candidates instanceof Error) {
        connected(candidates, null)
        return
      }
      const groups = groupByPort(candidates)
      const tryNext = (failure: Error): void => {
        const group = groups.shift()
        if (group === undefined || connection.client.isDestroyed)
          connected(connection.expectedError ?? failure, null)
        else {
          const isLast = groups.length === 0 && connection.expectedError === undefined
          attempt(
            { connection, group, isLast, to, reading, connector, heardMs, events },
            connected,
            tryNext,
          )
        }
      }
      tryNext(GIVEN_UP)
    })
  }

/** Groups endpoints by port: a socket tries several addresses by itself, but only one port. */
const groupByPort = (endpoints: readonly Endpoint[]): (readonly Endpoint[])[] => [
  ...Map.groupBy(endpoints, ({ port }) => port).values(),
]

interface ConnectAttempt extends Pick<ConnectionOptions, 'connector' | 'heardMs'> {
  readonly connection: Connection
  /** At least one endpoint, all of one port. */
  readonly group: readonly Endpoint[]
  readonly isLast: boolean
  readonly to: Destination
  readonly reading: Reading | undefined
  readonly events: ConnectionEvents
}

/** @param onFailed called instead of `connected` if no endpoint of the group accepted the connection */
const attempt = (
  { connection, group, isLast, to, reading, connector, heardMs, events }: ConnectAttempt,
  connected: OnConnected,
  onFailed: (failure: Error) => void,
): void => {
  const port = group[0]?.port
  let attemptedMs = heardMs()
  let isOpen = false
  let isGivenUp = false
  const socket = connector(
    { ...to, ...(port !== undefined && { port: String(port) }) },
    (...result) => {
      clearTimeout(timer)
      if (isGivenUp) return
      const [failure] = result
      if (failure === null || isOpen) {
        // The peer accepted the connection, but the TLS handshake failed.
        if (failure !== null) events.onAttemptFailed(connection, 'tls', false)
        connected(...result)
      } else onFailed(failure)
    },
    { lookup: lookupOf(group), reading },
  )
  connection.socket = socket
  const timer = isLast ? undefined : setTimeout(giveUp, ATTEMPT_MS * group.length)
  // An attempt that we have destroyed ourselves says nothing about the endpoint.
  const onAttemptFailed = (fault: SharedFailure) => (): void => {
    if (socket?.destroyed !== false) return
    // A host that is gone is often reported only after some seconds, by a router or the kernel.
    const isSlow = fault === 'refused' && heardMs() - attemptedMs >= ATTEMPT_MS
    events.onAttemptFailed(connection, fault, isSlow)
  }
  const onUnheard = (): void => {
    if (heardMs() - attemptedMs >= CONCLUSIVE_ATTEMPT_MS) onAttemptFailed('unreachable')()
  }
  socket
    ?.on('connectionAttempt', (address: string) => {
      const endpoint = group.find((each) => each.address === address)
      if (endpoint === undefined) return
      connection.hasAttempted = true
      attemptedMs = heardMs()
      events.assign(connection, endpoint)
    })
    .on('connectionAttemptFailed', onAttemptFailed('refused'))
    .on('connectionAttemptTimeout', onUnheard)
    .once('connect', () => {
      isOpen = true
      clearTimeout(timer)
      events.onConnected(connection)
    })

  /** Gives up when the last of them has not responded. */
  function giveUp(): void {
    if (socket?.destroyed !== false) return
    onUnheard()
    isGivenUp = true
    socket.destroy()
    onFailed(NOT_HEARD)
  }
}

const lookupOf =
  (endpoints: readonly Endpoint[]): LookupFunction =>
  (_hostname, { all }, callback) => {
    process.nextTick(() => {
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

const NOT_HEARD = new Error('this address does not respond')
const GIVEN_UP = new Error('no request waits for this connection any more')
