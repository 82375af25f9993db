// Builds the names of deny-list entries by which a ticket or a token can be revoked. Names of realms, providers and
// people are included as digests: every key is short, and none can be made to look like another.

import { hash } from 'node:crypto'

/** One ticket, by its `id` claim. */
export const ticketKey = (id: string): string => `ticket:${id}`

/** One access token, by its `jti`. */
export const accessTokenKey = (jti: string): string => `token:${jti}`

/** All tokens of one grant: access tokens and successive refresh tokens. */
export const familyKey = (familyId: string): string => `family:${familyId}`

/** The realm and provider of a session, as a ticket records them. */
export interface ProviderSession {
  readonly realmUri: string
  readonly provider: string
}

/** All tickets of one session at the provider (`sid`, OpenID Connect Back-Channel Logout 1.0 §2.4). */
export const oidcSessionKey = ({ realmUri, provider }: ProviderSession, sid: string): string =>
  `oidc-sid:${digestOf([realmUri, provider, sid])}`

/**
 * The keys that match a ticket of `sub` issued at that second after `oidcSubjectKeysUntil`: one for each length of
 * the time slices that it falls into.
 */
export const oidcSubjectKeys = (
  { realmUri, provider }: ProviderSession,
  sub: string,
  issuedAt: number,
): readonly string[] => {
  const digest = digestOf([realmUri, provider, sub])
  return SLICE_SECONDS.map((seconds) => sliceKey(digest, seconds, Math.floor(issuedAt / seconds)))
}

/**
 * The keys to revoke so that every ticket of `sub` issued up to and in the second `until` is rejected and no later
 * one is: about 20 keys, whole time slices that cover the lifetime of tickets before it. A deny-list has no "issued
 * before", and a logout by `sub` alone must not lock out a user who logs in again.
 * @param lifetimeSeconds of the longest ticket that may be alive
 * @example await Promise.all(oidcSubjectKeysUntil(session, 'u1', now, 2592000).map((key) => shared.revoke(key, end)))
 */
export const oidcSubjectKeysUntil = (
  { realmUri, provider }: ProviderSession,
  sub: string,
  { until, lifetimeSeconds }: { readonly until: number; readonly lifetimeSeconds: number },
): readonly string[] => {
  const digest = digestOf([realmUri, provider, sub])
  const keys: string[] = []
  let end = until + 1
  for (const seconds of SLICE_SECONDS.slice(0, -1))
    while (end % (seconds * RADIX) !== 0) {
      end -= seconds
      keys.push(sliceKey(digest, seconds, end / seconds))
    }
  const oldest = Math.floor((until - lifetimeSeconds) / LONGEST_SLICE)
  const first = Math.max(oldest, end / LONGEST_SLICE - MOST_LONG_SLICES)
  for (let slice = end / LONGEST_SLICE - 1; slice >= first; slice--)
    keys.push(sliceKey(digest, LONGEST_SLICE, slice))
  return keys
}

const RADIX = 4
/** 1 s, 4 s, … 4^11 s (49 days): few keys to look up, few to revoke. */
const SLICE_SECONDS: readonly number[] = Array.from({ length: 12 }, (_, level) => RADIX ** level)
const LONGEST_SLICE = RADIX ** 11
/** The longest lifetime that a provider entry may set (2^31 s) is 512 of the longest slices. */
const MOST_LONG_SLICES = 513

const sliceKey = (digest: string, seconds: number, slice: number): string =>
  `oidc-sub:${digest}:${seconds}:${slice}`

/** 128 bits are enough, as no attacker can choose both of two names that would have to collide. */
const digestOf = (parts: readonly string[]): string =>
  hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 22)
