// Reads the `networks` of a Security Object: CIDRs and single addresses, each in its one form (RFC 5952).

import { childPointer } from '../../base/json-pointer.ts'
import type { Template } from '../expression/template.ts'
import type { Diagnostics } from './diagnostics.ts'
import { readTexts } from './folded.ts'

const MAX_NETWORKS = 1000

/** undefined: a problem was reported. */
export const readNetworks = (
  template: Template,
  pointer: string,
  diagnostics: Diagnostics,
): readonly string[] | undefined => {
  const texts = readTexts<string>(template, pointer, undefined, diagnostics)
  if (texts === undefined) return undefined
  if (texts.length === 0 || texts.length > MAX_NETWORKS) {
    diagnostics.problem('invalid_value', pointer, `expected 1 to ${MAX_NETWORKS} networks`)
    return undefined
  }
  const networks: string[] = []
  for (const [index, text] of texts.entries()) {
    const read = readNetwork(text)
    if ('network' in read) networks.push(read.network)
    else diagnostics.problem('invalid_value', childPointer(pointer, index), read.problem)
  }
  return networks.length < texts.length ? undefined : networks
}

const NO_NETWORK = 'expected an address or a CIDR such as 10.0.0.0/8 or 2001:db8::/32'

/**
 * IPv4-mapped networks (`::ffff:10.0.0.0/104`) are those of IPv4.
 * @example readNetwork('::FFFF:10.0.0.0/104') // { network: '10.0.0.0/8' }
 */
const readNetwork = (text: string): { readonly network: string } | { readonly problem: string } => {
  const [address = '', length, ...rest] = text.split('/')
  const bytes = bytesOf(address)
  if (bytes === undefined || rest.length > 0) return { problem: NO_NETWORK }
  const width = bytes.length * 8
  const bits = length === undefined ? width : /^\d{1,3}$/.test(length) ? Number(length) : -1
  if (bits < 0 || bits > width) return { problem: NO_NETWORK }
  const masked = bytes.map((byte, at) => byte & maskOfByte(bits - at * 8))
  const network = toNetwork(masked, bits)
  if (bytes.some((byte, at) => byte !== masked[at]))
    return { problem: `the address has bits beyond the first ${bits}: did you mean ${network}?` }
  return { network }
}

const maskOfByte = (bits: number): number => (0xff00 >> Math.min(8, Math.max(0, bits))) & 0xff

const MAPPED = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]

const toNetwork = (bytes: readonly number[], bits: number): string => {
  if (bytes.length === 4) return withLength(bytes.join('.'), bits, 32)
  if (bits >= 96 && MAPPED.every((byte, at) => bytes[at] === byte))
    return toNetwork(bytes.slice(12), bits - 96)
  const groups = Array.from({ length: 8 }, (_, at) =>
    (((bytes[at * 2] ?? 0) << 8) | (bytes[at * 2 + 1] ?? 0)).toString(16),
  )
  const address = groups.join(':')
  return withLength(canonicalIPv6(address) ?? address, bits, 128)
}

const withLength = (address: string, bits: number, width: number): string =>
  bits === width ? address : `${address}/${bits}`

/** undefined: no address. URLs have those of IPv6 in the form of RFC 5952, without dotted digits. */
const canonicalIPv6 = (address: string): string | undefined =>
  /^[\d.:a-f]+$/i.test(address)
    ? URL.parse(`http://[${address}]`)?.hostname.slice(1, -1)
    : undefined

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/

/** undefined: no address. One with a zone is none, as a zone has a meaning on one machine only. */
const bytesOf = (address: string): readonly number[] | undefined => {
  if (IPV4.test(address)) return address.split('.').map(Number)
  const canonical = canonicalIPv6(address)
  if (canonical === undefined) return undefined
  const [head = [], tail = []] = canonical
    .split('::')
    .map((part) => (part === '' ? [] : part.split(':').map((group) => parseInt(group, 16))))
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => 0)
  return [...head, ...zeros, ...tail].flatMap((group) => [group >> 8, group & 0xff])
}
