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
  if (!HOST_TEXT.test(full)) return { ok: false, message: 'must be [http://]host[:port]' }
  let url: URL
  try {
    url = new URL(full)
  } catch {
    const hint = WITH_PORT.test(full) ? ', with a port from 1 to 65535' : ''
    return { ok: false, message: `must be [http://]host[:port]${hint}` }
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return { ok: false, message: 'must be http or https' }
  }
  if (url.username !== '' || url.password !== '' || full.includes('@')) {
    return { ok: false, message: 'must not carry a user or password' }
  }
  // Checks the text as written: the parser would make `/` of `/..`.
  if (!/^[^/?#]*\/?$/.test(full.slice(full.indexOf('://') + 3))) {
    return { ok: false, message: 'must not carry a path or query' }
  }
  return { ok: true, origin: url.origin }
}

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i
const WITH_PORT = /^[a-z][a-z0-9+.-]*:\/\/[^:[\]]+:\d+\/?$/i
const HOST_TEXT = /^[^\s\\\p{Cc}]+$/u
