// Defines the error of a rejected management request: a status and an error record (specification §7.2). Its texts
// are public.

import type { Problem, Warning } from '../../language/problem.ts'
import type { SyncRefusal } from '../../language/wire/wire.ts'

export interface FaultDetails {
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

export class ManagementFault extends Error {
  readonly status: number
  readonly code: string
  readonly details: FaultDetails

  constructor(status: number, code: string, message: string, details: FaultDetails = {}) {
    super(message, { cause: details.cause })
    this.name = 'ManagementFault'
    this.status = status
    this.code = code
    this.details = details
  }
}

/** 400 for what is no document, no realm, no sync call at all. */
export const invalidArgument = (message: string, details?: FaultDetails): ManagementFault =>
  new ManagementFault(400, 'wamp.error.invalid_argument', message, details)

/** 400 for bytes that are no JSON. */
export const invalidData = (message: string, cause?: unknown): ManagementFault =>
  new ManagementFault(400, 'svc.error.invalid_data', message, {
    description: 'The body must be JSON text in UTF-8.',
    cause,
  })

export const notFound = (message: string): ManagementFault =>
  new ManagementFault(404, 'svc.error.not_found', message)

export const notOwner = (manager: string | null): ManagementFault =>
  manager === null
    ? new ManagementFault(403, 'svc.error.not_owner', 'This gateway has no manager', {
        description: 'It takes documents by hand; --managed NAME gives it to the operator NAME.',
      })
    : new ManagementFault(403, 'svc.error.not_owner', `This belongs to the manager '${manager}'`, {
        description: 'Only its manager changes it: change the resource that it was made from.',
      })

export const overloaded = (message: string, cause?: unknown): ManagementFault =>
  new ManagementFault(503, 'svc.error.overloaded', message, {
    headers: { 'retry-after': '1' },
    cause,
  })
