// Implements the grants of the token endpoint in one table: each issues tokens to an authenticated client. Resource
// owners are users of the realm in the group `resource_owners`.

import type { UserRecord } from '../../language/realm/record.ts'
import { shapeRefusal } from '../security/tokens/token-refusal.ts'
import type { TokenFields } from './responses.ts'
import { checkPassword } from './check-password.ts'
import { required } from './parameters.ts'
import { groupDigest, type CurrentToken, type Found } from './refresh-families.ts'
import { digestOf } from './refresh-token.ts'
import {
  OAuthError,
  type OAuthErrorOptions,
  type RejectionReason,
  TOO_MANY_FAILURES,
} from './oauth-error.ts'
import { findUser, isInGroup, type OAuth2Context } from './context.ts'
import { grantScopes, type GrantedScopes } from './scopes.ts'

export interface ClientContext extends OAuth2Context {
  readonly client: UserRecord
  /** Whether the realm has this grant at all. */
  readonly hasGrant: (type: GrantType) => boolean
}

/** @throws OAuthError */
type GrantRun = (exchange: ClientContext) => Promise<TokenFields>

export type GrantType = 'password' | 'client_credentials' | 'refresh_token'

/** RFC 6749 §4.3, §4.4, §6. */
export const GRANTS = {
  password: (exchange) => givePassword(exchange),
  client_credentials: (exchange) => giveClientCredentials(exchange),
  refresh_token: (exchange) => giveRefreshToken(exchange),
} as const satisfies Record<GrantType, GrantRun>

const OWNER_GROUP = 'resource_owners'

const givePassword: GrantRun = async (exchange) => {
  const { parameters, audited, client, endpointDeps, request } = exchange
  const username = required(parameters, 'username')
  const password = required(parameters, 'password')
  const known = findUser(exchange, username)
  if (known !== undefined) audited.authid = known.username
  const owner = await checkPassword(exchange, username, password, invalidGrant)
  if (!isInGroup(owner, OWNER_GROUP)) throw invalidGrant('not_a_resource_owner')
  const granted = grantScopes(owner.groups ?? [], parameters.get('scope'))
  if (!exchange.hasGrant('refresh_token')) return issue(exchange, username, granted)
  const family = endpointDeps.families.newFamily()
  const fields = await issue(exchange, username, granted, family)
  const refreshToken = await endpointDeps.families.start(family, {
    realmUri: request.realmUri,
    clientId: client.username,
    username,
    passwordHash: owner.password_hash ?? '',
    groups: granted.groups,
  })
  return refreshToken === undefined ? fields : { ...fields, refresh_token: refreshToken }
}

/** RFC 6749 §4.4.3: no refresh token. */
const giveClientCredentials: GrantRun = (exchange) => {
  const { client, parameters, audited } = exchange
  audited.authid = client.username
  return issue(exchange, client.username, grantScopes(client.groups ?? [], parameters.get('scope')))
}

const giveRefreshToken: GrantRun = async (exchange) => {
  const { client, parameters, request, endpointDeps } = exchange
  const text = required(parameters, 'refresh_token')
  const owner = { realmUri: request.realmUri, clientId: client.username }
  const found = await endpointDeps.families.find(text, owner)
  const current = await onlyCurrent(exchange, found)
  const { token, record } = current
  const user = findUser(exchange, record.username)
  await checkStillGranted(exchange, current, user)
  const groups = (user?.groups ?? []).filter((group) => record.groups.includes(groupDigest(group)))
  const granted = grantScopes(groups, parameters.get('scope'))
  // Before the exchange, so that an error of the keys does not cost the client its token.
  const fields = await issue(exchange, record.username, granted, token.family)
  const next = await endpointDeps.families.follow(current)
  if (next === undefined) return endFamily(exchange, token.family, 'refresh_reuse')
  return { ...fields, refresh_token: next }
}

const onlyCurrent = async (exchange: OAuth2Context, found: Found): Promise<CurrentToken> => {
  if (!('record' in found))
    throw invalidGrant(found.kind === 'unknown' ? 'unknown_token' : found.kind)
  exchange.audited.authid = found.record.username
  if (found.kind === 'used') return endFamily(exchange, found.token.family, 'refresh_reuse')
  return found
}

const checkStillGranted = async (
  exchange: OAuth2Context,
  { record, token }: CurrentToken,
  user: UserRecord | undefined,
): Promise<void> => {
  if (!isInGroup(user, OWNER_GROUP)) throw invalidGrant('not_a_resource_owner')
  if (digestOf(user.password_hash ?? '') !== record.password)
    await endFamily(exchange, token.family, 'password_changed')
}

/** Ends the family because another party has the token, or had the password: all its tokens are revoked. */
const endFamily = async (
  { endpointDeps }: OAuth2Context,
  family: string,
  reason: 'refresh_reuse' | 'password_changed',
): Promise<never> => {
  await endpointDeps.families.revoke(family)
  throw invalidGrant(reason)
}

const issue = async (
  { endpointDeps, request, client }: ClientContext,
  sub: string,
  { scopes, groups }: GrantedScopes,
  family?: string,
): Promise<TokenFields> => {
  const { jwt, expiresIn } = await endpointDeps.accessTokens.issue({
    realmUri: request.realmUri,
    sub,
    clientId: client.username,
    scopes,
    groups,
    ...(family === undefined ? {} : { family }),
  })
  if (shapeRefusal(jwt) !== undefined)
    throw new OAuthError(
      'invalid_scope',
      'token_too_large',
      'The subject has more groups than a token can contain: name the ones that are needed in scope',
    )
  return {
    access_token: jwt,
    token_type: 'Bearer',
    expires_in: expiresIn,
    ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
  }
}

/** The text is the same for every cause, so that it does not disclose which names exist or which tokens are genuine. */
const invalidGrant = (reason: RejectionReason, options?: OAuthErrorOptions): OAuthError =>
  new OAuthError(
    'invalid_grant',
    reason,
    reason === 'damped'
      ? TOO_MANY_FAILURES
      : 'The credentials or the token are wrong, or no longer valid',
    options,
  )
