// Verifies the credentials of one scheme with its authenticator, from one table, or knows them from the same connection.

import {
  credentialPlaceOf,
  type SchemeName,
  type SecurityScheme,
} from '../../../language/compile/security.ts'
import type { RealmRecord } from '../../../language/realm/record.ts'
import type { SharedState } from '../../shared/shared-state.ts'
import type { GuardedFetch } from '../../upstream/destinations/guarded-fetch.ts'
import type { Passwords } from '../passwords/passwords.ts'
import type { AccessTokens } from '../tokens/access-token.ts'
import { isSafeMethod } from '../tokens/csrf.ts'
import { createIssuedTokens } from '../tokens/issued-token.ts'
import { createIssuerKeys } from '../tokens/issuer-keys.ts'
import { refusedToken } from '../tokens/token-refusal.ts'
import type { Tickets } from '../tokens/ticket.ts'
import type { TokenKeys } from '../tokens/token-keys.ts'
import { createApiKey } from './api-key.ts'
import type { Caller } from './authentication.ts'
import {
  type AuthenticationResult,
  type Authenticator,
  type CredentialCheck,
  notAccepted,
} from './authenticator.ts'
import { createBasic } from './basic.ts'
import { createBearer, fitsFlow } from './bearer.ts'
import {
  createConnectionIdentityCache,
  type CredentialSource,
} from './connection-identity-cache.ts'
import { createSignature } from './signature.ts'
import { createRevocationGate, type RedisAway, type RevocationGate } from './revocation-gate.ts'
import { SCHEMES } from './scheme-table.ts'
import { createTicketScheme } from './ticket-scheme.ts'

export interface VerifierDeps {
  readonly keys: TokenKeys
  readonly shared: SharedState
  /** For key sets of trusted issuers. */
  readonly fetch: GuardedFetch
  /** One for the whole process: the token endpoint checks passwords too. */
  readonly passwords: Passwords
  readonly tickets: Pick<Tickets, 'readTicket'>
  readonly accessTokens: Pick<AccessTokens, 'read'>
  /** Unix time in milliseconds. */
  readonly now: () => number
  readonly redisAway: RedisAway
}

/** Synchronous if there is nothing to wait for. */
export type VerifyCredentials = (
  scheme: SecurityScheme,
  record: RealmRecord,
  caller: Caller,
) => AuthenticationResult | Promise<AuthenticationResult>

export const createCredentialVerifier = (deps: VerifierDeps): VerifyCredentials => {
  const gate = createRevocationGate(deps.shared, deps.redisAway)
  const authenticators = createAuthenticators(deps, gate)
  const identityCache = createConnectionIdentityCache(gate, deps.now)
  const verifySignature = createSignature(deps)
  return (scheme, record, caller) => {
    if (scheme.type === 'hmac') return verifySignature(scheme.signature, record, caller)
    const { request } = caller
    const source = {
      scheme: scheme.type,
      header: credentialPlaceOf(scheme).header ?? '',
      mayBeCookie: SCHEMES[scheme.type].sentByBrowsers === 'cookie',
    }
    const known = identityCache.find(request, source, record)
    if (known !== undefined) return withinFlow(scheme, record.uri, known)
    const conclude = (result: AuthenticationResult): AuthenticationResult => {
      identityCache.keep(request, source, record, result)
      return withinFlow(scheme, record.uri, result)
    }
    const result = authenticators[scheme.type](attemptOf(source, record, caller))
    return result instanceof Promise ? result.then(conclude) : conclude(result)
  }
}

/** Here, as a token that was known before is asked again for every path. */
const withinFlow = (
  scheme: SecurityScheme,
  realmUri: string,
  result: AuthenticationResult,
): AuthenticationResult =>
  result.kind === 'refused' || fitsFlow(scheme, result)
    ? result
    : notAccepted(
        'oauth2',
        realmUri,
        refusedToken(
          'issuer',
          'iss',
          'one of trusted_issuers: this flow takes no token of the gateway',
        ),
        result.identity.authid,
      )

const createAuthenticators = (
  deps: VerifierDeps,
  gate: RevocationGate,
): Readonly<Record<Exclude<SchemeName, 'hmac'>, Authenticator>> => {
  const { keys, tickets, accessTokens, passwords, now } = deps
  const issued = createIssuedTokens({ keys: createIssuerKeys({ fetch: deps.fetch, now }), now })
  return {
    basic: createBasic(passwords),
    api_key: createApiKey(now),
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
