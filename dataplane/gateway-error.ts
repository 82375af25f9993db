// Defines the error of the request path, which any room throws and only http/errors.ts turns into a status and a
// record. Its texts are public: they never name a secret, a stack or an internal address.

import { CodedError } from '../base/coded-error.ts'
import type { SchemaEntry } from '../language/compile/compiled.ts'
import type { DecisionStep } from './decisions/decision.ts'

/** The gateway's own codes (behaviour §3), and the URIs that actions fail with (§7.3). */
export type GatewayErrorCode =
  | 'svc.error.not_found'
  | 'svc.error.not_ready'
  | 'svc.error.method_not_allowed'
  | 'svc.error.not_acceptable'
  | 'svc.error.conflict'
  | 'svc.error.unsupported_media_type'
  | 'svc.error.payload_too_large'
  | 'svc.error.request_timeout'
  | 'svc.error.invalid_data'
  | 'svc.error.upgrade_required'
  | 'svc.error.unauthorized'
  | 'svc.error.forbidden'
  | 'svc.error.too_many_requests'
  | 'svc.error.overloaded'
  | 'svc.error.bad_gateway'
  | 'svc.error.internal'
  | 'svc.error.http_gateway.invalid_expression'

/** What the response, metrics and the log tell apart within a code: that a CSRF token is missing has a body of its own. */
export type GatewayErrorReason =
  'csrf' | 'cross_site' | 'rate_limit' | NetworkReason | SignatureReason

/** What of a request a JSON Schema refuses: the place, and the keyword that does. Never the value. */
export interface InvalidPart {
  readonly in: SchemaEntry
  readonly pointer: string
  readonly keyword: string
  /** The member that it is about, where the place is that of its map. */
  readonly property?: string
}

/** Which address is in none of the networks of a document. */
export type NetworkReason =
  | 'network_connection' // that of the connection, or of its PROXY header
  | 'network_proxy' // that of the connection, which has X-Forwarded-For and is no trusted proxy's
  | 'network_forwarded' // what a trusted proxy says
  | 'network_unknown' // a trusted proxy does not say it, or there is none

/** Why a token does not count, of whatever scheme: for logs, metrics and `GET /why/:id`, never for the client. */
export type TokenReason =
  | 'audience' // it is for someone else
  | 'expired'
  | 'not_yet_valid'
  | 'issuer' // it is of none that the realm trusts
  | 'signature'
  | 'unknown_key' // its issuer publishes no such key
  | 'type' // it is made for another purpose, such as an ID token
  | 'no_subject' // it does not say whose it is
  | 'claim' // `require` of its issuer or provider asks for another value
  | 'size'
  | 'replayed'
  | 'revoked'
  | 'realm' // it is of another realm
  | 'malformed'

export interface TokenRefusal {
  readonly reason: TokenReason
  /** The claim that is wrong, or the member of the header: `aud`, `kid`. */
  readonly claim?: string
  /** What would have counted, as the Realm or the gateway has it: nothing of the token. */
  readonly expected?: string
}

/** Why a signed request is refused. */
export type SignatureReason =
  | 'signature_malformed' // signature, timestamp or id is missing, stands twice, or is none
  | 'signature_expired' // its timestamp is too far from now
  | 'signature_wrong'
  | 'signature_replayed'

/** Values by lower-case name; each value of a list is a line of its own. */
export type ErrorHeaders = Readonly<Record<string, string | readonly string[]>>

export interface GatewayErrorOptions {
  /** One sentence for people: what to do about it. */
  readonly description?: string
  /** Extra response headers: `Allow`, `WWW-Authenticate`, `Retry-After`. Lower-case names. */
  readonly headers?: ErrorHeaders
  /** Overrides the status of the code (400 for an Expression fault of a forwarded path, …). */
  readonly status?: number | undefined
  readonly reason?: GatewayErrorReason | undefined
  /** Why a token was refused. */
  readonly token?: TokenRefusal | undefined
  /** The member of the operation that refuses the request, below its pointer: `/action/path`. For `GET /why/:id` only. */
  readonly member?: string | undefined
  /** The same, as a JSON pointer into the document. */
  readonly pointer?: string | undefined
  /** For the record, and for `refusal.errors` of the document. */
  readonly errors?: readonly InvalidPart[]
  readonly cause?: unknown
}

export class GatewayError extends CodedError<GatewayErrorCode> {
  readonly description: string
  readonly headers: ErrorHeaders
  readonly status: number | undefined
  readonly reason: GatewayErrorReason | undefined
  readonly token: TokenRefusal | undefined
  readonly member: string | undefined
  readonly pointer: string | undefined
  readonly errors: readonly InvalidPart[]
  /** Set by the list of steps: what has refused the request, for `GET /why/:id`. */
  step: DecisionStep | undefined = undefined

  constructor(code: GatewayErrorCode, message: string, options: GatewayErrorOptions = {}) {
    super(code, message, options)
    this.description = options.description ?? ''
    this.headers = options.headers ?? {}
    this.status = options.status
    this.reason = options.reason
    this.token = options.token
    this.member = options.member
    this.pointer = options.pointer
    this.errors = options.errors ?? []
  }

  /** The same refusal in another response: what logs, metrics and `GET /why/:id` have of it stays. */
  respondingWith(
    changes: Pick<GatewayErrorOptions, 'description' | 'headers' | 'status'>,
  ): GatewayError {
    const { code, message, description, headers, status, reason, token } = this
    const { member, pointer, errors, cause } = this
    const same = new GatewayError(code, message, {
      description,
      headers,
      status,
      reason,
      token,
      member,
      pointer,
      errors,
      cause,
      ...changes,
    })
    same.step = this.step
    return same
  }
}
