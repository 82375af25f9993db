// Defines the input and the result of an authenticator, the same for every scheme.

import type { SchemeName } from '../../../language/compile/security.ts'
import type { RealmRecord } from '../../../language/realm/record.ts'
import type { Identity } from './authentication.ts'
import type { SignatureReason, TokenReason, TokenRefusal } from '../../gateway-error.ts'
import { rejected, unauthorized } from './challenge.ts'

/** One request to authenticate. */
export interface CredentialCheck {
  readonly record: RealmRecord
  readonly rawHeaders: readonly string[]
  /** The header with the credentials, in lower case. */
  readonly credentialHeader: string
  readonly isUnsafe: boolean
  /** Costs a system call. undefined if a trusted proxy does not name its client. */
  readonly address: () => string | undefined
}

/** Why a request is rejected, for the audit log. */
export type FailureReason =
  | 'malformed_credentials'
  | 'unknown_user'
  | 'wrong_password'
  | 'too_many_failures'
  | 'overloaded'
  | 'unknown_key'
  | TokenReason
  | 'issuer_unavailable'
  | 'revocations_unknown'
  | 'ambiguous_tickets'
  | 'authmethod_not_allowed'
  | 'csrf'
  | 'forbidden'
  | 'network'
  | 'unknown_signature'
  | 'unread_body'
  | 'replays_unknown'
  | SignatureReason

export type AuthenticationResult = KnownIdentity | Refusal

export interface KnownIdentity {
  readonly kind: 'identity'
  readonly identity: Identity
  /** What the result depends on, besides the record and the credentials. */
  readonly validity: IdentityValidity
  /** A token of an issuer that the realm trusts, not of the gateway itself. */
  readonly isOfIssuer?: boolean
}

export interface IdentityValidity {
  /**
   * Unix time in milliseconds, exclusive: the result is valid before it, also without the authenticator, for the same
   * header on the same connection. 0 for credentials of a single request, such as a signature of it.
   */
  readonly until: number
  /** Names in the shared deny-list, which are checked at every use. */
  readonly revocationKeys: readonly string[]
}

/** For results that only another record ends. */
export const ALWAYS: IdentityValidity = { until: Infinity, revocationKeys: [] }

export interface Refusal {
  readonly kind: 'refused'
  readonly error: Error
  /** undefined: there were no credentials, which is not recorded. */
  readonly reason: FailureReason | undefined
  readonly authid?: string
  /** Why a token was refused. */
  readonly token?: TokenRefusal
  /** A genuine ticket that has expired, was revoked, or is of another realm: it counts as none where that is enough. */
  readonly isEnded?: boolean
  /** A ticket in a cookie that this gateway has not signed. */
  readonly isForged?: boolean
  /** For a 403: the groups, roles and scopes that the caller lacks, for the audit log. */
  readonly missing?: string
}

/** Synchronous if there is nothing to wait for. */
export type Authenticator = (
  attempt: CredentialCheck,
) => AuthenticationResult | Promise<AuthenticationResult>

/** The result for a request without credentials of this scheme. */
export const notPresented = (scheme: SchemeName, realmUri: string): Refusal => ({
  kind: 'refused',
  error: unauthorized(scheme, realmUri),
  reason: undefined,
})

/** The result for credentials that are not valid. */
export const notAccepted = (
  scheme: SchemeName,
  realmUri: string,
  why: Exclude<FailureReason, TokenReason> | TokenRefusal,
  authid?: string,
): Refusal => {
  const token = typeof why === 'string' ? undefined : why
  return {
    kind: 'refused',
    error: rejected(scheme, realmUri, token),
    reason: typeof why === 'string' ? why : why.reason,
    ...(token !== undefined && { token }),
    ...(authid !== undefined && { authid }),
  }
}
