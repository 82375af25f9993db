// Checks texts against the loose rule for WAMP URIs. Never applies the strict rule, which real realms do not keep.

/** How a subscription or registration matches (WAMP, *Pattern-based Subscriptions*). */
export type WampMatch = 'exact' | 'prefix' | 'wildcard'

/**
 * Whether a text is a WAMP URI by the loose rule (WAMP, *URIs*): parts separated by dots, none empty,
 * no blank, no control character and no `#` in them. Linear in the length of the text.
 * @example isWampUri('com.acme.add') // true
 * @example isWampUri('com..add') // false
 */
export const isWampUri = (text: string): boolean =>
  text !== '' &&
  !text.startsWith('.') &&
  !text.endsWith('.') &&
  !text.includes('..') &&
  !UNFIT.test(text)

// Routers in Python count U+001C to U+001F and U+0085 among the blanks.
const UNFIT = /[\s#\p{Cc}]/u

const FITS = {
  exact: isWampUri,
  prefix: (text) => isWampUri(text.endsWith('.') ? text.slice(0, -1) : text),
  wildcard: (text) => text !== '' && !UNFIT.test(text),
} as const satisfies Record<WampMatch, (text: string) => boolean>

/**
 * As `isWampUri`, for subscriptions and registrations: the last part of a prefix, and any part of a wildcard, may be
 * empty.
 * @example isWampPattern('com.acme.', 'prefix') // true
 * @example isWampPattern('com..changed', 'wildcard') // true
 */
export const isWampPattern = (text: string, match: WampMatch): boolean => FITS[match](text)
