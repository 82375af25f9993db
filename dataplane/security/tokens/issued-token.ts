// Verifies bearer tokens of issuers that a realm trusts (behaviour §6, RFC 9068, RFC 8725). It accepts only
// asymmetric signatures with keys that the issuer publishes; nothing in a token chooses its own key.

import type { JWTPayload, JWTVerifyOptions } from 'jose'
import type { RealmRecord, TrustedIssuerRecord } from '../../../language/realm/record.ts'
import { withoutCredentials } from '../../../language/realm/redact.ts'
import type { TokenRefusal } from '../../gateway-error.ts'
import { ASYMMETRIC_ALGORITHMS } from './asymmetric-algorithms.ts'
import type { IssuedIdentity } from '../schemes/identity.ts'
import type { IssuerKeys } from './issuer-keys.ts'
import type { KeySet } from './key-set-cache.ts'
import {
  type ClaimPaths,
  mapRoles,
  readAuthid,
  readNamedClaims,
  readText,
  readTexts,
  type TextsOptions,
  unmetRequirement,
} from './token-claims.ts'
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
        reading = reading === undefined ? next : preferredReading(reading, next)
      }
      return reading ?? { kind: 'refused', refusal: foreignIssuer(record), issuer }
    },
  }
}

/** What two entries of one issuer make: that its keys are not available, else what the one says whose key has signed. */
const preferredReading = (one: IssuedReading, other: IssuedReading): IssuedReading =>
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
  algorithms: algorithmsOf(trusted),
  clockTolerance: TOLERANCE_SECONDS,
  requiredClaims: ['exp'],
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
    return toReading(trusted, payload, now)
  } catch (error) {
    return { kind: 'refused', refusal: refusalOfError(error, expectedBy(trusted)) }
  }
}

const expectedBy = (trusted: TrustedIssuerRecord): Readonly<Record<string, string>> => ({
  alg: algorithmsOf(trusted).join(', '),
  kid: `a key of ${withoutCredentials(trusted.jwks_uri)}`,
  exp: 'a number of seconds in the future',
})

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

const toReading = (
  trusted: TrustedIssuerRecord,
  payload: JWTPayload,
  now: number,
): IssuedReading => {
  const { exp = 0, iat } = payload
  const issued = issuedIdentityOf(trusted, payload)
  const refusal =
    audienceRefusal(trusted, payload, issued.clientId) ??
    (iat !== undefined && iat * 1000 > now + MAX_AHEAD_SECONDS * 1000
      ? refusedToken('not_yet_valid', 'iat')
      : undefined) ??
    purposeRefusal(payload) ??
    requirementRefusal(trusted, payload) ??
    subjectRefusal(trusted, issued.sub)
  if (refusal !== undefined) throw new RefusedTokenError(refusal)
  return { kind: 'genuine', expiresAt: (exp + TOLERANCE_SECONDS) * 1000, issued }
}

const issuedIdentityOf = (trusted: TrustedIssuerRecord, payload: JWTPayload): IssuedIdentity => {
  const {
    authid_claim: authid = 'sub',
    client_id_claim: clientId = ['client_id', 'azp'],
    claim_separator: separator,
  } = trusted
  const scope = Object.hasOwn(payload, 'scope') ? 'scope' : 'scp'
  const read = (named: ClaimPaths | undefined, options: TextsOptions): readonly string[] =>
    readTexts(payload, named, options) ?? []
  return {
    sub: readAuthid(payload, authid) ?? '',
    clientId: readText(payload, clientId) ?? '',
    session: textOf(payload, 'jti'),
    scopes: read(trusted.scope_claim, { otherwise: scope, separator: ' ' }),
    groups: read(trusted.group_claim, { otherwise: 'groups', separator }),
    roles: mapRoles(read(trusted.role_claim, { otherwise: 'roles', separator }), trusted),
    locale: textOf(payload, 'locale'),
    claims: readNamedClaims(payload, trusted),
  }
}

/** A token without an audience is for anybody who takes the tokens of its client: these must be named. */
const audienceRefusal = (
  { audience, client_ids: clients, client_id_claim: named = 'client_id' }: TrustedIssuerRecord,
  { aud = [] }: JWTPayload,
  clientId: string,
): TokenRefusal | undefined => {
  const accepted = [audience].flat()
  const audiences = [aud].flat().filter((each) => each !== '')
  const isMeant = accepted.some((each) => audiences.includes(each))
  if (!isMeant && (audiences.length > 0 || clients === undefined))
    return refusedToken('audience', 'aud', accepted.join(', '))
  if (clients === undefined || clients.includes(clientId)) return undefined
  return refusedToken('audience', [named].flat().join(', '), clients.join(', '))
}

const purposeRefusal = (payload: JWTPayload): TokenRefusal | undefined => {
  const foreign = FOREIGN_PURPOSE.find((claim) => Object.hasOwn(payload, claim))
  return foreign === undefined
    ? undefined
    : refusedToken('type', foreign, 'an access token, which has none')
}

const requirementRefusal = (
  trusted: TrustedIssuerRecord,
  payload: JWTPayload,
): TokenRefusal | undefined => {
  const unmet = unmetRequirement(payload, trusted)
  return unmet && refusedToken('claim', unmet.claim, unmet.expected)
}

const subjectRefusal = (
  { authid_claim: named = 'sub' }: TrustedIssuerRecord,
  sub: string,
): TokenRefusal | undefined =>
  sub === '' || sub.length > MAX_SUB
    ? refusedToken('no_subject', [named].flat().join(', '), A_NAME)
    : undefined

const MAX_SUB = 1024
const A_NAME = `a text of 1 to ${MAX_SUB} characters without control characters`

const textOf = (payload: JWTPayload, claim: string): string => {
  const value = Object.hasOwn(payload, claim) ? payload[claim] : ''
  return typeof value === 'string' ? value : ''
}
