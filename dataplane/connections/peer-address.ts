// Overrides the peer address of a socket, so that everything which reads it gets the address of the client behind the
// balancer.

import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { SourceAddress } from './parse-proxy-header.ts'

const sources = new WeakMap<Socket, SourceAddress>()

/** Once per socket. `remoteAddress` is a getter of the prototype, which an own property hides. */
export const overridePeer = (socket: Socket, source: SourceAddress): void => {
  sources.set(socket, source)
  const { address, port } = source
  Object.defineProperties(socket, {
    remoteAddress: { value: address },
    remotePort: { value: port },
    remoteFamily: { value: address.includes(':') ? 'IPv6' : 'IPv4' },
  })
}

/** For a TLS connection on top of `raw`. */
export const inheritPeer = (secure: TLSSocket, raw: Socket): void => {
  const source = sources.get(raw)
  if (source !== undefined) overridePeer(secure, source)
}
