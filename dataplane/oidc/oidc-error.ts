// Defines the error of an OIDC endpoint: a code of specification §7.1 with its status. The exact reason stays in
// `cause`, for the log.

import { CodedError } from '../../base/coded-error.ts'
import type { OidcErrorCode } from './oidc-endpoint.ts'

const STATUSES = {
  missing_code_or_state: 400,
  invalid_state: 400,
  state_expired: 400,
  realm_mismatch: 400,
  token_exchange_failed: 400,
  missing_authid_claim: 400,
  unknown_provider: 404,
  provider_unavailable: 503,
  authorization_url_failed: 500,
  ticket_issue_failed: 500,
  invalid_request: 400,
} as const satisfies Record<OidcRejectionCode, number>

/** `invalid_request`: of a back-channel logout (OpenID Connect Back-Channel Logout 1.0 §2.8). */
export type OidcRejectionCode = OidcErrorCode | 'invalid_request'

export interface OidcErrorOptions {
  /** Where the code's own does not fit: 502 when the identity provider failed. */
  readonly status?: number
  readonly cause?: unknown
  /** The setting of the Realm, or of the provider's entry in it, to look at, for the log. */
  readonly setting?: 'authmethods' | 'oidcProviders' | ProviderSetting | undefined
  /** More fields of the log line: nothing that a client wrote. */
  readonly facts?: Readonly<Record<string, string | undefined>>
}

/** As a Realm writes it. */
export type ProviderSetting =
  | 'issuer'
  | 'discoveryUrl'
  | 'ca'
  | 'allowUnsafeHttp'
  | 'clientId'
  | 'clientSecret'
  | 'redirectUri'
  | 'scopes'
  | 'authidClaim'
  | 'require'

/** The message goes to the log only, and says what to do: no secret, no token, nothing that a client wrote. */
export class OidcError extends CodedError<OidcRejectionCode> {
  readonly status: number
  readonly setting: OidcErrorOptions['setting']
  readonly facts: OidcErrorOptions['facts']

  constructor(code: OidcRejectionCode, message: string, options: OidcErrorOptions = {}) {
    super(code, message, { cause: options.cause })
    this.status = options.status ?? STATUSES[code]
    this.setting = options.setting
    this.facts = options.facts
  }
}
