// Decides which alternatives of a Security Object count for the network that a request comes from (behaviour §6).

import { isIP } from 'node:net'
import { oncePer } from '../../../base/once.ts'
import type { CompiledSecurity } from '../../../language/compile/security.ts'
import { type AddressList, createAddressList } from '../../address-list.ts'
import { canonicalAddress } from '../../plain-address.ts'
import type { Caller } from './authentication.ts'

/**
 * Without those whose `networks` do not hold, as if they were not there. None hold for a client whose address is not
 * known.
 */
export const withinNetworks = (
  security: CompiledSecurity,
  caller: Pick<Caller, 'address' | 'isAddressKnown'>,
): CompiledSecurity => {
  if (security.every(({ networks }) => networks === undefined)) return security
  const address = caller.isAddressKnown ? canonicalAddress(caller.address) : ''
  return security.filter(({ networks }) => networks === undefined || holds(networks, address))
}

/** Apart: a network of IPv6 does not hold an address of IPv4, whatever its length. */
interface Lists {
  readonly ofIPv4: AddressList
  readonly ofIPv6: AddressList
}

const listsOf = oncePer((networks: readonly string[]): Lists => {
  const isIPv6 = (network: string): boolean => network.includes(':')
  return {
    ofIPv4: createAddressList(networks.filter((network) => !isIPv6(network))),
    ofIPv6: createAddressList(networks.filter(isIPv6)),
  }
})

const holds = (networks: readonly string[], address: string): boolean => {
  const { ofIPv4, ofIPv6 } = listsOf(networks)
  return (isIP(address) === 4 ? ofIPv4 : ofIPv6).has(address)
}
