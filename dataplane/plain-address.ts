// Converts an address as the socket gives it to the form that people and upstreams expect.

import { isIP } from 'node:net'

/** An IPv4-mapped address (`::ffff:127.0.0.1`) becomes IPv4. */
export const plainAddress = (address: string): string =>
  address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address
