// Makes API keys of 256 random bits, with a prefix that scanners for secrets can look for, and a checksum by which they tell
// a key from a text that looks like one.

import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'

export interface NewApiKey {
  /** Shown once, and stored nowhere. */
  readonly key: string
  /** What a Realm or an ApiKey has of it. */
  readonly keySha256: string
}

const PREFIX = 'svcgw_'
/** What 256 bits, and the 32 of a checksum, take in 62 digits. */
const SECRET_DIGITS = 43
const CHECKSUM_DIGITS = 6
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * Prefix, secret and the CRC-32 of both, without a character that a shell, a URL or a header would change.
 * @param random 32 bytes
 * @example newApiKey(bytes).key // 'svcgw_' and 49 letters and digits
 */
export const newApiKey = (random: Buffer): NewApiKey => {
  const secret = `${PREFIX}${inDigits(BigInt(`0x${random.toString('hex')}`), SECRET_DIGITS)}`
  const key = `${secret}${inDigits(BigInt(crc32(secret)), CHECKSUM_DIGITS)}`
  return { key, keySha256: hash('sha256', key, 'hex') }
}

const inDigits = (value: bigint, length: number): string => {
  const base = BigInt(DIGITS.length)
  let text = ''
  for (let rest = value; text.length < length; rest /= base)
    text = `${DIGITS[Number(rest % base)]}${text}`
  return text
}
