// Opens the sockets: a host and port come in, a connected socket goes out, to an address that the
// guard has seen. The name is resolved once and the connection goes to that very answer, so that a
// name which changes its mind in between (DNS rebinding) gains nothing. Pools and HTTP are not here.

import { lookup } from 'node:dns'
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls, type SecureContext } from 'node:tls'
import type { Resolve } from '../../name-lookup.ts'
import { createFindAllowed, destinationDenied } from './allowed-addresses.ts'
import type { DestinationGuard } from './guard.ts'
import type { Confinement } from './resolve-confined.ts'

export interface ConnectorOptions {
  readonly guard: DestinationGuard
  /** Whom to trust: one for all connections, for with more CAs each takes 25 ms, in which nothing else runs. */
  readonly secureContext?: SecureContext
  readonly resolve?: Resolve
  /** Of all that is in the cluster, only Services of one namespace. */
  readonly confinement?: Confinement | undefined
}

interface Destination {
  readonly hostname: string
  readonly protocol: string
  readonly port: string
}

export type OnConnected = (...outcome: [null, Socket] | [Error, null]) => void

/**
 * Gives the socket at once, so that an attempt can be given up; `connected` is told once.
 * @param lookup instead of looking the name up anew: gives addresses that the guard has allowed, and not at once, so
 *   that whoever called can listen to the attempts first
 */
export type Connector = (
  to: Destination,
  connected: OnConnected,
  lookup?: LookupFunction,
) => Socket | undefined

const READ_BYTES = 64 * 1024
/** For the next of several addresses, as RFC 8305 §5 has it; versions of Node differ. */
const ATTEMPT_MS = 250

/** One per origin: it keeps that origin's TLS session for resumption. */
export const createConnector = (options: ConnectorOptions): Connector => {
  const { guard, confinement } = options
  const lookupFor = createLookup(options)
  const allowsLiteral = (host: string, port: number): boolean =>
    guard.allows(host, host, port) &&
    (confinement === undefined || guard.allowsConfined(host, port))
  let session: Buffer | undefined

  return ({ hostname, protocol, port: portText }, connected, known) => {
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
      autoSelectFamilyAttemptTimeout: ATTEMPT_MS,
    }
    const socket = secure
      ? connectTls({
          ...to,
          ALPNProtocols: ['http/1.1'],
          // RFC 6066 §3: literals are no server names.
          ...(isIP(hostname) === 0 && { servername: hostname }),
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

/** As in a URL: empty stands for the default. */
export const portOf = (protocol: string, port: string): number =>
  port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)

const settle = (socket: Socket, event: string, connected: OnConnected): void => {
  let told = false
  socket.once(event, () => {
    told = true
    connected(null, socket)
  })
  // Stays: a socket without an error listener would take the process down.
  socket.on('error', (error) => {
    if (told) return
    told = true
    connected(error, null)
  })
}

/** For names: sockets do not look up literals. */
const createLookup = ({
  guard,
  confinement,
  resolve = lookup,
}: ConnectorOptions): ((port: number) => LookupFunction) => {
  const find = createFindAllowed({ guard, confinement, resolve })
  return (port) => (hostname, options, callback) => {
    const { family, hints } = options
    const asked = {
      all: true,
      ...(typeof family === 'number' && { family }),
      ...(hints !== undefined && { hints }),
    } as const
    find({ hostname, port }, asked, (error, allowed) => {
      const first = allowed?.[0]
      if (error !== null || first === undefined) callback(error ?? NO_ADDRESS, '')
      else if (options.all === true) callback(null, [...allowed])
      else callback(null, first.address, first.family)
    })
  }
}

const NO_ADDRESS = new Error('this name has no address')
