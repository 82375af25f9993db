// Overrides the peer address of a socket, so that everything which reads it gets the address of the client behind the
// balancer, and remembers where the balancer does not name one.

import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { SourceAddress } from './parse-proxy-header.ts'

const sources = new WeakMap<Socket, SourceAddress | undefined>()

/**
 * Once per socket. `remoteAddress` is a getter of the prototype, which an own property hides.
 * @param source undefined: the header of the balancer names no client
 */
export const overridePeer = (socket: Socket, source: SourceAddress | undefined): void => {
  sources.set(socket, source)
  if (source === undefined) return
  const { address, port } = source
  Object.defineProperties(socket, {
    remoteAddress: { value: address },
    remotePort: { value: port },
    remoteFamily: { value: address.includes(':') ? 'IPv6' : 'IPv4' },
  })
}

/** For a TLS connection on top of `raw`. */
export const inheritPeer = (secure: TLSSocket, raw: Socket): void => {
  if (sources.has(raw)) overridePeer(secure, sources.get(raw))
}

/** False: the address of the socket is that of a balancer, the same for all whom it does not name. */
export const isPeerKnown = (socket: Socket): boolean =>
  !sources.has(socket) || sources.get(socket) !== undefined
