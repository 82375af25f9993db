// Creates the OIDC endpoints from their dependencies: each runs its steps and turns every result into a response.
// Nothing is fetched before somebody logs in.

import type { RealmRecord } from '../../language/realm/record.ts'
import { downloadKeySet } from '../security/tokens/key-set-cache.ts'
import { createCountedPerMinute } from '../once-a-minute.ts'
import { errorResponse } from './responses.ts'
import { backChannelLogout } from './logout/backchannel-logout.ts'
import { callback } from './login/callback.ts'
import { login } from './login/login.ts'
import { logout, logoutAnyway } from './logout/logout.ts'
import type {
  Oidc,
  OidcResponse,
  OidcDeps,
  OidcEndpointName,
  OidcHandler,
} from './oidc-endpoint.ts'
import { discoverProvider } from './provider/provider-client.ts'
import { createProviderRegistry } from './provider/provider-registry.ts'
import { watchProviders } from './provider/watch-providers.ts'
import { OidcError, type OidcRejectionCode } from './oidc-error.ts'
import { auditLogin, auditRevocation, reportFailure } from './report.ts'
import type { OidcContext, OidcEndpointDeps } from './context.ts'

/** One per process, for all realms, versions and providers. */
export const createOidc = (deps: OidcDeps): Oidc => {
  const { realm, realmUris, now, watch } = deps
  const providers = createProviderRegistry({
    discover: (record) => discoverProvider(record, deps.fetch),
    downloadKeySet: ({ ca }, uri) => downloadKeySet(deps.fetch, uri, ca),
    now,
    random: Math.random,
  })
  const endpointDeps: OidcEndpointDeps = {
    ...deps,
    providers,
    leftOut: createCountedPerMinute(now),
  }
  if (watch !== undefined) {
    const realms = (): readonly RealmRecord[] =>
      [...realmUris()].map(realm).filter((record) => record !== undefined)
    watchProviders({ ...watch, providers, realms, now })
  }
  return {
    login: handler(endpointDeps, 'login'),
    callback: handler(endpointDeps, 'callback'),
    logout: handler(endpointDeps, 'logout'),
    backChannelLogout: handler(endpointDeps, 'backChannelLogout'),
  }
}

type Run = (exchange: OidcContext) => Promise<OidcResponse>

const RUNS = { login, callback, logout, backChannelLogout } as const satisfies Record<
  OidcEndpointName,
  Run
>

/** The error code for an unexpected error. */
const OWN_ERRORS = {
  login: 'authorization_url_failed',
  callback: 'ticket_issue_failed',
  logout: 'invalid_request',
  backChannelLogout: 'provider_unavailable',
} as const satisfies Record<OidcEndpointName, OidcRejectionCode>

const handler =
  (endpointDeps: OidcEndpointDeps, endpoint: OidcEndpointName): OidcHandler =>
  async (request) => {
    const exchange: OidcContext = { endpoint, request, endpointDeps }
    try {
      const response = await RUNS[endpoint](exchange)
      endpointDeps.count({ endpoint, outcome: 'ok' })
      return response
    } catch (error) {
      return refuse(exchange, error)
    }
  }

const refuse = (exchange: OidcContext, error: unknown): OidcResponse => {
  const { endpoint, request } = exchange
  const { code, status } =
    error instanceof OidcError
      ? error
      : new OidcError(OWN_ERRORS[endpoint], 'the gateway failed', { cause: error })
  reportFailure(exchange, { outcome: code, status, error })
  if (endpoint === 'logout') return logoutAnyway(exchange)
  const audit = endpoint === 'backChannelLogout' ? auditRevocation : auditLogin
  audit(exchange, { outcome: 'failure', reason: code })
  return errorResponse(request, status, code)
}
