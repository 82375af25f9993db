// Creates and checks the cookie that binds a login to the browser that began it. A callback that is planted in
// another browser lacks the cookie (login CSRF, RFC 9700 §4.7).

import { hash, timingSafeEqual } from 'node:crypto'
import { cookieText, type ParsedCookies } from '../../security/parsed-cookies.ts'
import type { OidcRequest } from '../oidc-endpoint.ts'
import type { LoginState } from './state-token.ts'

/** `__Host-`: no other host, no plain http and no other path can set it. */
const PREFIX = '__Host-svc_oidc_'
const NAME = /^__Host-svc_oidc_([A-Za-z0-9_-]{1,64})$/
/** Per browser, the new one included: tabs that wait at the login, less than a kilobyte in all. */
const MAX_ALIVE = 16
/** Bounds the response's header; a browser never has more unless they were planted. */
const MAX_CLEARED = 20

/** @example bindingOf('2oK…') // base64url SHA-256 of the cookie's value, for the state */
export const bindingOf = (secret: string): string => hash('sha256', secret, 'base64url')

/** The new cookie, and lines that clear surplus ones: browsers send the oldest first. */
export const loginCookies = (
  id: string,
  secret: string,
  lifetimeSeconds: number,
  cookies: ParsedCookies,
): readonly string[] => {
  const alive = Object.keys(cookies).flatMap((name) => NAME.exec(name)?.[1] ?? [])
  const surplus = alive.slice(0, Math.max(0, alive.length - (MAX_ALIVE - 1)))
  return [
    line(id, secret, lifetimeSeconds),
    ...surplus.slice(0, MAX_CLEARED).map((each) => line(each, '', 0)),
  ]
}

/**
 * A wrong cookie is rejected for every client; a missing one is rejected for a browser, which is recognised by Fetch
 * Metadata. `Sec-Fetch-Mode` is not used for that, as Node's own fetch sends it.
 */
export const isBound = (
  { id, binding }: Pick<LoginState, 'id' | 'binding'>,
  { cookies, headers }: Pick<OidcRequest, 'cookies' | 'headers'>,
): boolean => {
  const value = cookieText(cookies, PREFIX + id)
  if (value !== undefined) return isEqual(bindingOf(value), binding)
  return headers['sec-fetch-site'] === undefined && headers['sec-fetch-dest'] === undefined
}

const line = (id: string, value: string, maxAge: number): string =>
  `${PREFIX}${id}=${value}; Path=/; Max-Age=${maxAge}; SameSite=Lax; Secure; HttpOnly`

const isEqual = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
