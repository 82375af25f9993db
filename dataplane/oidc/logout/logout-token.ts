// Verifies a logout token and reads which session or person it ends (OpenID Connect Back-Channel Logout 1.0 §2.6). It
// must be signed by a key of the provider's set, for this client, just now; an ID token is never accepted.

import type { JWTPayload, JWTVerifyGetKey } from 'jose'
import { CodedError } from '../../../base/coded-error.ts'
import type { OidcProviderRecord } from '../../../language/realm/record.ts'
import { ASYMMETRIC_ALGORITHMS } from '../../security/tokens/asymmetric-algorithms.ts'
import type { KeySet, KeySetCache } from '../../security/tokens/key-set-cache.ts'
import { issuersOf } from '../provider/provider-metadata.ts'
import type { KnownProvider } from '../provider/provider-registry.ts'

export interface EndedSession {
  readonly jti: string
  /** At least one of the two; with both only that session ends. */
  readonly sid?: string
  readonly sub?: string
}

/** A token is delivered immediately; an older one may be a replay. */
export const MAX_AGE_SECONDS = 300
const MAX_AHEAD_SECONDS = 60
const TOLERANCE_SECONDS = 30
const MAX_CHARS = 16 * 1024
const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
/** Not the types of other tokens (RFC 8725 §3.11); older providers send none, or `JWT`. */
const TYPES: readonly (string | undefined)[] = [
  undefined,
  'jwt',
  'logout+jwt',
  'application/logout+jwt',
]

/** The token cannot be verified now. */
export class KeySetError extends CodedError<'key_set_unavailable'> {
  constructor(cause: unknown) {
    super('key_set_unavailable', 'the key set of the provider cannot be read', { cause })
  }
}

/** @throws KeySetError, or an Error saying what is wrong with the token */
export const readLogoutToken = async (
  token: string,
  record: OidcProviderRecord,
  { metadata, keys }: KnownProvider,
  now: number,
): Promise<EndedSession> => {
  if (token.length > MAX_CHARS) throw new Error('the logout token is too long')
  const { jwtVerify } = await import('jose')
  const listed = metadata.id_token_signing_alg_values_supported ?? ['RS256']
  const { payload, protectedHeader } = await jwtVerify(token, keyFrom(keys), {
    issuer: issuersOf(record),
    audience: record.client_id,
    algorithms: listed.filter((each) => ASYMMETRIC_ALGORITHMS.includes(each)),
    clockTolerance: TOLERANCE_SECONDS,
    requiredClaims: ['iss', 'aud', 'iat', 'jti', 'events'],
    currentDate: new Date(now),
  })
  if (!TYPES.includes(protectedHeader.typ?.toLowerCase()))
    throw new Error('typ is not that of a logout token')
  checkPurpose(payload, now)
  return endedSession(payload)
}

/** Looks in the cached set first; a key that is not in it may be new. */
const keyFrom =
  (keys: KeySetCache): JWTVerifyGetKey =>
  async (header, token) => {
    const { errors } = await import('jose')
    try {
      const cached = keys.cached()
      if (cached !== undefined) return await cached.keyOf(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
    }
    const { keyOf } = await refresh(keys)
    return keyOf(header, token)
  }

const refresh = async (keys: KeySetCache): Promise<KeySet> => {
  try {
    const { keySet, status } = await keys.refresh()
    if (keySet !== undefined) return keySet
    throw new Error(`the key set is no key set, status ${status}`)
  } catch (cause) {
    throw new KeySetError(cause)
  }
}

const checkPurpose = ({ iat = 0, nonce, events }: JWTPayload, now: number): void => {
  const age = now / 1000 - iat
  if (age > MAX_AGE_SECONDS || age < -MAX_AHEAD_SECONDS) throw new Error('iat is not recent')
  // Prohibited (§2.4): an ID token of a provider that mixes them up has one.
  if (nonce !== undefined) throw new Error('a logout token has no nonce')
  const event = isObject(events) && Object.hasOwn(events, EVENT) ? events[EVENT] : undefined
  if (!isObject(event)) throw new Error('events does not name a back-channel logout')
}

const endedSession = ({ jti, sid, sub }: JWTPayload): EndedSession => {
  if (typeof jti !== 'string' || jti === '') throw new Error('jti is not a string')
  if (sid !== undefined && (typeof sid !== 'string' || sid === ''))
    throw new Error('sid is not a string')
  if (sid === undefined && (typeof sub !== 'string' || sub === ''))
    throw new Error('there is neither sid nor sub')
  return { jti, ...(sid !== undefined && { sid }), ...(typeof sub === 'string' && { sub }) }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
