// Reads where a listening server really listens, for messages to people and for other programs.

import type { Server } from 'node:net'
import type { Address } from './settings-table.ts'
import { formatAddress } from './settings-value.ts'

/**
 * Where a server really listens: port 0 is the one that the system chose, and "every address" is `::`, or
 * `0.0.0.0` on a machine without IPv6.
 */
export const boundAddress = (server: Server, asked: Address): Address => {
  const bound = server.address()
  if (asked.kind === 'unix' || typeof bound !== 'object' || bound === null) return asked
  return { ...asked, host: asked.host === '' ? bound.address : asked.host, port: bound.port }
}

/** `http://127.0.0.1:18080`, `https://[::1]:8443` or `unix:/run/gateway.sock`. */
export const urlOf = (scheme: 'http' | 'https', address: Address): string =>
  address.kind === 'unix' ? formatAddress(address) : `${scheme}://${formatAddress(address)}`
