// Defines the error of the request path, which any room throws and only http/errors.ts turns into a status and a
// record. Its texts are public: they never name a secret, a stack or an internal address.

/** The gateway's own codes (behaviour §3), and the URIs that actions fail with (§7.3). */
export type GatewayErrorCode =
  | 'svc.error.not_found'
  | 'svc.error.method_not_allowed'
  | 'svc.error.not_acceptable'
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

export interface GatewayErrorOptions {
  /** One sentence for people: what to do about it. */
  readonly description?: string
  /** Extra response headers: `Allow`, `WWW-Authenticate`, `Retry-After`. Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>
  /** Overrides the status of the code (400 for an Expression fault of a forwarded path, …). */
  readonly status?: number
  readonly cause?: unknown
}

export class GatewayError extends Error {
  readonly code: GatewayErrorCode
  readonly description: string
  readonly headers: Readonly<Record<string, string>>
  readonly status: number | undefined

  constructor(code: GatewayErrorCode, message: string, options: GatewayErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.name = 'GatewayError'
    this.code = code
    this.description = options.description ?? ''
    this.headers = options.headers ?? {}
    this.status = options.status
  }
}
