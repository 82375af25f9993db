import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import {
  parseProxyHeader,
  type ProxyHeader,
} from '../../../dataplane/connections/parse-proxy-header.ts'
import { binaryHeader, proxyBinary, proxyLine, SIGNATURE } from '../../support/proxy-header.ts'
import { seededRandom } from '../../support/seeded-random.ts'

const parse = (text: string): ProxyHeader => parseProxyHeader(Buffer.from(text, 'latin1'))

const REQUEST = 'GET / HTTP/1.1\r\n'

const IPV6_ADDRESSES = Buffer.from(
  '20010db8000000000000000000000001' + '20010db8000000000000000000000002' + '1388' + '01bb',
  'hex',
)

describe('version 1', () => {
  it.each([
    ['TCP4 192.0.2.1 10.0.0.1 56324 443', { address: '192.0.2.1', port: 56_324 }],
    [
      'TCP4 255.255.255.255 255.255.255.255 65535 65535',
      { address: '255.255.255.255', port: 65_535 },
    ],
    ['TCP4 0.0.0.0 0.0.0.0 0 0', { address: '0.0.0.0', port: 0 }],
    ['TCP6 2001:db8::1 2001:db8::2 1 2', { address: '2001:db8::1', port: 1 }],
    ['TCP6 2001:0DB8:0:0:0:0:0:1 ::1 1 2', { address: '2001:db8::1', port: 1 }],
    ['TCP6 ::ffff:1.2.3.4 ::1 1 2', { address: '::ffff:1.2.3.4', port: 1 }],
    ['TCP6 ::ffff:102:304 ::1 1 2', { address: '::ffff:1.2.3.4', port: 1 }],
    ['UNKNOWN', undefined],
    ['UNKNOWN ffff::1 what it is\nis ignored', undefined],
  ])('%j', (line, source) => {
    const head = `PROXY ${line}\r\n`
    expect(parse(head + REQUEST)).toEqual({ kind: 'header', bytes: head.length, source })
    expect(parse(head)).toEqual({ kind: 'header', bytes: head.length, source })
  })

  it.each([
    'TCP4 192.0.2.1 10.0.0.1 56324',
    'TCP4 192.0.2.1 10.0.0.1 56324 443 1',
    'TCP4  192.0.2.1 10.0.0.1 56324 443',
    'TCP4 192.0.2.1 10.0.0.1 56324 443 ',
    'TCP4 192.0.2.01 10.0.0.1 56324 443',
    'TCP4 192.0.2.256 10.0.0.1 56324 443',
    'TCP4 192.0.2.1 10.0.0 56324 443',
    'TCP4 192.0.2.1 ::1 56324 443',
    'TCP4 2001:db8::1 10.0.0.1 56324 443',
    'TCP6 192.0.2.1 10.0.0.1 56324 443',
    'TCP6 fe80::1%lo ::1 56324 443',
    'TCP6 1::2::3 ::1 56324 443',
    'TCP4 192.0.2.1 10.0.0.1 65536 443',
    'TCP4 192.0.2.1 10.0.0.1 1 65536',
    'TCP4 192.0.2.1 10.0.0.1 01 443',
    'TCP4 192.0.2.1 10.0.0.1 -1 443',
    'TCP4 192.0.2.1 10.0.0.1 1 443\n',
    'TCP4 192.0.2.1 10.0.0.1 1 443\r',
    'TCP5 192.0.2.1 10.0.0.1 1 443',
    'UDP4 192.0.2.1 10.0.0.1 1 443',
    'tcp4 192.0.2.1 10.0.0.1 1 443',
    'UNKNOWNS',
    'unknown',
    '',
    '__proto__ a b 1 2',
  ])('%j is malformed', (line) => {
    expect(parse(`PROXY ${line}\r\n`).kind).toBe('malformed')
  })

  it.each([
    ['107 bytes are a line', 107, 'header'],
    ['108 bytes are none', 108, 'malformed'],
  ])('%s', (_, length, kind) => {
    const text = `${'PROXY UNKNOWN '.padEnd(length - 2, 'x')}\r\n`
    expect(parse(text).kind).toBe(kind)
  })

  it.each([
    [106, 'incomplete'],
    [107, 'malformed'],
  ])('of %d bytes without an end is %s', (length, kind) => {
    expect(parse('PROXY UNKNOWN '.padEnd(length, 'x')).kind).toBe(kind)
  })

  it('does not end by a single CR or LF', () => {
    expect(parse('PROXY TCP4 192.0.2.1 10.0.0.1 1 2\n').kind).toBe('incomplete')
    expect(parse(`PROXY TCP4 192.0.2.1 10.0.0.1 1 2\n${REQUEST}`).kind).toBe('malformed')
    expect(parse(`PROXY TCP4 192.0.2.1 10.0.0.1 1 2\r${REQUEST}`).kind).toBe('malformed')
  })
})

