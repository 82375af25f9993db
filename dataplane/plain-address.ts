// Converts an address as the socket gives it to the form that people and upstreams expect.

import { isIP, SocketAddress } from 'node:net'

/** An IPv4-mapped address (`::ffff:127.0.0.1`) becomes IPv4. */
export const plainAddress = (address: string): string =>
  address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address

/**
 * An address as others write it, in the one form of RFC 5952, without a zone, and IPv4-mapped as IPv4; what is no address
 * stays as it is.
 * @example canonicalAddress('2001:DB8:0::1') // '2001:db8::1'
 */
export const canonicalAddress = (address: string): string =>
  isIP(address) === 6
    ? plainAddress(new SocketAddress({ address, family: 'ipv6' }).address)
    : address
