// What routers and addresses say comes in; what people may read of it goes out: short, printable, without
// secrets and user info. Pure.

import type { SessionEnd } from './session.ts'

const LONGEST_TEXT = 200
// Control characters would break lines of a terminal or a log.
const UNPRINTABLE = /\p{C}+/gu

/**
 * `URI: text`, whatever a router writes in either: some repeat what they were sent.
 *
 * @example
 * reasonOf({ kind: 'refused', uri: 'wamp.error.no_such_realm', text: 'no realm' }, undefined)
 */
export const reasonOf = ({ uri, text }: SessionEnd, secret: string | undefined): string => {
  const whole = text === '' ? uri : `${uri}: ${text}`
  const told = secret === undefined || secret === '' ? whole : whole.replaceAll(secret, '***')
  return told.replace(UNPRINTABLE, ' ').slice(0, LONGEST_TEXT)
}

/** Scheme, host, port and path. */
export const displayUrl = (url: string): string => {
  if (!URL.canParse(url)) return 'an invalid URL'
  const parsed = new URL(url)
  parsed.username = ''
  parsed.password = ''
  parsed.search = ''
  parsed.hash = ''
  return parsed.href
}
