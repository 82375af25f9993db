// A request, and what trusted proxies say of its client, in; the client's address out. The one answer for conditions,
// access log, audit, damping, traces and X-Forwarded-For. Where a balancer sends PROXY protocol headers, the socket
// itself tells the address from there.

import { plainAddress } from './plain-address.ts'

/** What a trusted proxy says. */
export interface ForwardedClient {
  readonly address: string
  /** `<ip>:<port>`; the port is 0 where it is not known. */
  readonly peername: string
}

interface Request {
  readonly socket: {
    readonly remoteAddress?: string | undefined
    readonly remotePort?: number | undefined
  }
}

/** `client` is undefined where no trusted proxy stands before us. */
export const clientAddress = (
  { socket }: Request,
  client: Pick<ForwardedClient, 'address'> | undefined,
): string => client?.address ?? plainAddress(socket.remoteAddress ?? '')

export const clientPeername = (
  request: Request,
  client: Pick<ForwardedClient, 'peername'> | undefined,
): string =>
  client?.peername ?? peernameOf(clientAddress(request, undefined), request.socket.remotePort ?? 0)

/** `192.0.2.1:80`, `[2001:db8::1]:80`. */
export const peernameOf = (address: string, port: number): string =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
