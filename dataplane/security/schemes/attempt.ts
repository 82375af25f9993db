// What an authenticator is given and what it gives back: the same shape for every scheme.

import type { SchemeName } from '../../../language/compile/security.ts'
import type { RealmRecord } from '../../../language/realm/record.ts'
import type { Identity } from './authentication.ts'
import { rejected, unauthorized } from './challenge.ts'

/** One request of somebody who is to be known. */
export interface Attempt {
  readonly record: RealmRecord
  readonly rawHeaders: readonly string[]
  /** Lower case: where credentials stand. */
  readonly credentialHeader: string
  readonly isUnsafe: boolean
  /** Costs a call into the system. undefined where a trusted proxy does not say for whom it asks. */
  readonly address: () => string | undefined
}

/** Why somebody is refused, for the audit log. */
export type FailureReason =
  | 'malformed_credentials'
  | 'unknown_user'
  | 'wrong_password'
  | 'too_many_failures'
  | 'overloaded'
  | 'unknown_key'
  | 'invalid_token'
  | 'revoked'
  | 'issuer_unavailable'
  | 'revocations_unknown'
  | 'ambiguous_tickets'
  | 'authmethod_not_allowed'
  | 'csrf'
  | 'forbidden'

export type Outcome = Known | Refusal

export interface Known {
  readonly kind: 'identity'
  readonly identity: Identity
  /** What it rests on besides the record and what was presented. */
  readonly grounds: Grounds
  /** A token of an issuer that the realm trusts, not of the gateway itself. */
  readonly isOfIssuer?: boolean
}

export interface Grounds {
  /** Unix time in milliseconds: it counts before, not at it. */
  readonly until: number
  /** Names in the shared deny-list; asked at every use. */
  readonly revocationKeys: readonly string[]
}

/** Nothing can end it but another record. */
export const ALWAYS: Grounds = { until: Infinity, revocationKeys: [] }

export interface Refusal {
  readonly kind: 'refused'
  readonly error: Error
  /** undefined: nothing was presented, which is nothing to write down. */
  readonly reason: FailureReason | undefined
  readonly authid?: string
}

/** At once where nothing has to be waited for. */
export type Authenticator = (attempt: Attempt) => Outcome | Promise<Outcome>

/** Nothing that this scheme understands was presented. */
export const notPresented = (scheme: SchemeName, realmUri: string): Refusal => ({
  kind: 'refused',
  error: unauthorized(scheme, realmUri),
  reason: undefined,
})

/** What was presented does not count. */
export const notAccepted = (
  scheme: SchemeName,
  realmUri: string,
  reason: FailureReason,
  authid?: string,
): Refusal => ({
  kind: 'refused',
  error: rejected(scheme, realmUri),
  reason,
  ...(authid === undefined ? {} : { authid }),
})
