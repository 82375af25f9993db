// Authenticates requests with one authenticator per scheme, from one table. It fails closed: a caller that cannot be
// verified is rejected.

import { credentialHeaderOf, type SchemeName } from '../../../language/compile/security.ts'
import type { RealmRecord } from '../../../language/realm/record.ts'
import type { Audit } from '../../audit.ts'
import { GatewayError } from '../../gateway-error.ts'
import type { SharedState } from '../../shared/shared-state.ts'
import type { GuardedFetch } from '../../upstream/destinations/guarded-fetch.ts'
import type { AccessTokens } from '../tokens/access-token.ts'
import { createApiKey } from './api-key.ts'
import {
  type CredentialCheck,
  type Authenticator,
  notAccepted,
  type AuthenticationResult,
  type Refusal,
} from './authenticator.ts'
import type { Authenticate, Caller, AuthenticateResult } from './authentication.ts'
import { createBasic } from './basic.ts'
import { createBearer, fitsFlow } from './bearer.ts'
import { forbidden, unauthorized } from './challenge.ts'
import { isSafeMethod } from '../tokens/csrf.ts'
import { createFailureReport, type ReportFailure } from './failure-report.ts'
import { createIssuedTokens } from '../tokens/issued-token.ts'
import { createIssuerKeys } from '../tokens/issuer-keys.ts'
import type { Passwords } from '../passwords/passwords.ts'
import {
  type CredentialSource,
  createConnectionIdentityCache,
} from './connection-identity-cache.ts'
import { failedRequirement, meetsRequirements, missingRequirements } from './requirements.ts'
import { createRevocationGate, type RedisAway, type RevocationGate } from './revocation-gate.ts'
import { SCHEMES } from './scheme-table.ts'
import { createTicketScheme } from './ticket-scheme.ts'
import type { Tickets } from '../tokens/ticket.ts'
import type { TokenKeys } from '../tokens/token-keys.ts'

export interface AuthenticateDeps {
  /** The record that holds now. */
  readonly realms: (uri: string) => RealmRecord | undefined
  readonly keys: TokenKeys
  readonly shared: SharedState
  readonly audit: Audit
  /** For key sets of trusted issuers. */
  readonly fetch: GuardedFetch
  /** One for the whole process: the token endpoint checks passwords too. */
  readonly passwords: Passwords
  readonly tickets: Pick<Tickets, 'verifyTicket'>
  readonly accessTokens: Pick<AccessTokens, 'verify'>
  /** Unix time in milliseconds. */
  readonly now: () => number
  readonly redisAway: RedisAway
}

type Secured = Parameters<Authenticate>[0]

/** @example const verdict = await createAuthenticate(deps)({ type: 'basic' }, 'com.acme', caller) */
export const createAuthenticate = (deps: AuthenticateDeps): Authenticate => {
  const gate = createRevocationGate(deps.shared, deps.redisAway)
  const authenticators = createAuthenticators(deps, gate)
  const identityCache = createConnectionIdentityCache(gate, deps.now)
  const report = createFailureReport(deps.audit, deps.now)

  const check = (
    input: AuthenticationInput,
    record: RealmRecord,
  ): AuthenticateResult | Promise<AuthenticateResult> => {
    const { security, caller } = input
    const { request } = caller
    const source = {
      scheme: security.type,
      header: credentialHeaderOf(security),
      mayBeCookie: SCHEMES[security.type].sentByBrowsers === 'cookie',
    }
    const known = identityCache.find(request, source, record)
    if (known !== undefined) return settle(input, known, report)
    const conclude = (outcome: AuthenticationResult): AuthenticateResult => {
      identityCache.keep(request, source, record, outcome)
      return settle(input, outcome, report)
    }
    const outcome = authenticators[security.type](attemptOf(source, record, caller))
    return outcome instanceof Promise ? outcome.then(conclude).catch(fail) : conclude(outcome)
  }

  return (security, realmUri, caller) => {
    try {
      const record = deps.realms(realmUri)
      if (record !== undefined) return check({ security, realmUri, caller }, record)
      return { kind: 'refused', error: unauthorized(security.type, realmUri) }
    } catch (cause) {
      return fail(cause)
    }
  }
}

interface AuthenticationInput {
  readonly security: Secured
  readonly realmUri: string
  readonly caller: Caller
}

const settle = (
  input: AuthenticationInput,
  given: AuthenticationResult,
  report: ReportFailure,
): AuthenticateResult => {
  const outcome = withinFlow(input, given)
  return outcome.kind === 'identity' && meetsRequirements(input.security, outcome.identity)
    ? outcome
    : refuse(input, outcome, report)
}

/** Here, as a token that was known before is asked again for every path. */
const withinFlow = (
  { security, realmUri }: AuthenticationInput,
  outcome: AuthenticationResult,
): AuthenticationResult =>
  outcome.kind === 'refused' || fitsFlow(security, outcome)
    ? outcome
    : notAccepted('oauth2', realmUri, 'invalid_token', outcome.identity.authid)

const createAuthenticators = (
  deps: AuthenticateDeps,
  gate: RevocationGate,
): Readonly<Record<SchemeName, Authenticator>> => {
  const { keys, tickets, accessTokens, passwords, now } = deps
  const issued = createIssuedTokens({ keys: createIssuerKeys({ fetch: deps.fetch, now }), now })
  return {
    basic: createBasic(passwords),
    api_key: createApiKey(),
    oauth2: createBearer({ accessTokens, issued, gate, now }),
    oidc: createTicketScheme({ tickets, keys, gate, now }),
  }
}

const attemptOf = (
  { header }: CredentialSource,
  record: RealmRecord,
  caller: Caller,
): CredentialCheck => ({
  record,
  rawHeaders: caller.request.rawHeaders,
  credentialHeader: header,
  isUnsafe: !isSafeMethod(caller.request.method),
  address: () => (caller.isAddressKnown ? caller.address : undefined),
})

/** For a bug, or a hash that failed: the request is rejected. The failure is reported where the response is written. */
const fail = (cause: unknown): AuthenticateResult => ({
  kind: 'refused',
  error: new GatewayError('svc.error.internal', 'The gateway failed to check who is calling', {
    description: 'Report the request id to the administrators of the gateway.',
    cause,
  }),
})

/** Known, and may not; or not known. */
const refuse = (
  { security, realmUri, caller }: AuthenticationInput,
  outcome: AuthenticationResult,
  report: ReportFailure,
): AuthenticateResult => {
  const refusal: Refusal =
    outcome.kind === 'refused'
      ? outcome
      : {
          kind: 'refused',
          error: forbidden(
            security.type,
            realmUri,
            security.scopes,
            failedRequirement(security, outcome.identity),
          ),
          reason: 'forbidden',
          authid: outcome.identity.authid,
          missing: missingRequirements(security, outcome.identity),
        }
  const { error, reason, authid, missing } = refusal
  if (reason !== undefined)
    report({
      event: 'authentication',
      outcome: 'failure',
      reason,
      realm: realmUri,
      scheme: security.type,
      ...(authid === undefined ? {} : { authid }),
      ...(missing === undefined ? {} : { missing }),
      address: caller.address,
      requestId: caller.requestId,
    })
  return { kind: 'refused', error }
}
