// Defines the error of a rejected management request: a status and an error record (specification §7.2). Its texts
// are public.

import { CodedError } from '../../base/coded-error.ts'
import type { Problem, Warning } from '../../language/problem.ts'
import type { SyncRefusal } from '../../language/wire/wire.ts'

export interface ManagementErrorDetails {
  readonly description?: string
  readonly errors?: readonly Problem[]
  /** Beside `errors`. */
  readonly warnings?: readonly Warning[]
  /** Members beside those of the error record: `epoch`, `rootDigest`, … */
  readonly extra?: Readonly<Partial<SyncRefusal> & { items?: readonly unknown[] }>
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>
  readonly cause?: unknown
}

/** The codes of error records on the management listener (behaviour §8). */
export type ManagementErrorCode =
  | 'svc.error.forbidden'
  | 'svc.error.incomplete'
  | 'svc.error.internal'
  | 'svc.error.invalid_data'
  | 'svc.error.method_not_allowed'
  | 'svc.error.not_found'
  | 'svc.error.not_owner'
  | 'svc.error.not_ready'
  | 'svc.error.overloaded'
  | 'svc.error.payload_too_large'
  | 'svc.error.request_timeout'
  | 'svc.error.secrets_needed'
  | 'svc.error.stale_base'
  | 'svc.error.stale_epoch'
  | 'svc.error.stale_sequence'
  | 'svc.error.unauthorized'
  | 'svc.error.unsupported_media_type'
  | 'wamp.error.invalid_argument'

export class ManagementError extends CodedError<ManagementErrorCode> {
  readonly status: number
  readonly details: ManagementErrorDetails

  constructor(
    status: number,
    code: ManagementErrorCode,
    message: string,
    details: ManagementErrorDetails = {},
  ) {
    super(code, message, { cause: details.cause })
    this.status = status
    this.details = details
  }
}

/** 400 for what is no document, no realm, no sync call at all. */
export const invalidArgument = (
  message: string,
  details?: ManagementErrorDetails,
): ManagementError => new ManagementError(400, 'wamp.error.invalid_argument', message, details)

/** 400 for bytes that are no JSON. */
export const invalidData = (message: string, cause?: unknown): ManagementError =>
  new ManagementError(400, 'svc.error.invalid_data', message, {
    description: 'The body must be JSON text in UTF-8.',
    cause,
  })

export const notFound = (message: string): ManagementError =>
  new ManagementError(404, 'svc.error.not_found', message)

export const notOwner = (manager: string | null): ManagementError =>
  manager === null
    ? new ManagementError(403, 'svc.error.not_owner', 'This gateway has no manager', {
        description: 'It takes documents by hand; --managed NAME gives it to the operator NAME.',
      })
    : new ManagementError(403, 'svc.error.not_owner', `This belongs to the manager '${manager}'`, {
        description: 'Only its manager changes it: change the resource that it was made from.',
      })

export const overloaded = (message: string, cause?: unknown): ManagementError =>
  new ManagementError(503, 'svc.error.overloaded', message, {
    headers: { 'retry-after': '1' },
    cause,
  })
