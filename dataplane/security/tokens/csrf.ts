// Derives the CSRF value of a ticket (behaviour §6) from its id and the key that signed it, so that nothing has to be
// stored and only the gateway can create it.

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { SigningKey } from './token-keys.ts'

const SAFE: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Methods that change nothing (RFC 9110 §9.2.1), so that a request which another page causes does no harm. */
export const isSafeMethod = (method: string | undefined): boolean => SAFE.has(method)

/**
 * An HMAC in the shape of a UUID (RFC 9562 §5.8, 122 bits of it).
 * @param key the one that signed the ticket
 * @example csrfValueOf(key, ticket.id) // '5f0c7a3e-93b1-8d2c-a0f4-1b6f0c9d2e77'
 */
export const csrfValueOf = ({ csrfKey }: Pick<SigningKey, 'csrfKey'>, ticketId: string): string => {
  const bytes = createHmac('sha256', csrfKey).update(ticketId).digest()
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = bytes.toString('hex', 0, 16)
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join('-')
}

export interface PresentedCsrf {
  /** Values of `X-CSRF-Token`; valid only if there is exactly one. */
  readonly headers: readonly string[]
  /** The csrf cookie. A party that may set cookies of this name can plant one, but never a right one. */
  readonly cookie: string | undefined
}

/** Whether header, cookie and ticket belong together. Takes the same time for every wrong value. */
export const isCsrfRight = ({ headers, cookie }: PresentedCsrf, expected: string): boolean => {
  const [header, ...others] = headers
  if (header === undefined || others.length > 0 || cookie === undefined) return false
  return isSame(header, expected) && isSame(cookie, header)
}

const isSame = (given: string, expected: string): boolean => {
  const bytes = Buffer.from(given, 'utf8')
  const right = Buffer.from(expected, 'utf8')
  return bytes.length === right.length && timingSafeEqual(bytes, right)
}