describe('version 2', () => {
  const ipv4 = { address: '192.0.2.1', port: 5000 }
  const ipv6 = { address: '2001:db8::1', port: 5000 }
  const some = Buffer.alloc(216, 7)

  it.each([
    ['TCP over IPv4', proxyBinary('192.0.2.1'), ipv4],
    ['TLVs behind it', proxyBinary('192.0.2.1', 5000, Buffer.alloc(300, 1)), ipv4],
    ['as many TLVs as fit', proxyBinary('192.0.2.1', 5000, Buffer.alloc(4084)), ipv4],
    ['TCP over IPv6', binaryHeader({ family: 0x21, payload: IPV6_ADDRESSES }), ipv6],
    ['LOCAL', binaryHeader({ command: 0x20, family: 0 }), undefined],
    ['LOCAL with an address', binaryHeader({ command: 0x20, payload: some }), undefined],
    ['LOCAL of no family', binaryHeader({ command: 0x20, family: 0xff }), undefined],
    ['unspecified', binaryHeader({ family: 0, payload: some }), undefined],
    ['IPv4 of no protocol', binaryHeader({ family: 0x10, payload: some }), undefined],
    ['UDP over IPv4', binaryHeader({ family: 0x12, payload: some }), undefined],
    ['UDP over IPv6', binaryHeader({ family: 0x22, payload: some }), undefined],
    ['a Unix stream', binaryHeader({ family: 0x31, payload: some }), undefined],
    ['Unix datagrams', binaryHeader({ family: 0x32, payload: some }), undefined],
  ])('%s', (_, header, source) => {
    const expected = { kind: 'header', bytes: header.length, source }
    expect(parseProxyHeader(header)).toEqual(expected)
    expect(parseProxyHeader(Buffer.concat([header, Buffer.from(REQUEST)]))).toEqual(expected)
  })

  it.each([
    ['version 1', { command: 0x11 }],
    ['version 3', { command: 0x31 }],
    ['an unknown command', { command: 0x22 }],
    ['an unknown family', { family: 0x41 }],
    ['an unknown protocol', { family: 0x13 }],
    ['IPv4 without room for it', { payload: Buffer.alloc(11) }],
    ['IPv6 without room for it', { family: 0x21, payload: Buffer.alloc(35) }],
    ['more than 4096 bytes', { length: 4097 }],
    ['more than 4096 bytes, LOCAL', { command: 0x20, length: 65_535 }],
  ])('%s is malformed as soon as it is known', (_, header) => {
    expect(parseProxyHeader(binaryHeader(header)).kind).toBe('malformed')
  })
})

describe('what is no header', () => {
  it.each([
    ['GET / HTTP/1.1\r\n'],
    ['\x16\x03\x01'],
    ['\r\nGET'],
    ['proxy TCP4'],
    ['PROXYTCP4'],
    ['P0'],
    ['\0'],
  ])('%j is malformed at its first wrong byte', (text) => {
    expect(parse(text).kind).toBe('malformed')
  })

  it('is not known yet while there is nothing', () => {
    expect(parse('').kind).toBe('incomplete')
  })
})

const WHOLE: readonly Buffer[] = [
  proxyLine('192.0.2.1'),
  proxyLine('2001:db8::1'),
  Buffer.from('PROXY UNKNOWN\r\n'),
  proxyBinary('192.0.2.1'),
  proxyBinary('192.0.2.1', 5000, Buffer.alloc(40, 0x0d)),
  binaryHeader({ family: 0x21, payload: IPV6_ADDRESSES }),
  binaryHeader({ command: 0x20, family: 0 }),
]

it.each(WHOLE.map((header) => [header.toString('latin1'), header] as const))(
  '%j is incomplete up to its last byte',
  (_, header) => {
    for (let end = 0; end < header.length; end++)
      expect(parseProxyHeader(header.subarray(0, end)).kind).toBe('incomplete')
    expect(parseProxyHeader(header).kind).toBe('header')
  },
)

/** Some bytes of a header changed, cut off or added. */
const mutate = (header: Buffer, random: () => number): Buffer => {
  const below = (bound: number): number => Math.floor(random() * bound)
  const bytes = Buffer.concat([header, Buffer.from(REQUEST.repeat(below(3)))])
  for (let changes = below(4); changes > 0; changes--) bytes[below(bytes.length)] = below(256)
  return bytes.subarray(0, random() < 0.3 ? below(bytes.length) : bytes.length)
}

it('never throws, never takes more than is there, and never changes its mind', () => {
  const random = seededRandom(20_261_123)
  const seen = { incomplete: 0, malformed: 0, header: 0 }
  for (let round = 0; round < 20_000; round++) {
    const bytes = mutate(WHOLE[round % WHOLE.length] ?? SIGNATURE, random)
    const result = parseProxyHeader(bytes)
    const more = parseProxyHeader(Buffer.concat([bytes, Buffer.from([Math.floor(random() * 256)])]))
    seen[result.kind]++
    expect(result.kind === 'header' ? result.bytes : 0).toBeLessThanOrEqual(bytes.length)
    expect(result.kind === 'incomplete' || isDeepStrictEqual(more, result)).toBe(true)
    expect(result.kind !== 'incomplete' || bytes.length < 16 + 4096).toBe(true)
  }
  expect(Object.values(seen).every((count) => count > 1000)).toBe(true)
})
