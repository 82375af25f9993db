// Writes the PROXY protocol header that a balancer would send for who is connected to it.

import { isIPv4 } from 'node:net'

export const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex')

/** @example proxyLine('192.0.2.1', 5000) // 'PROXY TCP4 192.0.2.1 …' */
export const proxyLine = (address: string, port = 5000): Buffer => {
  const [family, own] = isIPv4(address) ? ['TCP4', '10.0.0.1'] : ['TCP6', '2001:db8::ffff']
  return Buffer.from(`PROXY ${family} ${address} ${own} ${port} 443\r\n`, 'latin1')
}

export interface BinaryHeader {
  /** Version and command. */
  readonly command?: number
  readonly family?: number
  readonly payload?: Uint8Array
  /** The length that it tells; that of the payload if left out. */
  readonly length?: number
}

/** Version 2, byte by byte. */
export const binaryHeader = ({
  command = 0x21,
  family = 0x11,
  payload = new Uint8Array(),
  length = payload.length,
}: BinaryHeader): Buffer =>
  Buffer.concat([SIGNATURE, Buffer.from([command, family, length >> 8, length & 255]), payload])

/** Version 2 for a client of IPv4, with TLVs behind the addresses. */
export const proxyBinary = (address: string, port = 5000, tlvs = Buffer.alloc(0)): Buffer => {
  const ports = Buffer.from([port >> 8, port & 255, 1, 187])
  const addresses = Buffer.from([...address.split('.').map(Number), 10, 0, 0, 1])
  return binaryHeader({ payload: Buffer.concat([addresses, ports, tlvs]) })
}
