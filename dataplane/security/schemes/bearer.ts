// Implements the oauth2 scheme (RFC 6750): it accepts a bearer token in the Authorization header that the token
// endpoint issued, or an issuer that the realm trusts.

import type { SecurityScheme } from '../../../language/compile/security.ts'
import type { RealmRecord } from '../../../language/realm/record.ts'
import { isServedFlow } from '../../../language/realm/token-flows.ts'
import { accessTokenRevocationKeys, type AccessTokens } from '../tokens/access-token.ts'
import {
  type Authenticator,
  type KnownIdentity,
  notAccepted,
  notPresented,
  type AuthenticationResult,
} from './authenticator.ts'
import type { Identity } from './authentication.ts'
import type { TokenRefusal } from '../../gateway-error.ts'
import { readAuthorization } from './authorization-header.ts'
import { uncheckable } from './challenge.ts'
import { issuedIdentity, tokenIdentity } from './identity.ts'
import type { IssuedTokens } from '../tokens/issued-token.ts'
import { createUserLookup } from '../passwords/realm-users.ts'
import type { RevocationGate } from './revocation-gate.ts'
import { revokedRefusal } from './revoked-check.ts'
import { createTokenCache, type Verified } from '../tokens/token-cache.ts'
import { shapeRefusal } from '../tokens/token-refusal.ts'

export interface BearerOptions {
  readonly accessTokens: Pick<AccessTokens, 'read'>
  readonly issued: IssuedTokens
  readonly gate: RevocationGate
  /** Unix time in milliseconds. */
  readonly now: () => number
}

/** An issuer revokes tokens by changing its keys: its tokens are verified again after this time. */
const ISSUED_KEPT_MS = 60_000

interface Bearer {
  readonly identity: Identity
  readonly isOfIssuer: boolean
}

type Reading = Verified<Bearer> | TokenRefusal | 'gone' | 'unavailable'

export const createBearer = ({ accessTokens, issued, gate, now }: BearerOptions): Authenticator => {
  const cache = createTokenCache<Bearer>(now)
  const findUser = createUserLookup()

  const readOwn = async (record: RealmRecord, token: string): Promise<Reading> => {
    const { claims, refusal } = await accessTokens.read(record.uri, token)
    if (refusal !== undefined) return refusal
    const user = findUser(record, claims.sub)
    if (user === undefined) return 'gone'
    return {
      value: { identity: tokenIdentity(claims, user), isOfIssuer: false },
      until: claims.exp * 1000,
      revocationKeys: accessTokenRevocationKeys(claims),
    }
  }

  /** @param own why it is no token of the gateway, which counts where it says that it is one */
  const readIssued = async (
    record: RealmRecord,
    token: string,
    own: TokenRefusal,
  ): Promise<Reading> => {
    const reading = await issued.read(record, token)
    if (reading.kind === 'unavailable') return 'unavailable'
    if (reading.kind === 'refused')
      return reading.issuer === record.uri || own.reason === 'realm' ? own : reading.refusal
    return {
      value: { identity: issuedIdentity(record.uri, reading.issued), isOfIssuer: true },
      until: Math.min(reading.expiresAt, now() + ISSUED_KEPT_MS),
      revocationKeys: [],
    }
  }

  const admit = (record: RealmRecord, verified: Verified<Bearer>): AuthenticationResult => {
    const { identity, isOfIssuer } = verified.value
    return (
      revokedRefusal('oauth2', record.uri, gate(verified), identity.authid) ?? {
        kind: 'identity',
        identity,
        validity: verified,
        isOfIssuer,
      }
    )
  }

  const readSlowly = async (record: RealmRecord, token: string): Promise<AuthenticationResult> => {
    const own = await readOwn(record, token)
    const reading = isRefusal(own) ? await readIssued(record, token, own) : own
    if (reading === 'unavailable') return issuerUnavailable()
    if (reading === 'gone') return notAccepted('oauth2', record.uri, 'unknown_user')
    if (isRefusal(reading)) return notAccepted('oauth2', record.uri, reading)
    const result = admit(record, reading)
    if (result.kind === 'identity') cache.keep(record, token, reading)
    return result
  }

  return ({ record, rawHeaders }) => {
    const authorization = readAuthorization(rawHeaders)
    if (authorization?.scheme !== 'bearer') return notPresented('oauth2', record.uri)
    const token = authorization.credentials
    const verified = cache.find(record, token)
    if (verified !== undefined) return admit(record, verified)
    const refusal = shapeRefusal(token)
    return refusal === undefined
      ? readSlowly(record, token)
      : notAccepted('oauth2', record.uri, refusal)
  }
}

const isRefusal = (reading: Reading): reading is TokenRefusal =>
  typeof reading === 'object' && 'reason' in reading

/** Flows that the gateway does not serve accept only tokens of trusted issuers (behaviour §6). */
export const fitsFlow = (security: SecurityScheme, { isOfIssuer }: KnownIdentity): boolean =>
  security.type !== 'oauth2' || isServedFlow(security.flow) || isOfIssuer === true

const issuerUnavailable = (): AuthenticationResult => ({
  kind: 'refused',
  error: uncheckable('The keys of the issuer of this token can not be fetched now', 5),
  reason: 'issuer_unavailable',
})
