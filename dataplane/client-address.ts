// Determines the address of the client of a request from its socket and from what trusted proxies say. Conditions,
// access log, audit, login throttle, traces and X-Forwarded-For all use it. Where a balancer sends PROXY protocol
// headers, the socket already has the client's address.

import type { Socket } from 'node:net'
import { isPeerKnown } from './connections/peer-address.ts'
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

/** False: the address may be a proxy's, the same for all its clients. */
export const isAddressRead = (
  { socket }: { readonly socket: Socket },
  client: { readonly isAddressRead: boolean } | undefined,
): boolean => client?.isAddressRead ?? isPeerKnown(socket)

export const clientPeername = (
  request: Request,
  client: Pick<ForwardedClient, 'peername'> | undefined,
): string =>
  client?.peername ?? peernameOf(clientAddress(request, undefined), request.socket.remotePort ?? 0)

/** `192.0.2.1:80`, `[2001:db8::1]:80`. */
export const peernameOf = (address: string, port: number): string =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
