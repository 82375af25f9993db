// Builds a list of networks in which addresses are looked up, also IPv4 addresses in any IPv6 spelling.

import { BlockList, isIP } from 'node:net'

/**
 * Texts that are not a network are ignored.
 * @example holdsAddress(addressRules(['10.0.0.0/8']), '::ffff:10.1.2.3') // true
 */
export const addressRules = (networks: readonly string[]): BlockList => {
  const list = new BlockList()
  for (const each of networks) addNetwork(list, each)
  return list
}

/** @returns false: the text is neither an address nor a CIDR */
export const addNetwork = (list: BlockList, text: string): boolean => {
  const [address = '', bits, ...rest] = text.split('/')
  const family = isIP(address)
  const widest = family === 4 ? 32 : 128
  const prefix = bits === undefined ? widest : /^\d{1,3}$/.test(bits) ? Number(bits) : -1
  if (family === 0 || rest.length > 0 || prefix < 0 || prefix > widest) return false
  list.addSubnet(address, prefix, family === 4 ? 'ipv4' : 'ipv6')
  if (family === 4) addTunnels(list, address, prefix)
  return true
}

/** The same network behind NAT64 (RFC 6052) and 6to4 (RFC 3056). Mapped addresses match by themselves. */
const addTunnels = (list: BlockList, address: string, prefix: number): void => {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
  const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
  list.addSubnet(`64:ff9b::${hex}`, 96 + prefix, 'ipv6')
  list.addSubnet(`2002:${hex}::`, 16 + prefix, 'ipv6')
}

export const holdsAddress = (list: BlockList, address: string): boolean =>
  list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6')
