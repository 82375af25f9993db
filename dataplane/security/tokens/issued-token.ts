// Verifies bearer tokens of issuers that a realm trusts (behaviour §6, RFC 9068, RFC 8725). It accepts only
// asymmetric signatures with keys that the issuer publishes; nothing in a token chooses its own key.

import type { JWTPayload, JWTVerifyOptions } from 'jose'
import type { RealmRecord, TrustedIssuerRecord } from '../../../language/realm/record.ts'
import { ASYMMETRIC_ALGORITHMS } from './asymmetric-algorithms.ts'
import type { IssuedIdentity } from '../schemes/identity.ts'
import type { IssuerKeys } from './issuer-keys.ts'
import type { KeySet } from './key-set-cache.ts'

export type IssuedReading =
  | { readonly kind: 'genuine'; readonly issued: IssuedIdentity; readonly expiresAt: number }
  | { readonly kind: 'refused' }
  /** The issuer's keys are not available now. */
  | { readonly kind: 'unavailable' }

export interface IssuedTokens {
  /** Never rejects. `expiresAt` is Unix time in milliseconds, tolerance included. */
  read(record: RealmRecord, token: string): Promise<IssuedReading>
}

export interface IssuedTokensOptions {
  readonly keys: IssuerKeys
  /** Unix time in milliseconds. */
  readonly now: () => number
}

/** For differences between the clocks of issuers. */
const TOLERANCE_SECONDS = 30
const MAX_AHEAD_SECONDS = 60

const REFUSED: IssuedReading = { kind: 'refused' }

export const createIssuedTokens = ({ keys, now }: IssuedTokensOptions): IssuedTokens => {
  const verifyFor = async (trusted: TrustedIssuerRecord, token: string): Promise<IssuedReading> => {
    const published = keys.at(trusted.jwks_uri)
    const set = await published.find()
    if (set === undefined) return { kind: 'unavailable' }
    const options = optionsFor(trusted, now())
    const hasType = typeRule(trusted)
    const first = await verify(token, set, options, hasType)
    if (first !== 'no such key') return toReading(first, now())
    const newer = await published.findNewer(set)
    if (newer === undefined) return REFUSED
    const second = await verify(token, newer, options, hasType)
    return second === 'no such key' ? REFUSED : toReading(second, now())
  }

  return {
    read: async (record, token) => {
      const issuer = await claimedIssuer(token)
      let reading: IssuedReading = REFUSED
      for (const trusted of record.trusted_issuers ?? []) {
        if (trusted.issuer !== issuer) continue
        const next = await verifyFor(trusted, token)
        if (next.kind === 'genuine') return next
        if (next.kind === 'unavailable') reading = next
      }
      return reading
    },
  }
}

/** The issuer is not verified yet: it only selects the keys to try. */
const claimedIssuer = async (token: string): Promise<string | undefined> => {
  try {
    const { decodeJwt } = await import('jose')
    return decodeJwt(token).iss
  } catch {
    return undefined
  }
}

const optionsFor = (trusted: TrustedIssuerRecord, now: number): JWTVerifyOptions => ({
  issuer: trusted.issuer,
  audience: trusted.audience,
  algorithms: (trusted.algorithms ?? ASYMMETRIC_ALGORITHMS).filter((each) =>
    ASYMMETRIC_ALGORITHMS.includes(each),
  ),
  clockTolerance: TOLERANCE_SECONDS,
  requiredClaims: ['sub', 'exp'],
  currentDate: new Date(now),
})

type VerifiedPayload = JWTPayload | 'no such key' | undefined

const verify = async (
  token: string,
  { keyOf }: KeySet,
  options: JWTVerifyOptions,
  hasType: TypeRule,
): Promise<VerifiedPayload> => {
  const { errors, jwtVerify } = await import('jose')
  try {
    const { payload, protectedHeader } = await jwtVerify(token, keyOf, options)
    return hasType(protectedHeader.typ) ? payload : undefined
  } catch (error) {
    return error instanceof errors.JWKSNoMatchingKey ? 'no such key' : undefined
  }
}

/** Whether a token with that `typ` may be an access token. */
type TypeRule = (type: string | undefined) => boolean

/** Many issuers set `JWT`, or nothing; any other type was meant for another purpose. */
const isUsualType: TypeRule = (type) =>
  type === undefined || ['jwt', 'at+jwt'].includes(plainType(type))

/** If an issuer gives its access tokens a type of their own, its tokens of other types are not access tokens. */
const typeRule = ({ require_typ: required }: TrustedIssuerRecord): TypeRule =>
  required === undefined
    ? isUsualType
    : (type) => type !== undefined && plainType(type) === plainType(required)

/** Media types are case-insensitive, and `application/` may be left out (RFC 7515 §4.1.9). */
const plainType = (type: string): string => type.toLowerCase().replace(/^application\//, '')

/**
 * Claims of ID tokens and logout tokens, whose audience may be the same; and of tokens bound to a key of their holder
 * (RFC 7800), which must not be accepted as plain bearer tokens.
 */
const FOREIGN_PURPOSE: readonly string[] = ['at_hash', 'c_hash', 'nonce', 'events', 'cnf']

const toReading = (payload: JWTPayload | undefined, now: number): IssuedReading => {
  if (payload === undefined) return REFUSED
  const { exp = 0, iat } = payload
  // It may be a number, whatever the type of the library says.
  const sub = textOf(payload, 'sub')
  if (sub === '' || sub.length > MAX_SUB || CONTROL.test(sub)) return REFUSED
  if (iat !== undefined && iat * 1000 > now + MAX_AHEAD_SECONDS * 1000) return REFUSED
  if (FOREIGN_PURPOSE.some((claim) => Object.hasOwn(payload, claim))) return REFUSED
  return {
    kind: 'genuine',
    expiresAt: (exp + TOLERANCE_SECONDS) * 1000,
    issued: {
      sub,
      clientId: textOf(payload, 'client_id') || textOf(payload, 'azp'),
      session: textOf(payload, 'jti'),
      scopes: listOf(payload, Object.hasOwn(payload, 'scope') ? 'scope' : 'scp', ' '),
      groups: listOf(payload, 'groups'),
      roles: listOf(payload, 'roles'),
      locale: textOf(payload, 'locale'),
    },
  }
}

const MAX_SUB = 1024
const CONTROL = /\p{Cc}/u

const textOf = (payload: JWTPayload, claim: string): string => {
  const value = Object.hasOwn(payload, claim) ? payload[claim] : ''
  return typeof value === 'string' ? value : ''
}

/** A list of texts, or one text, split at `separator` if there is one. */
const listOf = (payload: JWTPayload, claim: string, separator?: string): readonly string[] => {
  const value = Object.hasOwn(payload, claim) ? payload[claim] : undefined
  if (Array.isArray(value)) return value.filter((each) => typeof each === 'string')
  if (typeof value !== 'string' || value === '') return []
  return separator === undefined ? [value] : value.split(separator).filter((each) => each !== '')
}
