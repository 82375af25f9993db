// Reads cookies with values that the gateway itself creates, like cookie-parser: CSRF values, and those that bind a
// login to its browser. Tickets are not read with it, as all their duplicates must be seen (session-cookies.ts).

import type cookieParser from 'cookie-parser'
import { loadLazily } from '../../base/load-lazily.ts'
import { valuesOf } from '../upstream/headers.ts'

/**
 * The first cookie of each name, percent-decoded; a value that began with `j:` may be an object. Later ones of the
 * name are ignored. Only one value matches a ticket or a login: planting another before it can cause a request to be
 * rejected, never to be accepted.
 */
export type ParsedCookies = Readonly<Record<string, unknown>>

/**
 * @example cookieText({ a: 'b' }, 'a') // 'b'; undefined if there is none, `""` if it is not a string, which matches
 * nothing
 */
export const cookieText = (cookies: ParsedCookies, name: string): string | undefined => {
  if (!Object.hasOwn(cookies, name)) return undefined
  const value = cookies[name]
  return typeof value === 'string' ? value : ''
}

/**
 * For requests that do not pass through Express.
 * @param rawHeaders in the form of `IncomingMessage.rawHeaders`
 * @example parseCookies(['Cookie', 'a=1; a=2']) // { a: '1' }
 */
export const parseCookies = (rawHeaders: readonly string[]): ParsedCookies => {
  const request: CookieRequest = { headers: { cookie: valuesOf(rawHeaders, 'cookie').join('; ') } }
  parse ??= (loadLazily('cookie-parser') as typeof cookieParser)() as unknown as Parse
  parse(request, undefined, () => undefined)
  return request.cookies ?? {}
}

interface CookieRequest {
  readonly headers: { readonly cookie: string }
  readonly cookies?: ParsedCookies
}

/**
 * The middleware synchronously reads one header and sets its result: it uses nothing else of a request, and no
 * response.
 */
type Parse = (request: CookieRequest, response: undefined, next: () => void) => void

let parse: Parse | undefined
