// Who may call: one authenticator per scheme, in one table. A request and what its operation demands come in, who
// sends it or a refusal goes out. Fails closed: whoever can't be checked is refused.

import type { RealmRecord } from '../../spec/realm-record.ts'
import type { Audit } from '../audit.ts'
import { GatewayError } from '../gateway-error.ts'
import type { SharedState } from '../shared/shared-state.ts'
import type { GuardedFetch } from '../upstream/guarded-fetch.ts'
import type { AccessTokens } from './access-token.ts'
import { createApiKey } from './api-key.ts'
import type { Attempt, Authenticator, Outcome, Refusal } from './attempt.ts'
import type { Authenticate, Caller, Verdict } from './authentication.ts'
import { createBasic } from './basic.ts'
import { createBearer } from './bearer.ts'
import { forbidden, type Scheme, unauthorized } from './challenge.ts'
import { createFailureReport, type ReportFailure } from './failure-report.ts'
import { createIssuedTokens } from './issued-token.ts'
import { createIssuerKeys } from './issuer-keys.ts'
import type { Passwords } from './passwords.ts'
import { meetsRequirements } from './requirements.ts'
import { createRevocationGate, type RedisAway } from './revocation-gate.ts'
import { createTicketScheme } from './ticket-scheme.ts'
import type { Tickets } from './ticket.ts'
import type { TokenKeys } from './token-keys.ts'

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
  const authenticators = createAuthenticators(deps)
  const report = createFailureReport(deps.audit, deps.now)

  return (security, realmUri, caller) => {
    const settle = (outcome: Outcome): Verdict => {
      const { kind } = outcome
      if (kind === 'identity' && meetsRequirements(security, outcome.identity)) return outcome
      return refuse(security, realmUri, outcome, { caller, report })
    }
    try {
      const record = deps.realms(realmUri)
      if (record === undefined)
        return { kind: 'refused', error: unauthorized(security.type, realmUri) }
      const outcome = authenticators[security.type](attemptOf(security, record, caller))
      return outcome instanceof Promise ? outcome.then(settle).catch(fail) : settle(outcome)
    } catch (cause) {
      return fail(cause)
    }
  }
}

const createAuthenticators = (deps: AuthenticateDeps): Readonly<Record<Scheme, Authenticator>> => {
  const { keys, tickets, accessTokens, passwords, now } = deps
  const gate = createRevocationGate(deps.shared, deps.redisAway)
  const issued = createIssuedTokens({ keys: createIssuerKeys({ fetch: deps.fetch, now }), now })
  return {
    basic: createBasic(passwords),
    api_key: createApiKey(),
    oauth2: createBearer({ accessTokens, issued, gate, now }),
    oidc: createTicketScheme({ tickets, keys, gate, now }),
  }
}

const SAFE: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'OPTIONS'])

const attemptOf = (security: Secured, record: RealmRecord, caller: Caller): Attempt => ({
  record,
  rawHeaders: caller.request.rawHeaders,
  credentialHeader: security.type === 'api_key' ? security.headerName : 'authorization',
  isUnsafe: !SAFE.has(caller.request.method),
  address: () => caller.address,
})

/** A bug, or a hash that failed: nobody gets in by it. The answer is reported where it is written. */
const fail = (cause: unknown): Verdict => ({
  kind: 'refused',
  error: new GatewayError('svc.error.internal', 'The gateway failed to check who is calling', {
    description: 'Give the request id to whoever runs the gateway.',
    cause,
  }),
})

interface Refusing {
  readonly caller: Caller
  readonly report: ReportFailure
}

/** Known, and may not; or not known. */
const refuse = (
  security: Secured,
  realmUri: string,
  outcome: Outcome,
  { caller, report }: Refusing,
): Verdict => {
  const refusal: Refusal =
    outcome.kind === 'refused'
      ? outcome
      : {
          kind: 'refused',
          error: forbidden(security.type, realmUri, security.scopes),
          reason: 'forbidden',
          authid: outcome.identity.authid,
        }
  const { error, reason, authid } = refusal
  if (reason !== undefined)
    report({
      event: 'authentication',
      outcome: 'failure',
      reason,
      realm: realmUri,
      scheme: security.type,
      ...(authid === undefined ? {} : { authid }),
      address: caller.address,
      requestId: caller.requestId,
    })
  return { kind: 'refused', error }
}
