// Lists the loopback addresses of the machine as they stand in a URL: IPv4 everywhere, IPv6 where there is one.

import { networkInterfaces } from 'node:os'

/** @example loopbackAddresses() // ['127.0.0.1', '[::1]'] */
export const loopbackAddresses = (): readonly string[] => {
  const found = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  const hasIPv6 = found.some(({ address }) => address === '::1')
  return hasIPv6 ? ['127.0.0.1', '[::1]'] : ['127.0.0.1']
}
