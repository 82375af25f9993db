// Builds the URL at which a provider ends a session (OpenID Connect RP-Initiated Logout 1.0). It is undefined if that
// is not known now: the browser is then redirected immediately.

import type { OidcProviderRecord } from '../../../language/realm/record.ts'
import { ownOriginOf } from '../choose-redirect.ts'
import { entryOf } from '../provider/find-provider.ts'
import type { LogoutParameters } from './logout-parameters.ts'
import type { Session } from './logout-session.ts'
import { isSafeUrl } from '../provider/provider-metadata.ts'
import type { OidcContext, OidcEndpointDeps } from '../context.ts'

export const endSessionUrl = async ({
  request,
  endpointDeps,
  parameters,
  session,
  target,
}: OidcContext & {
  readonly parameters: LogoutParameters
  readonly session: Session
  readonly target: string
}): Promise<string | undefined> => {
  const ticket = session.tickets.find(({ oidc_id_token: hint }) => hint !== undefined)
  const record = entryOf(endpointDeps.realm(parameters.realmUri), ticket?.oidc_provider)
  if (ticket?.oidc_id_token === undefined || record === undefined) return undefined
  const endpoint = await endpointOf(endpointDeps, record)
  const own = ownOriginOf(request.ownOrigin, session.redirectRecord ?? record)
  const absolute = target.startsWith('/') ? own && own + target : target
  if (endpoint === undefined || absolute === undefined) return undefined
  // Exactly two parameters beside the endpoint's own (specification §4.1): openid-client would add a third.
  const url = new URL(endpoint)
  url.searchParams.set('id_token_hint', ticket.oidc_id_token)
  url.searchParams.set('post_logout_redirect_uri', absolute)
  return url.href
}

const endpointOf = async (
  endpointDeps: OidcEndpointDeps,
  record: OidcProviderRecord,
): Promise<string | undefined> => {
  const configured = record.end_session_endpoint
  if (configured !== undefined)
    return isSafeUrl(configured, { allow_unsafe_http: true }) ? configured : undefined
  const { metadata } = await endpointDeps.providers.find(record)
  return metadata.end_session_endpoint
}
