// Checks texts of realms whose form no pattern describes well: ids and secrets without what an editor or `echo` leaves at
// their ends, and origins.

import { readOrigin } from './upstream-origin.ts'

/**
 * A text of one line without blanks, or a byte order mark, at its ends.
 * @example isPlainText('hunter2\n') // false
 */
export const isPlainText = (text: string): boolean => PLAIN.test(text)

const PLAIN = /^(?!\s)[^\p{Cc}\u2028\u2029]*(?<!\s)$/u

/**
 * What a login may return to: an http or https origin, with a slash at its end or without, or `*` for every one.
 * @example isRedirectOrigin('https://app.test/safe') // false
 */
export const isRedirectOrigin = (text: string): boolean => text === '*' || isWebOrigin(text)

/**
 * What browsers send as `Origin`: a web origin, `null`, or one of another scheme, such as that of an extension.
 * @example isPageOrigin('app.test') // false
 */
export const isPageOrigin = (text: string): boolean =>
  text === 'null' || (WEB.test(text) ? isWebOrigin(text) : OTHER_SCHEME.test(text))

const isWebOrigin = (text: string): boolean =>
  WEB.test(text) && !text.includes('*') && readOrigin(text).ok

const WEB = /^https?:\/\//i
const OTHER_SCHEME = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@\\*]+$/i
