// Names what made a request to an upstream fail, for people and metrics, with a word from a closed list.
// failure-blame.ts decides who is to blame.

import { CodedError } from '../../base/coded-error.ts'
import type { GoneCause } from '../../language/wire/wire.ts'
import type { UpstreamError, UpstreamFailure } from './upstream.ts'

/** Those of `UpstreamFailure`, with `refused` divided as far as possible, and statuses that indicate a failure. */
export type FailureCause =
  UpstreamFailure | GoneCause | 'dns' | 'tls' | 'status_502' | 'status_503' | 'status_504'

/** No connection was attempted, as it would fail. */
export class NotTriedError extends CodedError<NotTriedCause> {
  constructor(cause: NotTriedCause) {
    super(cause, NOT_TRIED[cause])
  }
}

export type NotTriedCause = keyof typeof NOT_TRIED

const IN_VAIN =
  'not tried, as the last five attempts to connect to it were in vain; one request at a time tries again'

const NOT_TRIED = {
  refused: IN_VAIN,
  connect_timeout: IN_VAIN,
  no_service: 'the operator reports that the Service was deleted',
  no_endpoints: 'the operator reports that no Pod of the Service is ready',
} as const satisfies Partial<Record<FailureCause, string>>

/** @example causeOf('refused', Object.assign(new Error(), { code: 'ENOTFOUND' })) // 'dns' */
export const causeOf = (failure: UpstreamFailure, error: unknown): FailureCause => {
  // With TLS 1.3 an upstream says only after the handshake that it does not accept our certificate.
  if (failure === 'reset' && isAlert(error)) return 'tls'
  if (failure !== 'refused' || error === undefined) return failure
  if (error instanceof NotTriedError) return error.code
  // A connection to several addresses fails with an AggregateError.
  const errors: readonly unknown[] =
    typeof error === 'object' && error !== null && 'errors' in error && Array.isArray(error.errors)
      ? error.errors
      : [error]
  if (errors.some(isOfLookup)) return 'dns'
  return errors.some(isOfTls) ? 'tls' : 'refused'
}

/** The cause of an error as a sink gets it. */
export const causeOfError = ({ code, cause }: UpstreamError): FailureCause => causeOf(code, cause)

/** undefined: the status does not indicate a fault of the instance that sent it. */
export const causeOfStatus = (statusCode: number): FailureCause | undefined =>
  statusCode < 502 || statusCode > 504 ? undefined : STATUSES[statusCode]

const STATUSES: Readonly<Record<number, FailureCause>> = {
  502: 'status_502',
  503: 'status_503',
  504: 'status_504',
}

const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : ''

const LOOKUP_CODES: ReadonlySet<string> = new Set([
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
  'EAI_NODATA',
  'EAI_NONAME',
  'ENODATA',
  'ESERVFAIL',
])

const isOfLookup = (error: unknown): boolean => LOOKUP_CODES.has(codeOf(error))

/**
 * Codes of Node and OpenSSL: `ERR_SSL_WRONG_VERSION_NUMBER`, `CERT_HAS_EXPIRED`, `UNABLE_TO_VERIFY_LEAF_SIGNATURE`, …
 */
const TLS_CODE =
  /^(?:ERR_SSL_|ERR_TLS_|CERT_|CRL_|UNABLE_TO_)|SELF_SIGNED|^(?:EPROTO|HOSTNAME_MISMATCH|INVALID_CA)$/

const isAlert = (error: unknown): boolean => /^ERR_SSL_.*_ALERT_/.test(codeOf(error))

const isOfTls = (error: unknown): boolean => TLS_CODE.test(codeOf(error))
