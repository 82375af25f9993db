// Reads the text of a forward's `host` as the origin that requests are sent to. Pure; it looks nothing up and does not
// decide whether a destination is allowed.

/** `http://host:port`, or the end of a sentence that says why not. */
export type OriginReading =
  { readonly ok: true; readonly origin: string } | { readonly ok: false; readonly message: string }

/**
 * Reads scheme, host and port; a missing scheme is http. Spellings of addresses (decimal, octal, hex)
 * come out dotted, so that what is checked is what is dialled.
 *
 * @example
 * readOrigin('orders:8080') // {ok: true, origin: 'http://orders:8080'}
 */
export const readOrigin = (text: string): OriginReading => {
  const full = SCHEME.test(text) ? text : `http://${text}`
  // The URL parser drops tabs and line breaks, and reads a backslash as a slash.
  if (!HOST_TEXT.test(full)) return { ok: false, message: describeUnfit(text) }
  let url: URL
  try {
    url = new URL(full)
  } catch {
    return { ok: false, message: describeUnreadable(text, full) }
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return { ok: false, message: 'must be http or https' }
  }
  if (url.username !== '' || url.password !== '' || full.includes('@')) {
    return {
      ok: false,
      message:
        'must not carry a user or password: write them as a header authorization of the action',
    }
  }
  // Checks the text as written: the parser would make `/` of `/..`.
  if (!/^[^/?#]*\/?$/.test(full.slice(full.indexOf('://') + 3))) {
    return {
      ok: false,
      message:
        describeMissing(text) ??
        'must not carry a path or query: write them as path and query_string of the action',
    }
  }
  return { ok: true, origin: url.origin }
}

const FORM = '[http://]host[:port]'

const describeUnfit = (text: string): string => {
  if (!/[\r\n]/.test(text)) return `must be ${FORM}, without blanks`
  return `must be ${FORM}, without a line break: put it on one line, or write |- in place of |, and >- in place of >`
}

const describeUnreadable = (text: string, full: string): string => {
  const hint = WITH_PORT.test(full) ? ', with a port from 1 to 65535' : ''
  return describeMissing(text) ?? `must be ${FORM}${hint}`
}

/** Says what is missing in the text. */
const describeMissing = (text: string): string | undefined => {
  if (/^https?:(?!\/\/)/i.test(text)) return `must have // behind its scheme: ${FORM}`
  return /(?:^|:\/\/)[0-9a-f]*:[0-9a-f]*:[0-9a-f:.]*$/i.test(text)
    ? 'must have brackets around an IPv6 address: http://[::1]:8080'
    : undefined
}

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i
const WITH_PORT = /^[a-z][a-z0-9+.-]*:\/\/[^:[\]]+:\d+\/?$/i
const HOST_TEXT = /^[^\s\\\p{Cc}]+$/u
