import { describe, expect, it } from '@jest/globals'
import { createHash } from 'node:crypto'
import { newApiKey } from '../../cli/new-api-key.ts'

/** Bit by bit, as RFC 1952 §8 defines it. */
const crcOf = (text: string): number => {
  let crc = 0xffffffff
  for (const byte of Buffer.from(text)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const valueOf = (text: string): bigint =>
  Array.from(text).reduce((sum, digit) => sum * 62n + BigInt(DIGITS.indexOf(digit)), 0n)

describe('a new API key', () => {
  it.each([
    ['zeros', Buffer.alloc(32), 0n],
    ['ones', Buffer.alloc(32, 0xff), 2n ** 256n - 1n],
    ['a small number', Buffer.concat([Buffer.alloc(31), Buffer.from([61])]), 61n],
  ])('has all 256 bits, a prefix, and a checksum of what stands before: %s', (_, random, value) => {
    const { key, keySha256 } = newApiKey(random)
    expect(key).toMatch(/^svcgw_[0-9A-Za-z]{49}$/)
    expect(valueOf(key.slice(6, 49))).toBe(value)
    expect(valueOf(key.slice(49))).toBe(BigInt(crcOf(key.slice(0, 49))))
    expect(keySha256).toBe(createHash('sha256').update(key).digest('hex'))
  })
})
