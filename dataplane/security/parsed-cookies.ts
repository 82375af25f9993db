// Reads cookies that hold a value of the gateway's own making, as cookie-parser does: CSRF values, and those that tie
// a login to its browser. Tickets are not read so, as every one of their duplicates must be seen (session-cookies.ts).

import cookieParser from 'cookie-parser'
import { valuesOf } from '../upstream/headers.ts'

/**
 * The first cookie of each name, percent-decoded; a value that began with `j:` may be an object. Later ones of the name
 * do not count. Only one value fits a ticket or a login: whoever plants another before it can have a request refused,
 * never accepted.
 */
export type ParsedCookies = Readonly<Record<string, unknown>>

/** @example cookieText({ a: 'b' }, 'a') // 'b'; undefined where there is none, `""` where it is no text: that fits nothing */
export const cookieText = (cookies: ParsedCookies, name: string): string | undefined => {
  if (!Object.hasOwn(cookies, name)) return undefined
  const value = cookies[name]
  return typeof value === 'string' ? value : ''
}

/**
 * For requests that pass no router of Express.
 * @param rawHeaders as `IncomingMessage.rawHeaders` has them
 * @example parseCookies(['Cookie', 'a=1; a=2']) // { a: '1' }
 */
export const parseCookies = (rawHeaders: readonly string[]): ParsedCookies => {
  const request: CookieRequest = { headers: { cookie: valuesOf(rawHeaders, 'cookie').join('; ') } }
  parse(request, undefined, () => undefined)
  return request.cookies ?? {}
}

interface CookieRequest {
  readonly headers: { readonly cookie: string }
  readonly cookies?: ParsedCookies
}

/** The middleware reads one header and writes what it has found, at once: nothing else of a request, nor an answer. */
const parse = cookieParser() as unknown as (
  request: CookieRequest,
  response: undefined,
  next: () => void,
) => void
