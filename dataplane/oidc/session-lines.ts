// Builds the Set-Cookie lines of a session: the two of specification §4.1, byte for byte, and the one that stops
// redirects to the login from going in circles. They are written by hand, as a cookie is only
// cleared with the same attributes that it was set with.

import type { OidcProviderRecord } from '../../language/realm/record.ts'
import { csrfCookieName, returnCookieName, ticketCookieName } from '../security/session-cookies.ts'

export type CookieSettings = Pick<
  OidcProviderRecord,
  'cookie_same_site' | 'cookie_http_only' | 'cookie_domain'
>

export interface SessionValues {
  readonly ticket: string
  readonly csrf: string
  readonly maxAgeSeconds: number
}

const SAME_SITE = { lax: 'Lax', strict: 'Strict', none: 'None' } as const

/** @example sessionLines('a.b', {}, {ticket: 'x', csrf: 'y', maxAgeSeconds: 60})[0] // 'svc_ticket_a.b=x; Path=/; …' */
export const sessionLines = (
  realmUri: string,
  settings: CookieSettings,
  { ticket, csrf, maxAgeSeconds }: SessionValues,
): readonly [ticket: string, csrf: string] => {
  const sameSite = SAME_SITE[settings.cookie_same_site ?? 'lax']
  const common = `; Path=/; Max-Age=${maxAgeSeconds}; SameSite=${sameSite}; Secure`
  const { cookie_domain: host } = settings
  const domain = host === undefined ? '' : `; Domain=${host}`
  // Scripts must read the CSRF value.
  const hidden = settings.cookie_http_only === true ? '; HttpOnly' : ''
  return [
    `${ticketCookieName(realmUri)}=${ticket}${common}${hidden}${domain}`,
    `${csrfCookieName(realmUri)}=${csrf}${common}${domain}`,
  ]
}

export const clearingLines = (
  realmUri: string,
  settings: CookieSettings,
): readonly [ticket: string, csrf: string] =>
  sessionLines(realmUri, settings, { ticket: '', csrf: '', maxAgeSeconds: 0 })

/** A page that is opened later than this after a login is redirected to the login again. */
const RETURN_SECONDS = 10

/**
 * The cookie of a browser that has come back from a login to which the gateway had redirected it. Browsers keep it
 * wherever they have kept the cookie of the login, which has the same attributes.
 */
export const returnLine = (realmUri: string): string => returnLineOf(realmUri, '1', RETURN_SECONDS)

export const clearingReturnLine = (realmUri: string): string => returnLineOf(realmUri, '', 0)

const returnLineOf = (realmUri: string, value: string, maxAgeSeconds: number): string =>
  `${returnCookieName(realmUri)}=${value}; Path=/; Max-Age=${maxAgeSeconds}; SameSite=Lax; Secure; HttpOnly`
