// A socket and the address of whom it really serves in; from then on the socket tells that address as its peer's, to
// everybody who asks.

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

/** For a TLS connection that was made of `raw`. */
export const inheritPeer = (secure: TLSSocket, raw: Socket): void => {
  const source = sources.get(raw)
  if (source !== undefined) overridePeer(secure, source)
}
