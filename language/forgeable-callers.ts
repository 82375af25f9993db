// Decides whether a page of another site can make a browser send a request that counts as one of its user: the credentials
// come along by themselves, and nothing else has to.

import type { CompiledSecurity } from './compile/security.ts'
import { mediaTypeOf } from './routes/media-kind.ts'
import { isSentWithoutPreflight } from './routes/media-range.ts'
import { isUntyped } from './routes/negotiate.ts'

/**
 * Whether one of the alternatives needs no more than that. A browser is in its network whatever page it shows; a ticket's
 * cookie counts only with the CSRF value (behaviour §6), which no page of another site has.
 */
export const isForgeable = (security: CompiledSecurity): boolean =>
  security.some(
    (each) =>
      each.type === 'basic' ||
      isCookieKey(each) ||
      (each.type === 'anonymous' && each.networks !== undefined),
  )

/** Browsers send such a key by themselves, as every cookie. */
export const isCookieKey = (each: CompiledSecurity[number]): boolean =>
  each.type === 'api_key' && each.headerName === 'cookie'

/** What a POST says of where it comes from. */
export interface ForgedHead {
  readonly contentType: string | undefined
  /** `Sec-Fetch-Site`, which pages cannot set. */
  readonly fetchSite: string | undefined
}

/**
 * Whether a browser says of a POST that a page of another site has sent it, in a way for which the browser need not ask
 * beforehand. The type is read as browsers read it: up to the first semicolon.
 */
export const isForged = ({ contentType, fetchSite }: ForgedHead): boolean =>
  fetchSite === 'cross-site' &&
  (isUntyped(contentType) || isSentWithoutPreflight(mediaTypeOf(contentType ?? '')))
