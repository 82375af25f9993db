// Parses and validates single values of settings. A parser returns undefined, and a check false, for what is not
// valid.

import { isIP, isIPv6 } from 'node:net'
import { readRules } from '../upstream/destinations/guard.ts'

/** The origin of an http or https URL that has nothing else, as URLs spell it. */
export function parseOrigin(text: string): string | undefined {
  const url = URL.parse(text)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return undefined
  // Parts that an origin does not have (a path, a query, userinfo) would be dropped silently.
  return url.href === `${url.origin}/` && !/[?#@\\\s]/.test(text) ? url.origin : undefined
}

/** As written: it may hold a password. */
export function parseRedisUrl(text: string): string | undefined {
  const url = URL.parse(text)
  if (url === null || !['redis:', 'rediss:'].includes(url.protocol)) return undefined
  const isPlain = url.hostname !== '' && url.search === '' && url.hash === ''
  return isPlain && /^\/?\d{0,5}$/.test(url.pathname) ? text : undefined
}

/** A text that fits into a claim of a ticket, a header and a log line. */
export function parseNodeName(text: string): string | undefined {
  return /^[!-~]{1,255}$/.test(text) ? text : undefined
}

export function parseProcesses(text: string): number | 'auto' | undefined {
  if (text === 'auto') return 'auto'
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0
  return count >= 1 && count <= 256 ? count : undefined
}

export function isCidr(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/')
  if (isIP(address) === 0 || more.length > 0) return false
  return (
    bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (isIPv6(address) ? 128 : 32))
  )
}

export function isDestination(text: string): boolean {
  return readRules([text]).errors.length === 0
}

/** @example isPort('8080') // true */
export function isPort(text: string): boolean {
  return /^[1-9]\d{0,4}$/.test(text) && Number(text) <= 65_535
}
