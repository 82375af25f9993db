// Decides which alternatives of a Security Object count for the network that a request comes from (behaviour §6).

import { isIP } from 'node:net'
import { oncePer } from '../../../base/once.ts'
import type { CompiledSecurity } from '../../../language/compile/security.ts'
import { type AddressList, createAddressList } from '../../address-list.ts'
import type { NetworkReason } from '../../gateway-error.ts'
import { canonicalAddress } from '../../plain-address.ts'
import { valuesOf } from '../../upstream/headers.ts'
import type { Caller } from './authentication.ts'

/**
 * Without those whose `networks` do not hold, as if they were not there. None hold for a client whose address is not
 * known.
 */
export const withinNetworks = (
  security: CompiledSecurity,
  caller: Pick<Caller, 'address' | 'isAddressRead'>,
): CompiledSecurity => {
  if (security.every(({ networks }) => networks === undefined)) return security
  const address = caller.isAddressRead ? canonicalAddress(caller.address) : ''
  return security.filter(({ networks }) => networks === undefined || holds(networks, address))
}

/** Which address was compared. A proxy that is not trusted, such as a balancer, has one address for all of its clients. */
export const networkReasonOf = ({
  address,
  isAddressRead,
  isForwarded,
  request,
}: Caller): NetworkReason => {
  if (!isAddressRead || address === '') return 'network_unknown'
  if (isForwarded) return 'network_forwarded'
  const isProxied = valuesOf(request.rawHeaders, 'x-forwarded-for').length > 0
  return isProxied ? 'network_proxy' : 'network_connection'
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
