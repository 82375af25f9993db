// Who really sent a request: what proxies in front of us say is believed only when their addresses are
// trusted (`--trusted-proxies`).

import { BlockList, isIP } from 'node:net'
import type { IncomingMessage } from 'node:http'
import type { Scheme } from '../../spec/document.ts'
import { plainAddress } from '../plain-address.ts'
import { isRequestId } from './request-id.ts'

export interface Client {
  readonly scheme: Scheme
  /** `<ip>:<port>`; behind a trusted proxy the port is not known and is 0. */
  readonly peername: string
  readonly address: string
  readonly requestId: string | undefined
}

export type ReadClient = (request: IncomingMessage, scheme: Scheme) => Client | undefined

/** `cidrs` as `10.0.0.0/8`, `::1/128` or single addresses. undefined from the reader: no proxy is trusted. */
export const createClientReader = (cidrs: readonly string[]): ReadClient => {
  if (cidrs.length === 0) return () => undefined
  const trusted = new BlockList()
  for (const cidr of cidrs) addTo(trusted, cidr)
  return (request, scheme) => {
    const peer = plainAddress(request.socket.remoteAddress ?? '')
    if (!isTrusted(trusted, peer)) return undefined
    const { headers } = request
    const proto = single(headers['x-forwarded-proto'])?.trim().toLowerCase()
    const requestId = single(headers['x-request-id'])
    const address = lastUntrusted(trusted, single(headers['x-forwarded-for']) ?? '') ?? peer
    return {
      scheme: proto === 'https' || proto === 'http' ? proto : scheme,
      peername: peernameOf(address, address === peer ? (request.socket.remotePort ?? 0) : 0),
      address,
      requestId: requestId !== undefined && isRequestId(requestId) ? requestId : undefined,
    }
  }
}

/** `192.0.2.1:80`, `[2001:db8::1]:80`. */
const peernameOf = (address: string, port: number): string =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`

/** Of whoever is connected. */
export const peernameOfSocket = ({ remoteAddress = '', remotePort = 0 }: Peer): string =>
  peernameOf(plainAddress(remoteAddress), remotePort)

interface Peer {
  readonly remoteAddress?: string | undefined
  readonly remotePort?: number | undefined
}

const addTo = (list: BlockList, cidr: string): void => {
  const [address = '', prefix] = cidr.split('/', 2)
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
  if (prefix === undefined) list.addAddress(address, family)
  else list.addSubnet(address, Number(prefix), family)
}

const isTrusted = (list: BlockList, address: string): boolean => {
  const family = isIP(address)
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

const lastUntrusted = (list: BlockList, header: string): string | undefined => {
  const addresses = header.split(',').map((part) => plainAddress(part.trim()))
  for (let index = addresses.length - 1; index >= 0; index--) {
    const address = addresses[index] ?? ''
    if (isIP(address) === 0) return undefined
    if (!isTrusted(list, address) || index === 0) return address
  }
  return undefined
}

const single = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(', ') : value
