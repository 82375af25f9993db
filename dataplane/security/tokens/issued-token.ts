// Verifies bearer tokens of issuers that a realm trusts (behaviour §6, RFC 9068, RFC 8725). It accepts only
// asymmetric signatures with keys that the issuer publishes; nothing in a token chooses its own key.

import type { JWTPayload, JWTVerifyOptions } from 'jose'
import type { RealmRecord, TrustedIssuerRecord } from '../../../language/realm/record.ts'
import type { TokenRefusal } from '../../gateway-error.ts'
import { ASYMMETRIC_ALGORITHMS } from './asymmetric-algorithms.ts'
import type { IssuedIdentity } from '../schemes/identity.ts'
import type { IssuerKeys } from './issuer-keys.ts'
import type { KeySet } from './key-set-cache.ts'
import { refusalOfError, refusedToken, RefusedTokenError } from './token-refusal.ts'

export type IssuedReading =
  | { readonly kind: 'genuine'; readonly issued: IssuedIdentity; readonly expiresAt: number }
  /** `issuer`: what it says of its issuer, which nothing proves. */
  | {
      readonly kind: 'refused'
      readonly refusal: TokenRefusal
      readonly issuer?: string | undefined
    }
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

export const createIssuedTokens = ({ keys, now }: IssuedTokensOptions): IssuedTokens => {
  const verifyFor = async (trusted: TrustedIssuerRecord, token: string): Promise<IssuedReading> => {
    const published = keys.at(trusted.jwks_uri)
    const set = await published.find()
    if (set === undefined) return { kind: 'unavailable' }
    const first = await verify(trusted, token, set, now())
    if (first.kind !== 'refused' || first.refusal.reason !== 'unknown_key') return first
    const newer = await published.findNewer(set)
    return newer === undefined ? first : verify(trusted, token, newer, now())
  }

  return {
    read: async (record, token) => {
      const claimed = await claimedIssuer(token)
      if (claimed === undefined) return { kind: 'refused', refusal: refusedToken('malformed') }
      const { iss: issuer } = claimed
      let reading: IssuedReading | undefined
      for (const trusted of record.trusted_issuers ?? []) {
        if (trusted.issuer !== issuer) continue
        const next = await verifyFor(trusted, token)
        if (next.kind === 'genuine') return next
        reading = reading === undefined ? next : moreTelling(reading, next)
      }
      return reading ?? { kind: 'refused', refusal: foreignIssuer(record), issuer }
    },
  }
}

/** Of two entries of one issuer: that its keys are not available, else what the one says whose key has signed. */
const moreTelling = (one: IssuedReading, other: IssuedReading): IssuedReading =>
  other.kind === 'unavailable' || (one.kind === 'refused' && KEY_REASONS.has(one.refusal.reason))
    ? other
    : one

const KEY_REASONS: ReadonlySet<string> = new Set(['unknown_key', 'signature'])

const foreignIssuer = ({ uri, trusted_issuers: issuers = [] }: RealmRecord): TokenRefusal =>
  refusedToken('issuer', 'iss', [uri, ...issuers.map(({ issuer }) => issuer)].join(', '))

/** The issuer is not verified yet: it only selects the keys to try. undefined: it is no JWT. */
const claimedIssuer = async (token: string): Promise<Pick<JWTPayload, 'iss'> | undefined> => {
  try {
    const { decodeJwt } = await import('jose')
    const { iss } = decodeJwt(token)
    return iss === undefined ? {} : { iss }
  } catch {
    return undefined
  }
}

const algorithmsOf = ({ algorithms }: TrustedIssuerRecord): string[] =>
  (algorithms ?? ASYMMETRIC_ALGORITHMS).filter((each) => ASYMMETRIC_ALGORITHMS.includes(each))

const optionsFor = (trusted: TrustedIssuerRecord, now: number): JWTVerifyOptions => ({
  issuer: trusted.issuer,
  audience: trusted.audience,
  algorithms: algorithmsOf(trusted),
  clockTolerance: TOLERANCE_SECONDS,
  requiredClaims: ['sub', 'exp'],
  currentDate: new Date(now),
})

const verify = async (
  trusted: TrustedIssuerRecord,
  token: string,
  { keyOf }: KeySet,
  now: number,
): Promise<IssuedReading> => {
  const { jwtVerify } = await import('jose')
  try {
    const { payload, protectedHeader } = await jwtVerify(token, keyOf, optionsFor(trusted, now))
    if (!typeRule(trusted)(protectedHeader.typ))
      throw new RefusedTokenError(
        refusedToken('type', 'typ', trusted.require_typ ?? 'JWT, at+jwt or none'),
      )
    return toReading(payload, now)
  } catch (error) {
    return { kind: 'refused', refusal: refusalOfError(error, expectedBy(trusted)) }
  }
}

const expectedBy = (trusted: TrustedIssuerRecord): Readonly<Record<string, string>> => ({
  aud: trusted.audience,
  alg: algorithmsOf(trusted).join(', '),
  kid: `a key of ${withoutQuery(trusted.jwks_uri)}`,
  exp: 'a number of seconds in the future',
})

/** It may hold a key of an API. */
const withoutQuery = (url: string): string => url.replace(/[?#].*$/s, '')

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

const toReading = (payload: JWTPayload, now: number): IssuedReading => {
  const { exp = 0, iat } = payload
  // It may be a number, whatever the type of the library says.
  const sub = textOf(payload, 'sub')
  if (sub === '' || sub.length > MAX_SUB || CONTROL.test(sub))
    throw new RefusedTokenError(refusedToken('no_subject', 'sub', A_NAME))
  if (iat !== undefined && iat * 1000 > now + MAX_AHEAD_SECONDS * 1000)
    throw new RefusedTokenError(refusedToken('not_yet_valid', 'iat'))
  const foreign = FOREIGN_PURPOSE.find((claim) => Object.hasOwn(payload, claim))
  if (foreign !== undefined)
    throw new RefusedTokenError(refusedToken('type', foreign, 'an access token, which has none'))
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
const A_NAME = `a text of 1 to ${MAX_SUB} characters without control characters`
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
