// Implements the token endpoint (RFC 6749 §3.2).

import type { OAuth2Flow } from '../../language/realm/token-flows.ts'
import type { RealmRecord } from '../../language/realm/record.ts'
import { isServedFlow } from '../../language/realm/token-flows.ts'
import { tokenResponse } from './responses.ts'
import { authenticateClient } from './client-authentication.ts'
import { GRANTS, type GrantType } from './grants.ts'
import type { OAuthResponse } from './oauth2-endpoint.ts'
import { required } from './parameters.ts'
import { OAuthError } from './oauth-error.ts'
import type { OAuth2Context } from './context.ts'

export const TOKEN_PARAMETERS: ReadonlySet<string> = new Set([
  'grant_type',
  'client_id',
  'client_secret',
  'username',
  'password',
  'refresh_token',
  'scope',
])

/** @throws OAuthError */
export const giveToken = async (exchange: OAuth2Context): Promise<OAuthResponse> => {
  const grant = required(exchange.parameters, 'grant_type')
  const client = await authenticateClient(exchange)
  const { endpointDeps, request } = exchange
  const type = grantTypeOf(grant, request.flows)
  const hasGrant = (grant: GrantType): boolean =>
    isGiven(endpointDeps.realm(request.realmUri), grant)
  if (!hasGrant(type))
    throw new OAuthError(
      'unauthorized_client',
      'grant_not_allowed',
      'The realm does not allow this grant',
    )
  return tokenResponse(await GRANTS[type]({ ...exchange, client, hasGrant }))
}

const grantTypeOf = (grant: string, flows: readonly OAuth2Flow[]): GrantType => {
  if (isGrantType(grant) && flows.some(isServedFlow)) return grant
  throw new OAuthError(
    'unsupported_grant_type',
    'unsupported_grant',
    'This endpoint does not support the grant type',
  )
}

const isGrantType = (text: string): text is GrantType => Object.hasOwn(GRANTS, text)

const isGiven = (realm: RealmRecord | undefined, grant: GrantType): boolean =>
  realm?.oauth2?.grants?.includes(grant) ?? true
