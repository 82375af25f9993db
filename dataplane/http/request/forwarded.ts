// Determines the client of a request: what proxies in front say is trusted only if their addresses are
// (`--trusted-proxies`).

import { isIP } from 'node:net'
import type { IncomingMessage } from 'node:http'
import type { Scheme } from '../../../language/document.ts'
import { type AddressList, createAddressList } from '../../address-list.ts'
import { clientAddress, peernameOf } from '../../client-address.ts'
import { isPeerKnown } from '../../connections/peer-address.ts'
import { canonicalAddress } from '../../plain-address.ts'
import { isRequestId } from './request-id.ts'

export interface Client {
  readonly scheme: Scheme
  /** `<ip>:<port>`; behind a trusted proxy the port is not known and is 0. */
  readonly peername: string
  readonly address: string
  /**
   * Guesses are counted by the address. False: there is no X-Forwarded-For, and `address` is the proxy's, the same for all its
   * clients. True for a malformed one, so that no client gains by sending a malformed header.
   */
  readonly isAddressKnown: boolean
  /** False also for a malformed one, so that no client passes for the proxy. */
  readonly isAddressRead: boolean
  readonly requestId: string | undefined
}

export type ReadClient = (request: IncomingMessage, scheme: Scheme) => Client | undefined

/** `cidrs` as `10.0.0.0/8`, `::1/128` or single addresses. undefined from the reader: no proxy is trusted. */
export const createClientReader = (cidrs: readonly string[]): ReadClient => {
  if (cidrs.length === 0) return () => undefined
  const trusted = createAddressList(cidrs)
  return (request, scheme) => {
    const peer = clientAddress(request, undefined)
    if (!trusted.has(peer)) return undefined
    const { headers } = request
    const proto = single(headers['x-forwarded-proto'])?.trim().toLowerCase()
    const requestId = single(headers['x-request-id'])
    const forwardedFor = single(headers['x-forwarded-for']) ?? ''
    const read = lastUntrusted(trusted, forwardedFor)
    const address = read ?? peer
    return {
      scheme: proto === 'https' || proto === 'http' ? proto : scheme,
      peername: peernameOf(address, address === peer ? (request.socket.remotePort ?? 0) : 0),
      address,
      isAddressKnown: forwardedFor.trim() !== '',
      isAddressRead: read !== undefined && isPeerKnown(request.socket),
      requestId: requestId !== undefined && isRequestId(requestId) ? requestId : undefined,
    }
  }
}

const lastUntrusted = (list: AddressList, header: string): string | undefined => {
  const parts = header.split(',')
  // Proxies append, and clients may have sent thousands before.
  for (let index = parts.length - 1; index >= 0; index--) {
    const address = canonicalAddress(withoutPort((parts[index] ?? '').trim()))
    if (isIP(address) === 0) return undefined
    if (!list.has(address) || index === 0) return address
  }
  return undefined
}

/** Some balancers send it: `192.0.2.1:80`, `[2001:db8::1]:80`. */
const withoutPort = (entry: string): string => {
  const [, ipv4, ipv6] = WITH_PORT.exec(entry) ?? []
  return ipv4 ?? ipv6 ?? entry
}

const WITH_PORT = /^(?:([\d.]+):\d{1,5}|\[([^\]]*:[^\]]*)\](?::\d{1,5})?)$/

const single = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(', ') : value
