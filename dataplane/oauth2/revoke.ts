// Implements the revocation endpoint (RFC 7009). It does not revoke tokens of other clients, and does not reveal
// whether a token was real.

import type { UserRecord } from '../../language/realm/record.ts'
import { accessTokenKey } from '../security/tokens/revocation-keys.ts'
import { revokedResponse } from './responses.ts'
import { authenticateClient } from './client-authentication.ts'
import type { OAuthResponse } from './oauth2-endpoint.ts'
import { required } from './parameters.ts'
import { OAuthError, type RejectionReason } from './oauth-error.ts'
import type { OAuth2Context } from './context.ts'

/** `token_type_hint` is accepted, but not needed: the form of a token shows its type (§2.1). */
export const REVOKE_PARAMETERS: ReadonlySet<string> = new Set([
  'token',
  'token_type_hint',
  'client_id',
  'client_secret',
])

export interface Revocation {
  readonly response: OAuthResponse
  /** Undefined if something was revoked. */
  readonly untouched: RejectionReason | undefined
}

/** @throws OAuthError */
export const revokeToken = async (exchange: OAuth2Context): Promise<Revocation> => {
  const token = required(exchange.parameters, 'token')
  const client = await authenticateClient(exchange)
  const revokers = [revokeRefreshToken, revokeAccessToken, refuseTicket]
  for (const revoker of revokers) {
    const result = await revoker(exchange, client, token)
    if (result !== 'not_mine')
      return { response: revokedResponse(), untouched: result === 'done' ? undefined : result }
  }
  return { response: revokedResponse(), untouched: 'unknown_token' }
}

type RevocationResult = 'done' | 'not_mine' | Extract<RejectionReason, 'other_client' | 'revoked'>
type Revoker = (
  exchange: OAuth2Context,
  client: UserRecord,
  token: string,
) => Promise<RevocationResult>

/** Revokes it with all tokens of the same grant (RFC 7009 §2.1). */
const revokeRefreshToken: Revoker = async ({ endpointDeps, request, audited }, client, text) => {
  const owner = { realmUri: request.realmUri, clientId: client.username }
  const found = await endpointDeps.families.find(text, owner)
  if (found.kind === 'unknown') return 'not_mine'
  if (!('record' in found)) return found.kind
  audited.authid = found.record.username
  await endpointDeps.families.revoke(found.token.family)
  return 'done'
}

/** Revokes only this token: the grant stays (RFC 7009 §2.1 leaves that open). */
const revokeAccessToken: Revoker = async ({ endpointDeps, request, audited }, client, text) => {
  const claims = await endpointDeps.accessTokens.verify(request.realmUri, text)
  if (claims === undefined) return 'not_mine'
  if (claims.client_id !== client.username) return 'other_client'
  audited.authid = claims.sub
  await endpointDeps.shared.revoke(accessTokenKey(claims.jti), claims.exp)
  return 'done'
}

const refuseTicket: Revoker = async ({ endpointDeps, request }, _client, text) => {
  if (!(await endpointDeps.isTicket(request.realmUri, text))) return 'not_mine'
  throw new OAuthError(
    'unsupported_token_type',
    'not_revocable',
    'A ticket is revoked by logging out',
  )
}
