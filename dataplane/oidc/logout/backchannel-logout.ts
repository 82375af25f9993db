// Handles POST back-channel logout: the provider reports that a session is over, and its tickets are invalid from
// then on, in every process (OpenID Connect Back-Channel Logout 1.0 §2.5–2.8).

import { hash } from 'node:crypto'
import {
  oidcSessionKey,
  oidcSubjectKeysUntil,
  type ProviderSession,
} from '../../security/tokens/revocation-keys.ts'
import { SharedStateError } from '../../shared/shared-state.ts'
import { done } from '../responses.ts'
import { discoverMetadata } from '../provider/discover-provider.ts'
import { findProvider } from '../provider/find-provider.ts'
import { KeySetError, MAX_AGE_SECONDS, readLogoutToken, type EndedSession } from './logout-token.ts'
import type { OidcResponse } from '../oidc-endpoint.ts'
import { readText } from '../query.ts'
import { OidcError } from '../oidc-error.ts'
import { auditRevocation } from '../report.ts'
import type { ChosenProvider, DiscoveredProvider, OidcContext } from '../context.ts'
import { steps } from '../steps.ts'
import { unlessAway } from '../unless-away.ts'

/** @internal exported for tests */
export const BACKCHANNEL_STEPS = steps<OidcContext>()
  .step('read form', (known) => ({ token: readForm(known) }))
  .step('find provider', (known) => ({ provider: findProvider(known, known.request.pathProvider) }))
  .step('discover metadata', discoverMetadata)
  .step('verify token', async (known) => ({ ended: await verifyToken(known) }))
  .step('refuse used token', refuseUsedToken)
  .step('revoke tickets', revokeTickets)
  .step('use token once', useTokenOnce)

export const backChannelLogout = async (exchange: OidcContext): Promise<OidcResponse> => {
  const { request } = await BACKCHANNEL_STEPS.run(exchange)
  auditRevocation(exchange, { outcome: 'success' })
  return done(request)
}

interface Verified {
  readonly provider: ChosenProvider
  readonly ended: EndedSession
}

const FORM = /^application\/x-www-form-urlencoded[ \t]*(?:;|$)/i

const readForm = ({ request }: OidcContext): string => {
  const token = FORM.test(request.headers['content-type'] ?? '')
    ? readText(new URLSearchParams(request.body), 'logout_token')
    : undefined
  if (token === undefined)
    throw new OidcError('invalid_request', 'logout_token is missing or repeated')
  return token
}

const verifyToken = async ({
  endpointDeps,
  provider,
  known,
  token,
}: OidcContext &
  DiscoveredProvider & {
    readonly provider: ChosenProvider
    readonly token: string
  }): Promise<EndedSession> => {
  try {
    return await readLogoutToken(token, provider.record, known, endpointDeps.now())
  } catch (cause) {
    endpointDeps.providers.invalidate(provider.record)
    const code = cause instanceof KeySetError ? 'provider_unavailable' : 'invalid_request'
    throw new OidcError(code, 'the logout token cannot be trusted', { cause })
  }
}

const USED_BEFORE = 'the logout token was used before'

/** A replayed token with only a `sub` would end sessions that began since. */
async function refuseUsedToken(known: OidcContext & Verified): Promise<object> {
  const { endpointDeps } = known
  const found = await unlessAway(endpointDeps, undefined, () =>
    endpointDeps.shared.read(keyOf(known)),
  )
  if (found !== undefined) throw new OidcError('invalid_request', USED_BEFORE)
  return {}
}

/**
 * Marks the token as used after the revocation: a provider that gets 503 sends it again, and must not be told then
 * that it was used. Two calls at the same moment both do the same.
 */
async function useTokenOnce(known: OidcContext & Verified): Promise<object> {
  const { endpointDeps } = known
  const isFirst = await unlessAway(endpointDeps, true, () =>
    endpointDeps.shared.takeOnce(keyOf(known), 2 * MAX_AGE_SECONDS),
  )
  if (!isFirst) throw new OidcError('invalid_request', USED_BEFORE)
  return {}
}

const keyOf = ({ request, provider, ended }: OidcContext & Verified): string => {
  const name = JSON.stringify([request.realmUri, provider.name, ended.jti])
  return `oidc-jti:${hash('sha256', name, 'base64url')}`
}

/** The greatest age of a ticket, even if the entry now has a shorter lifetime. */
const LIFETIME_SECONDS = 2_592_000

/**
 * Required even if the gateway otherwise continues without its shared state: a revocation that no process knows has
 * no effect.
 */
async function revokeTickets({
  request,
  endpointDeps,
  provider,
  ended,
}: OidcContext & Verified): Promise<object> {
  const now = Math.floor(endpointDeps.now() / 1000)
  const lifetimeSeconds = Math.max(LIFETIME_SECONDS, provider.record.ticket_expiry_secs ?? 0)
  const session = { realmUri: request.realmUri, provider: provider.name }
  const keys = revocationsOf(session, ended, { until: now, lifetimeSeconds })
  try {
    await Promise.all(keys.map((key) => endpointDeps.shared.revoke(key, now + lifetimeSeconds)))
  } catch (cause) {
    if (!(cause instanceof SharedStateError)) throw cause
    throw new OidcError('provider_unavailable', 'the shared state cannot be reached', { cause })
  }
  return {}
}

/** With a `sid` only that session, without one all sessions of the person: §2.6. */
const revocationsOf = (
  session: ProviderSession,
  { sid, sub = '' }: EndedSession,
  span: { readonly until: number; readonly lifetimeSeconds: number },
): readonly string[] =>
  sid === undefined ? oidcSubjectKeysUntil(session, sub, span) : [oidcSessionKey(session, sid)]
