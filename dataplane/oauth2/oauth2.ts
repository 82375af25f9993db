// Composes both endpoints of the room: it reads parameters, turns every error into a response, and writes one audit
// line per request.

import type { AuditEvent } from '../audit.ts'
import { createUserLookup } from '../security/passwords/realm-users.ts'
import { SharedStateError } from '../shared/shared-state.ts'
import { refusalResponse } from './responses.ts'
import type {
  OAuth2,
  OAuth2Deps,
  OAuthResponse,
  OAuthHandler,
  OAuthRequest,
} from './oauth2-endpoint.ts'
import { readParameters } from './parameters.ts'
import { createRefreshFamilies } from './refresh-families.ts'
import { OAuthError } from './oauth-error.ts'
import { REVOKE_PARAMETERS, revokeToken } from './revoke.ts'
import type { OAuth2Context, OAuth2EndpointDeps, AuditFacts } from './context.ts'
import { giveToken, TOKEN_PARAMETERS } from './token.ts'

/**
 * @example
 * const { token } = createOAuth2(deps)
 * const { status, headers, body } = await token(request)
 */
export const createOAuth2 = (deps: OAuth2Deps): OAuth2 => {
  const families = createRefreshFamilies(deps)
  const endpointDeps: OAuth2EndpointDeps = { ...deps, families, lookUp: createUserLookup() }
  return {
    token: handler(endpointDeps, {
      event: 'token',
      known: TOKEN_PARAMETERS,
      run: async (exchange) => ({ response: await giveToken(exchange), untouched: undefined }),
    }),
    revoke: handler(endpointDeps, {
      event: 'revocation',
      known: REVOKE_PARAMETERS,
      run: revokeToken,
    }),
  }
}

interface Endpoint {
  readonly event: AuditEvent['event']
  readonly known: ReadonlySet<string>
  readonly run: (exchange: OAuth2Context) => Promise<{
    readonly response: OAuthResponse
    /** Why nothing was done, if the client does not learn it. */
    readonly untouched: string | undefined
  }>
}

const handler =
  (endpointDeps: OAuth2EndpointDeps, { event, known, run }: Endpoint): OAuthHandler =>
  async (request) => {
    const audited: AuditFacts = {}
    const audit = (reason: string): void => {
      endpointDeps.audit(auditEvent(event, request, { ...audited, reason }))
    }
    try {
      const parameters = readParameters(request, known)
      const { response, untouched = '' } = await run({ request, parameters, endpointDeps, audited })
      audit(untouched)
      return response
    } catch (error) {
      const refusal = toRefusal(error)
      if (refusal.code === 'server_error')
        endpointDeps.log.error('an OAuth 2 endpoint failed', {
          error,
          requestId: request.requestId,
        })
      audit(refusal.reason)
      return refusalResponse(request.realmUri, refusal)
    }
  }

const toRefusal = (error: unknown): OAuthError => {
  if (error instanceof OAuthError) return error
  if (error instanceof SharedStateError)
    return new OAuthError('temporarily_unavailable', 'shared_state_away', 'Try again in a moment', {
      retryAfterSeconds: 5,
      cause: error,
    })
  return new OAuthError('server_error', 'internal', 'The gateway failed to process this request', {
    cause: error,
  })
}

const auditEvent = (
  event: AuditEvent['event'],
  { realmUri, address, requestId }: OAuthRequest,
  { reason, ...who }: AuditFacts & { readonly reason: string },
): AuditEvent => ({
  event,
  outcome: reason === '' ? 'success' : 'failure',
  reason,
  realm: realmUri,
  scheme: 'oauth2',
  ...who,
  address,
  requestId,
})
