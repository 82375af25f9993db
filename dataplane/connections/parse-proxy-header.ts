// Parses the PROXY protocol header (version 1 or 2) at the beginning of a connection:
// https://www.haproxy.org/download/2.9/doc/proxy-protocol.txt

import { isIPv4, isIPv6, SocketAddress } from 'node:net'

/** The address of the client that is connected to the balancer. */
export interface SourceAddress {
  readonly address: string
  readonly port: number
}

export type ProxyHeader =
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'malformed'; readonly message: string }
  | {
      readonly kind: 'header'
      /** Its length; what follows belongs to the client. */
      readonly bytes: number
      /** undefined: the balancer itself connects, as for health checks. */
      readonly source: SourceAddress | undefined
    }

/** Decided as early as the bytes allow: what cannot become a header is malformed before it is complete. */
export const parseProxyHeader = (bytes: Buffer): ProxyHeader => {
  if (beginsLike(bytes, VERSION_2_SIGNATURE)) return parseVersion2(bytes)
  if (beginsLike(bytes, VERSION_1_START)) return parseVersion1(bytes)
  return malformed('it does not begin with a PROXY header')
}

const VERSION_1_START = Buffer.from('PROXY ', 'latin1')
const VERSION_2_SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex')

const INCOMPLETE: ProxyHeader = { kind: 'incomplete' }

const malformed = (message: string): ProxyHeader => ({ kind: 'malformed', message })

const beginsLike = (bytes: Buffer, start: Buffer): boolean => {
  const length = Math.min(bytes.length, start.length)
  return bytes.compare(start, 0, length, 0, length) === 0
}

/** §2.1: the longest line, with its CRLF. */
const MAX_VERSION_1_BYTES = 107

const VERSION_1_LINE =
  /^PROXY (?:(TCP4|TCP6) (\S+) (\S+) (0|[1-9]\d{0,4}) (0|[1-9]\d{0,4})|UNKNOWN(?: [^]*)?)$/

const parseVersion1 = (bytes: Buffer): ProxyHeader => {
  const end = bytes.subarray(0, MAX_VERSION_1_BYTES).indexOf('\r\n')
  if (end === -1) {
    return bytes.length < MAX_VERSION_1_BYTES
      ? INCOMPLETE
      : malformed(`version 1: the line is longer than ${MAX_VERSION_1_BYTES} bytes`)
  }
  return parseLine(bytes.toString('latin1', 0, end))
}

const parseLine = (line: string): ProxyHeader => {
  const match = VERSION_1_LINE.exec(line)
  if (match === null) return malformed('version 1: the line is malformed')
  const [, family, source = '', destination = '', ...ports] = match
  const bytes = line.length + '\r\n'.length
  if (family === undefined) return { kind: 'header', bytes, source: undefined }
  const isAddress = family === 'TCP4' ? isIPv4 : isPlainIPv6
  if (!isAddress(source) || !isAddress(destination))
    return malformed(`version 1: an address is not ${family}`)
  const [port = 0, destinationPort = 0] = ports.map(Number)
  if (Math.max(port, destinationPort) > MAX_PORT)
    return malformed('version 1: a port is above 65535')
  const address = family === 'TCP4' ? source : canonicalIPv6(source)
  return { kind: 'header', bytes, source: { address, port } }
}

const MAX_PORT = 65_535

/** A zone (`fe80::1%eth0`) means something on the balancer only. */
const isPlainIPv6 = (text: string): boolean => isIPv6(text) && !text.includes('%')

/** In the spelling of a socket. */
const canonicalIPv6 = (address: string): string =>
  new SocketAddress({ address, family: 'ipv6' }).address

/** §2.2: signature, version and command, family and protocol, length of what follows. */
const VERSION_2_FIXED_BYTES = 16

/** Addresses take 216 at most; the rest are TLVs (§2.2.1 to §2.2.8), which are not read. */
const MAX_VERSION_2_LENGTH = 4096

const LOCAL = 0
const PROXY = 1
const TCP_OVER_IPV4 = 0x11
const TCP_OVER_IPV6 = 0x21

const parseVersion2 = (bytes: Buffer): ProxyHeader => {
  if (bytes.length < VERSION_2_FIXED_BYTES) return INCOMPLETE
  const [version, command] = nibbles(bytes.readUInt8(12))
  if (version !== 2) return malformed(`the binary header is of version ${version}, not 2`)
  if (command > PROXY) return malformed(`version 2: command ${command} is not assigned`)
  const length = bytes.readUInt16BE(14)
  if (length > MAX_VERSION_2_LENGTH)
    return malformed(`version 2: longer than ${MAX_VERSION_2_LENGTH} bytes`)
  const family = bytes.readUInt8(13)
  if (command === PROXY) {
    const error = findFamilyError(family, length)
    if (error !== undefined) return malformed(`version 2: ${error}`)
  }
  const total = VERSION_2_FIXED_BYTES + length
  if (bytes.length < total) return INCOMPLETE
  const source = command === LOCAL ? undefined : readSource(bytes, family)
  return { kind: 'header', bytes: total, source }
}

const nibbles = (byte: number): readonly [high: number, low: number] => [byte >> 4, byte & 15]

const findFamilyError = (family: number, length: number): string | undefined => {
  const [addresses, transport] = nibbles(family)
  if (addresses > 3) return `address family ${addresses} is not assigned`
  if (transport > 2) return `transport protocol ${transport} is not assigned`
  return length < addressBytes(family) ? 'shorter than its addresses' : undefined
}

const addressBytes = (family: number): number =>
  family === TCP_OVER_IPV4 ? 12 : family === TCP_OVER_IPV6 ? 36 : 0

/** Any other family or protocol (Unix sockets, datagrams) counts as unspecified, as §2.2 asks of a receiver. */
const readSource = (bytes: Buffer, family: number): SourceAddress | undefined => {
  const at = VERSION_2_FIXED_BYTES
  if (family === TCP_OVER_IPV4)
    return { address: bytes.subarray(at, at + 4).join('.'), port: bytes.readUInt16BE(at + 8) }
  if (family !== TCP_OVER_IPV6) return undefined
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(at + 2 * index))
  const address = canonicalIPv6(groups.map((group) => group.toString(16)).join(':'))
  return { address, port: bytes.readUInt16BE(at + 32) }
}
