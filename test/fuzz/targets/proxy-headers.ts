// PROXY protocol headers go through their reader, whole and cut off anywhere: it asks for more until the header is
// complete, decides the same however the bytes arrive, and gives only addresses and ports that there are.

import { isIP } from 'node:net'
import {
  parseProxyHeader,
  type ProxyHeader,
} from '../../../dataplane/connections/parse-proxy-header.ts'
import { binaryHeader, proxyBinary, proxyLine } from '../../support/proxy-header.ts'
import type { FuzzTarget } from '../fuzz.ts'
import { mutateBytes } from '../mutate.ts'

const REQUEST = Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n')

/** Fixed part and what may follow it, of version 2; version 1 is shorter. */
const MAX_HEADER_BYTES = 16 + 4096

const checkSource = ({
  source,
  bytes,
}: Extract<ProxyHeader, { readonly kind: 'header' }>): void => {
  if (bytes > MAX_HEADER_BYTES) throw new Error(`a header of ${bytes} bytes`)
  if (source === undefined) return
  if (isIP(source.address) === 0) throw new Error(`${source.address} is no address`)
  if (!(source.port >= 0 && source.port <= 65_535)) throw new Error(`${source.port} is no port`)
}

const check = (input: Buffer): string => {
  const whole = parseProxyHeader(input)
  if (whole.kind === 'header') checkSource(whole)
  for (let length = 0; length < input.length; length++) {
    const part = parseProxyHeader(input.subarray(0, length))
    if (part.kind === 'incomplete') continue
    // The first decision is the one that counts: more bytes change nothing.
    if (part.kind !== whole.kind) throw new Error(`${part.kind} after ${length} bytes`)
    if (part.kind === 'header' && JSON.stringify(part) !== JSON.stringify(whole))
      throw new Error(`another header after ${length} bytes`)
    break
  }
  return whole.kind === 'malformed' ? whole.message : whole.kind
}

export const proxyHeaders: FuzzTarget = {
  name: 'proxy-headers',
  seeds: [
    ...['192.0.2.1', '2001:db8::1', '::ffff:192.0.2.1'].map((address) => proxyLine(address)),
    Buffer.from('PROXY UNKNOWN\r\n'),
    Buffer.from('PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n'),
    proxyBinary('192.0.2.1'),
    proxyBinary('192.0.2.1', 5000, Buffer.from('03000400000000', 'hex')),
    binaryHeader({ family: 0x21, payload: Buffer.alloc(36, 1) }),
    binaryHeader({ command: 0x20, family: 0 }),
    binaryHeader({ family: 0x31, payload: Buffer.alloc(216, 47) }),
  ].map((header) => Buffer.concat([header, REQUEST])),
  mutate: (input, random, pool) =>
    mutateBytes(input, {
      random,
      pool,
      tokens: ['PROXY ', 'TCP4 ', 'TCP6 ', 'UNKNOWN', '\r\n', ' ', '65535', '::', '\x21\x11\0\x0c'],
    }),
  open: () => ({ check }),
}
