// Defines the error of an OAuth 2 endpoint: a code of RFC 6749 §5.2 with its status for the client, and a reason for
// the audit log. Its texts are constants: no secret, no token, no input of a client.

import { CodedError } from '../../base/coded-error.ts'
import type { OAuthErrorCode } from './oauth2-endpoint.ts'

const STATUSES = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  invalid_scope: 400,
  unsupported_token_type: 400,
  temporarily_unavailable: 503,
  server_error: 500,
} as const satisfies Record<OAuthErrorCode, number>

/** The whole vocabulary of `reason` in audit lines of this room. */
export type RejectionReason =
  | 'malformed_request'
  | 'no_client_credentials'
  | 'wrong_client_secret'
  | 'not_a_client'
  | 'unsupported_grant'
  | 'grant_not_allowed'
  | 'wrong_password'
  | 'not_a_resource_owner'
  | 'password_changed'
  | 'damped'
  | 'overloaded'
  | 'scope_not_granted'
  | 'token_too_large'
  | 'unknown_token'
  | 'other_client'
  | 'refresh_reuse'
  | 'revoked'
  | 'not_revocable'
  | 'shared_state_away'
  | 'internal'

export interface OAuthErrorOptions {
  /** Where the code's own does not fit: 429 for somebody who guesses. */
  readonly status?: number
  /** For 429 and 503. */
  readonly retryAfterSeconds?: number
  readonly cause?: unknown
}

export class OAuthError extends CodedError<OAuthErrorCode> {
  readonly reason: RejectionReason
  readonly status: number
  readonly retryAfterSeconds: number | undefined

  /** @param description goes to the client as `error_description`: printable ASCII without `"` and `\` */
  constructor(
    code: OAuthErrorCode,
    reason: RejectionReason,
    description: string,
    options: OAuthErrorOptions = {},
  ) {
    super(code, description, { cause: options.cause })
    this.reason = reason
    this.status = options.status ?? STATUSES[code]
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** Instead of what is said of credentials: these were perhaps not looked at. */
export const TOO_MANY_FAILURES = 'Too many failed attempts: one in a second is verified'

export const malformed = (description: string): OAuthError =>
  new OAuthError('invalid_request', 'malformed_request', description)
