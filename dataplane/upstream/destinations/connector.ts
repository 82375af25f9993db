// Opens sockets to addresses that the destination guard has allowed. The name is resolved once and the connection
// goes to that very result, so that a name that changes in between (DNS rebinding) gains nothing. Pools and HTTP are
// handled elsewhere.

import { lookup } from 'node:dns'
import {
  connect as connectTcp,
  isIP,
  type LookupFunction,
  type OnReadOpts,
  type Socket,
} from 'node:net'
import { connect as connectTls, type SecureContext } from 'node:tls'
import type { Resolve } from '../../name-lookup.ts'
import { SECURE_OPTIONS } from '../../trust.ts'
import { createFindAllowed, destinationDenied } from './allowed-addresses.ts'
import type { DestinationGuard } from './guard.ts'
import type { Confinement } from './resolve-confined.ts'

export interface ConnectorOptions {
  readonly guard: DestinationGuard
  /** The trust store: one for all connections, as with further CAs each takes 25 ms, in which nothing else runs. */
  readonly secureContext?: SecureContext
  /** In place of the host: SNI, and the name that the certificate of the peer must be for. */
  readonly serverName?: string | undefined
  readonly resolve?: Resolve
  /** Within the cluster, connect only to Services of one namespace. */
  readonly confinement?: Confinement | undefined
}

export interface Destination {
  /** IPv6 literals have no brackets. */
  readonly hostname: string
  readonly protocol: string
  readonly port: string
}

export type OnConnected = (...result: [null, Socket] | [Error, null]) => void

/** Where a socket puts what it reads (`onread` of Node); such a socket emits no `data`. */
export type Reading = OnReadOpts

export interface SocketOptions {
  /**
   * Used instead of looking up the name: returns addresses that the guard has allowed, but not synchronously, so that
   * the caller can listen to the attempts first.
   */
  readonly lookup?: LookupFunction | undefined
  readonly reading?: Reading | undefined
}

/** Returns the socket immediately, so that an attempt can be aborted; `connected` is called once. */
export type Connector = (
  to: Destination,
  connected: OnConnected,
  options?: SocketOptions,
) => Socket | undefined

const READ_BYTES = 64 * 1024
/** The delay before the next of several addresses is tried (RFC 8305 §5); versions of Node differ. */
const ATTEMPT_MS = 250

/** Create one per origin: it keeps that origin's TLS session for resumption. */
export const createConnector = (options: ConnectorOptions): Connector => {
  const { guard, confinement } = options
  const lookupFor = createLookup(options)
  const allowsLiteral = (host: string, port: number): boolean =>
    guard.allows(host, host, port) &&
    (confinement === undefined || guard.allowsConfined(host, port))
  let session: Buffer | undefined

  return ({ hostname, protocol, port: portText }, connected, { lookup: known, reading } = {}) => {
    const secure = protocol === 'https:'
    const port = portOf(protocol, portText)
    // Sockets do not call `lookup` for literals.
    if (isIP(hostname) !== 0 && !allowsLiteral(hostname, port)) {
      process.nextTick(connected, destinationDenied(hostname, port), null)
      return undefined
    }
    const to = {
      host: hostname,
      port,
      lookup: known ?? lookupFor(port),
      highWaterMark: READ_BYTES,
      ...(reading && { onread: reading }),
      autoSelectFamilyAttemptTimeout: ATTEMPT_MS,
    }
    const socket = secure
      ? connectTls({
          ...to,
          ALPNProtocols: ['http/1.1'],
          // RFC 6066 §3: literals are not server names.
          ...(isIP(hostname) === 0 && { servername: hostname }),
          // A context has its own.
          secureOptions: SECURE_OPTIONS,
          ...(options.serverName !== undefined && { servername: options.serverName }),
          ...(options.secureContext && { secureContext: options.secureContext }),
          ...(session && { session }),
        }).on('session', (fresh) => (session = fresh))
      : connectTcp(to)
    socket.setNoDelay(true)
    socket.setKeepAlive(true, 60_000)
    settle(socket, secure ? 'secureConnect' : 'connect', connected)
    return socket
  }
}

/** @param origin `http://host:port` */
export const destinationOf = (origin: string): Destination => {
  const { hostname, protocol, port } = new URL(origin)
  return {
    hostname: hostname.startsWith('[') ? hostname.slice(1, -1) : hostname,
    protocol,
    port,
  }
}

/** As in a URL, an empty port means the default. */
export const portOf = (protocol: string, port: string): number =>
  port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)

const settle = (socket: Socket, event: string, connected: OnConnected): void => {
  let isSettled = false
  socket.once(event, () => {
    isSettled = true
    connected(null, socket)
  })
  // This listener stays: an error of a socket without one would end the process.
  socket.on('error', (error) => {
    if (isSettled) return
    isSettled = true
    connected(error, null)
  })
}

/** Used only for names: sockets do not look up literals. */
const createLookup = ({
  guard,
  confinement,
  resolve = lookup,
}: ConnectorOptions): ((port: number) => LookupFunction) => {
  const find = createFindAllowed({ guard, confinement, resolve })
  return (port) => (hostname, options, callback) => {
    const { family, hints } = options
    const lookup = {
      all: true,
      ...(typeof family === 'number' && { family }),
      ...(hints !== undefined && { hints }),
    } as const
    find({ hostname, port }, lookup, (error, allowed) => {
      const first = allowed?.[0]
      if (error !== null || first === undefined) callback(error ?? NO_ADDRESS, '')
      else if (options.all === true) callback(null, [...allowed])
      else callback(null, first.address, first.family)
    })
  }
}

const NO_ADDRESS = new Error('this name has no address')
