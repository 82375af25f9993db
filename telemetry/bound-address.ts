// Reads where a listening server really listens, for messages to people and for other programs.

import { isIPv4, type Server } from 'node:net'
import type { Address } from './settings-table.ts'
import { formatAddress } from './settings-value.ts'

/**
 * Where a server really listens: port 0 is the one that the system chose, and "every address" is `::`, or
 * `0.0.0.0` on a machine without IPv6.
 */
export const boundAddress = (server: Server, requested: Address): Address => {
  const bound = server.address()
  if (requested.kind === 'unix' || typeof bound !== 'object' || bound === null) return requested
  return {
    ...requested,
    host: requested.host === '' ? bound.address : requested.host,
    port: bound.port,
  }
}

/** `http://127.0.0.1:18080`, `https://[::1]:8443` or `unix:/run/gateway.sock`. */
export const urlOf = (scheme: 'http' | 'https', address: Address): string =>
  address.kind === 'unix' ? formatAddress(address) : `${scheme}://${formatAddress(address)}`

/** Loopback address or Unix socket: only this machine can connect to it. */
export const isLocal = (address: Address): boolean =>
  address.kind === 'unix' ||
  address.host === 'localhost' ||
  address.host === '::1' ||
  (isIPv4(address.host) && address.host.startsWith('127.'))
