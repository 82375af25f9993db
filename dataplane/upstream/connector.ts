// Opens the sockets: a host and port come in, a connected socket goes out, to an address that the
// guard has seen. The name is resolved once and the connection goes to that very answer, so that a
// name which changes its mind in between (DNS rebinding) gains nothing. Pools and HTTP are not here.

import { lookup } from 'node:dns'
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls, type SecureContext } from 'node:tls'
import type { Resolve } from '../name-lookup.ts'
import type { DestinationGuard } from './guard.ts'
import { type Confinement, createResolveConfined } from './resolve-confined.ts'

export interface ConnectorOptions {
  readonly guard: DestinationGuard
  /** Whom to trust: one for all connections, for with more CAs each takes 25 ms, in which nothing else runs. */
  readonly secureContext?: SecureContext
  readonly resolve?: Resolve
  /** Of all that is in the cluster, only Services of one namespace. */
  readonly confinement?: Confinement
}

interface Destination {
  readonly hostname: string
  readonly protocol: string
  readonly port: string
}

type OnConnected = (...outcome: [null, Socket] | [Error, null]) => void

/** Gives the socket at once, so that an attempt can be given up; `connected` is told once. */
export type Connector = (to: Destination, connected: OnConnected) => Socket | undefined

/** Nobody tried to connect. The message goes to the log only: it names an inner address. */
export class DestinationDenied extends Error {
  constructor(host: string, port: number) {
    super(
      `${host}:${port} is no allowed destination (--upstream-allow, --upstream-deny, the API server, ` +
        'the management port of a gateway, or the namespace of the document may reach no other)',
    )
    this.name = 'DestinationDenied'
  }
}

const READ_BYTES = 64 * 1024

/** One per origin: it keeps that origin's TLS session for resumption. */
export const createConnector = (options: ConnectorOptions): Connector => {
  const { guard, confinement } = options
  const lookupFor = createLookup(options)
  const allowsLiteral = (host: string, port: number): boolean =>
    guard.allows(host, host, port) &&
    (confinement === undefined || guard.allowsConfined(host, port))
  let session: Buffer | undefined

  return ({ hostname, protocol, port: portText }, connected) => {
    const secure = protocol === 'https:'
    const port = portText === '' ? (secure ? 443 : 80) : Number(portText)
    // Sockets do not call `lookup` for literals.
    if (isIP(hostname) !== 0 && !allowsLiteral(hostname, port)) {
      process.nextTick(connected, new DestinationDenied(hostname, port), null)
      return undefined
    }
    const to = {
      host: hostname,
      port,
      lookup: lookupFor(port),
      highWaterMark: READ_BYTES,
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

/** By port. Drops the addresses that are denied; none left is a denial. */
const createLookup = ({
  guard,
  confinement,
  resolve = lookup,
}: ConnectorOptions): ((port: number) => LookupFunction) => {
  const find = confinement && createResolveConfined(resolve, confinement)
  return (port) => (hostname, options, callback) => {
    const { family, hints } = options
    const asked = {
      all: true,
      ...(typeof family === 'number' && { family }),
      ...(hints !== undefined && { hints }),
    } as const
    const choose = (error: Error | null, found: Addresses, isFree: boolean): void => {
      if (error !== null) {
        callback(error, '')
        return
      }
      const allowed = found.filter(
        ({ address }) =>
          guard.allows(hostname, address, port) && (isFree || guard.allowsConfined(address, port)),
      )
      const first = allowed[0]
      if (first === undefined) callback(new DestinationDenied(hostname, port), '')
      else if (options.all === true) callback(null, [...allowed])
      else callback(null, first.address, first.family)
    }
    if (find !== undefined) find(hostname, asked, choose)
    else
      resolve(hostname, asked, (error, found) => {
        choose(error, found, true)
      })
  }
}

type Addresses = Parameters<Parameters<Resolve>[2]>[1]
