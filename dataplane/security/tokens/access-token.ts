// Issues and verifies the access tokens of the token endpoint (behaviour §6, RFC 9068), which are signed JWTs valid
// for 900 seconds. A ticket never counts as an access token, nor the reverse. The caller checks whether a token is
// revoked.

import { readJwt, signJwt } from './own-jwt.ts'
import { accessTokenKey, familyKey } from './revocation-keys.ts'
import type { TokenKeys } from './token-keys.ts'
import { refusedToken, type TokenReading } from './token-refusal.ts'

const ACCESS_TOKEN_SECONDS = 900

/** Times are Unix seconds. */
export interface AccessTokenClaims {
  /** The realm, like `aud`. */
  readonly iss: string
  readonly aud: string
  readonly sub: string
  readonly client_id: string
  /** Joined by spaces. */
  readonly scope: string
  readonly groups: readonly string[]
  readonly jti: string
  readonly iat: number
  readonly exp: number
  /** The grant that it belongs to, if that has refresh tokens. */
  readonly family?: string
}

export interface AccessTokenDraft {
  readonly realmUri: string
  /** A user of the realm. */
  readonly sub: string
  readonly clientId: string
  readonly scopes: readonly string[]
  /** The user's groups that the token covers: it never gives more, whatever is granted later. */
  readonly groups: readonly string[]
  readonly family?: string
}

export interface IssuedAccessToken {
  readonly jwt: string
  readonly jti: string
  readonly expiresIn: number
  readonly claims: AccessTokenClaims
}

export interface AccessTokens {
  /** Rejects if the realm was removed or its keys cannot be read. */
  issue(draft: AccessTokenDraft): Promise<IssuedAccessToken>
  /** Never rejects: a genuine access token of this realm that has not expired, or why it is none. */
  read(realmUri: string, jwt: string): Promise<TokenReading<AccessTokenClaims>>
  /** The same, without the reason. */
  verify(realmUri: string, jwt: string): Promise<AccessTokenClaims | undefined>
}

export interface AccessTokensOptions {
  readonly keys: TokenKeys
  /** Unix time in milliseconds. */
  readonly now: () => number
  /** UUID v4, as `randomUUID` of node:crypto. */
  readonly newId: () => string
}

const TYPE = 'at+jwt'

/** @example const { jwt, expiresIn } = await createAccessTokens(options).issue(draft) */
export const createAccessTokens = ({ keys, now, newId }: AccessTokensOptions): AccessTokens => {
  const read: AccessTokens['read'] = async (realmUri, jwt) => {
    const { claims, refusal } = await readJwt(jwt, TYPE, (kid) =>
      keys.verificationKey(realmUri, kid),
    )
    if (refusal !== undefined) return { refusal }
    if (!isAccessToken(claims)) return { refusal: refusedToken('malformed') }
    if (claims.iss !== realmUri || claims.aud !== realmUri)
      return { refusal: refusedToken('realm', 'iss', realmUri) }
    return claims.exp * 1000 > now() ? { claims } : { refusal: refusedToken('expired', 'exp') }
  }

  const issue: AccessTokens['issue'] = async (draft) => {
    const iat = Math.floor(now() / 1000)
    const claims: AccessTokenClaims = {
      iss: draft.realmUri,
      aud: draft.realmUri,
      sub: draft.sub,
      client_id: draft.clientId,
      scope: draft.scopes.join(' '),
      groups: draft.groups,
      jti: newId(),
      iat,
      exp: iat + ACCESS_TOKEN_SECONDS,
      ...(draft.family === undefined ? {} : { family: draft.family }),
    }
    const jwt = await signJwt(keys.signingKey(draft.realmUri), TYPE, { ...claims })
    return { jwt, jti: claims.jti, expiresIn: ACCESS_TOKEN_SECONDS, claims }
  }

  return { issue, read, verify: async (realmUri, jwt) => (await read(realmUri, jwt)).claims }
}

/** The keys by which an access token can be revoked: if one is in the shared deny-list, the token is not valid. */
export const accessTokenRevocationKeys = ({ jti, family }: AccessTokenClaims): readonly string[] =>
  family === undefined ? [accessTokenKey(jti)] : [accessTokenKey(jti), familyKey(family)]

const TEXTS = ['iss', 'aud', 'sub', 'client_id', 'jti'] as const

const isAccessToken = (claims: object): claims is AccessTokenClaims => {
  const map = claims as Readonly<Record<string, unknown>>
  const { groups, family } = map
  return (
    TEXTS.every((name) => typeof map[name] === 'string' && map[name] !== '') &&
    typeof map['scope'] === 'string' &&
    Array.isArray(groups) &&
    groups.every((each) => typeof each === 'string') &&
    Number.isSafeInteger(map['iat']) &&
    Number.isSafeInteger(map['exp']) &&
    (family === undefined || typeof family === 'string')
  )
}
