// Creates the OIDC endpoints from their dependencies: each runs its steps and turns every result into a response.
// Nothing is fetched before somebody logs in.

import { downloadKeySet } from '../security/tokens/key-set-cache.ts'
import { errorAnswer } from './answers.ts'
import { backChannelLogout } from './logout/backchannel-logout.ts'
import { callback } from './login/callback.ts'
import { login } from './login/login.ts'
import { logout, logoutAnyway } from './logout/logout.ts'
import type { Oidc, OidcAnswer, OidcDeps, OidcEndpointName, OidcHandler } from './oidc-endpoint.ts'
import { discoverProvider } from './provider/provider-client.ts'
import { createProviderRegistry } from './provider/provider-registry.ts'
import { OidcRefusal, type RefusalCode } from './refusal.ts'
import { auditLogin, auditRevocation, reportFailure } from './report.ts'
import type { Exchange, OidcRoom } from './room.ts'

/** One per process, for all realms, versions and providers. */
export const createOidc = (deps: OidcDeps): Oidc => {
  const room: OidcRoom = {
    ...deps,
    providers: createProviderRegistry({
      discover: (record) => discoverProvider(record, deps.fetch),
      downloadKeySet: ({ ca }, uri) => downloadKeySet(deps.fetch, uri, ca),
      now: deps.now,
    }),
  }
  return {
    login: handler(room, 'login'),
    callback: handler(room, 'callback'),
    logout: handler(room, 'logout'),
    backChannelLogout: handler(room, 'backChannelLogout'),
  }
}

type Run = (exchange: Exchange) => Promise<OidcAnswer>

const RUNS = { login, callback, logout, backChannelLogout } as const satisfies Record<
  OidcEndpointName,
  Run
>

/** The error code for an unexpected error. */
const OWN_FAULTS = {
  login: 'authorization_url_failed',
  callback: 'ticket_issue_failed',
  logout: 'invalid_request',
  backChannelLogout: 'provider_unavailable',
} as const satisfies Record<OidcEndpointName, RefusalCode>

const handler =
  (room: OidcRoom, endpoint: OidcEndpointName): OidcHandler =>
  async (request) => {
    const exchange: Exchange = { endpoint, request, room }
    try {
      const answer = await RUNS[endpoint](exchange)
      room.count({ endpoint, outcome: 'ok' })
      return answer
    } catch (error) {
      return refuse(exchange, error)
    }
  }

const refuse = (exchange: Exchange, error: unknown): OidcAnswer => {
  const { endpoint, request } = exchange
  const { code, status } =
    error instanceof OidcRefusal
      ? error
      : new OidcRefusal(OWN_FAULTS[endpoint], 'the gateway failed', { cause: error })
  reportFailure(exchange, { outcome: code, status, error })
  if (endpoint === 'logout') return logoutAnyway(exchange)
  const audit = endpoint === 'backChannelLogout' ? auditRevocation : auditLogin
  audit(exchange, { outcome: 'failure', reason: code })
  return errorAnswer(request, status, code)
}
