// Converts what a router says to a text that people may read: short, printable, without secrets. Pure.

import type { SessionEnd } from './session.ts'

const LONGEST_TEXT = 200
// Control characters would break lines of a terminal or a log.
const UNPRINTABLE = /\p{C}+/gu

/**
 * `URI: text`, whatever a router writes in either: some routers repeat what they were sent.
 *
 * @example
 * reasonOf({ kind: 'refused', uri: 'wamp.error.no_such_realm', text: 'no realm' }, undefined)
 */
export const reasonOf = ({ uri, text }: SessionEnd, secret: string | undefined): string => {
  const whole = text === '' ? uri : `${uri}: ${text}`
  const masked = secret === undefined || secret === '' ? whole : whole.replaceAll(secret, '***')
  return masked.replace(UNPRINTABLE, ' ').slice(0, LONGEST_TEXT)
}
