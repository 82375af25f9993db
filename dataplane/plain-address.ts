// An address as the socket tells it in, as people and upstreams know it out.

import { isIP } from 'node:net'

/** IPv4 in IPv6 clothes (`::ffff:127.0.0.1`) is IPv4. */
export const plainAddress = (address: string): string =>
  address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address
