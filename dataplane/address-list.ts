// Builds from the CIDRs of a setting a list that tells whether an address is in it.

import { BlockList, isIP } from 'node:net'
import { plainAddress } from './plain-address.ts'

export interface AddressList {
  /** False for a text that is no address. An IPv4-mapped IPv6 address counts as IPv4. */
  has(address: string): boolean
}

/**
 * @param cidrs `10.0.0.0/8`, `::1/128` or single addresses, as `isCidr` has accepted them
 * @example createAddressList(['10.0.0.0/8']).has('10.1.2.3') // true
 */
export const createAddressList = (cidrs: readonly string[]): AddressList => {
  const list = new BlockList()
  for (const cidr of cidrs) addTo(list, cidr)
  return {
    has: (given) => {
      const address = plainAddress(given)
      const family = isIP(address)
      return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4')
    },
  }
}

const addTo = (list: BlockList, cidr: string): void => {
  const [address = '', prefix] = cidr.split('/', 2)
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
  if (prefix === undefined) list.addAddress(address, family)
  else list.addSubnet(address, Number(prefix), family)
}
