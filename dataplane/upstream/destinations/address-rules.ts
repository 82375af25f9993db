// Builds a list of networks in which addresses are looked up, also IPv4 addresses that IPv6 addresses embed.

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
  return true
}

/** Whether the list holds it, or an IPv4 address that something on the way may make of it. */
export const holdsAddress = (list: BlockList, address: string): boolean =>
  checks(list, address) || embeddedAddresses(address).some((each) => checks(list, each))

/**
 * As `holdsAddress`, but not where it depends on the network which IPv4 address is embedded, or whether one is: any host
 * of any network may give itself an address of ISATAP.
 */
export const surelyHoldsAddress = (list: BlockList, address: string): boolean => {
  if (checks(list, address)) return true
  const [embedded] = embeddedAddresses(address, SURE_FORMS)
  const isSure = embeddedAddresses(address).length === 1
  return embedded !== undefined && isSure && checks(list, embedded)
}

/** IPv4-mapped addresses match by themselves. */
const checks = (list: BlockList, address: string): boolean =>
  list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6')

type Groups = readonly [number, number, number, number, number, number, number, number]

interface EmbeddedForm {
  readonly is: (groups: Groups) => boolean
  readonly addresses: (groups: Groups) => readonly string[]
}

const inLastGroups = ([, , , , , , g, h]: Groups): readonly string[] => [ipv4Of(g, h)]
const startsWith = (groups: Groups, ...start: readonly number[]): boolean =>
  start.every((group, at) => groups[at] === group)

const SURE_FORMS: readonly EmbeddedForm[] = [
  // 6to4 (RFC 3056).
  { is: ([a]) => a === 0x2002, addresses: ([, b, c]) => [ipv4Of(b, c)] },
  // Teredo (RFC 4380 §4): the client's address, inverted.
  {
    is: (groups) => startsWith(groups, 0x2001, 0),
    addresses: ([, , , , , , g, h]) => [ipv4Of(g ^ 0xffff, h ^ 0xffff)],
  },
  // NAT64 of a network's own (RFC 8215): its prefix has 48, 56, 64 or 96 bits (RFC 6052 §2.2).
  {
    is: (groups) => startsWith(groups, 0x64, 0xff9b, 1),
    addresses: ([, , , d, e, f, g, h]) => [
      ipv4Of(d, shifted(e, f)),
      ipv4Of(shifted(d, e), f),
      ipv4Of(shifted(e, f), shifted(f, g)),
      ipv4Of(g, h),
    ],
  },
  // NAT64 (RFC 6052).
  { is: (groups) => startsWith(groups, 0x64, 0xff9b, 0, 0, 0, 0), addresses: inLastGroups },
  // SIIT (RFC 2765).
  { is: (groups) => startsWith(groups, 0, 0, 0, 0, 0xffff, 0), addresses: inLastGroups },
  // IPv4-compatible (RFC 4291 §2.5.5.1); the unspecified address and loopback are none.
  {
    is: (groups) =>
      startsWith(groups, 0, 0, 0, 0, 0, 0) && !(groups[6] === 0 && (groups[7] & 0xfffe) === 0),
    addresses: inLastGroups,
  },
]

const FORMS: readonly EmbeddedForm[] = [
  ...SURE_FORMS,
  // ISATAP (RFC 5214 §6.1), in any network.
  { is: ([, , , , e, f]) => (e & 0xfdff) === 0 && f === 0x5efe, addresses: inLastGroups },
]

/** Several where it depends on the network which one it is. */
const embeddedAddresses = (address: string, forms = FORMS): readonly string[] => {
  if (isIP(address) !== 6) return []
  const groups = groupsOf(address)
  return forms.flatMap(({ is, addresses }) => (is(groups) ? addresses(groups) : []))
}

/** The low byte of a group and the high byte of the next one. */
const shifted = (group: number, next: number): number => ((group & 0xff) << 8) | (next >> 8)

const ipv4Of = (high: number, low: number): string =>
  [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')

/** The eight groups of an IPv6 address. */
const groupsOf = (address: string): Groups => {
  // As RFC 5952 writes it, without dotted digits.
  const text = new URL(`http://[${address.replace(/%.*/, '')}]`).hostname.slice(1, -1)
  const [head = [], tail = []] = text
    .split('::')
    .map((part) => (part === '' ? [] : part.split(':').map((group) => parseInt(group, 16))))
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => 0)
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = [...head, ...zeros, ...tail]
  return [a, b, c, d, e, f, g, h]
}
