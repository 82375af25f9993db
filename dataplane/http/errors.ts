// Maps errors to statuses and error records. It is the only place where either is decided.

import type { RefusingPlace } from '../../language/failing-place.ts'
import { clientErrorOf } from '../../language/expression/client-fault.ts'
import { ExpressionError } from '../../language/expression/errors.ts'
import { http } from '../../base/node-http.ts'
import { toJson } from '../../language/expression/json.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import { mediaKind } from '../../language/routes/media-kind.ts'
import { prefersProblem, PROBLEM_JSON, refusalType } from '../../language/routes/negotiate.ts'
import type { RequestFailure } from '../actions/request-failure.ts'
import { writeMsgpack } from '../codec/write-msgpack.ts'
import type { DecisionStep } from '../decisions/decision.ts'
import { errorRecord } from '../error-record.ts'
import { GatewayError, type GatewayErrorCode, type TokenRefusal } from '../gateway-error.ts'
import type { HeaderList } from './response/headers.ts'
import type { RenderedResponse } from './response/plan.ts'
import { withOneVary } from './response/vary.ts'

const STATUSES: Readonly<Record<GatewayErrorCode, number>> = {
  'svc.error.invalid_data': 400,
  'svc.error.unauthorized': 401,
  'svc.error.forbidden': 403,
  'svc.error.not_found': 404,
  'svc.error.method_not_allowed': 405,
  'svc.error.not_acceptable': 406,
  'svc.error.request_timeout': 408,
  'svc.error.conflict': 409,
  'svc.error.payload_too_large': 413,
  'svc.error.unsupported_media_type': 415,
  'svc.error.upgrade_required': 426,
  'svc.error.too_many_requests': 429,
  'svc.error.internal': 500,
  'svc.error.http_gateway.invalid_expression': 500,
  'svc.error.bad_gateway': 502,
  'svc.error.not_ready': 503,
  'svc.error.overloaded': 503,
}

/**
 * What a client may know of an error: anything unexpected is `internal` without details, and the text of an expression
 * is for the log.
 */
export const toGatewayError = (error: unknown, requestId: string): GatewayError => {
  if (error instanceof GatewayError) return error
  if (error instanceof ExpressionError)
    return new GatewayError(error.code, 'An expression of this operation failed for this request', {
      description: `The request id is ${requestId}.`,
      cause: error,
    })
  return new GatewayError('svc.error.internal', 'The gateway failed to answer this request', {
    description: 'Report the request id to the administrators of the gateway.',
    cause: error,
  })
}

interface CountedRefusal {
  readonly refusal: GatewayErrorCode
  readonly step: DecisionStep | undefined
  readonly why?: RequestFailure
  readonly token?: TokenRefusal
  readonly place?: RefusingPlace
}

/** What metrics, logs and `GET /why/:id` have of the refusal of a request; without `why` its code says all. */
export const countedRefusal = ({
  code,
  step,
  reason,
  token,
  pointer,
  member,
}: GatewayError): CountedRefusal => ({
  refusal: code,
  step,
  ...((pointer ?? member) !== undefined && { place: { pointer, member } }),
  ...(reason !== undefined && reason !== 'csrf' && { why: { reason } }),
  ...(token !== undefined && { token }),
})

/**
 * An expression that failed before anything was done for the request, on values of the client alone (behaviour §1);
 * undefined: it is another error.
 */
export const toClientError = (error: Error): GatewayError | undefined => {
  const message = error instanceof ExpressionError ? clientErrorOf(error.place) : undefined
  if (message === undefined) return undefined
  return new GatewayError('svc.error.invalid_data', message, {
    description: 'Send what this operation needs of a request.',
    cause: error,
  })
}

/** 406: `served` are the types that the operation can respond with. */
export const notAcceptable = (served: readonly string[]): GatewayError =>
  new GatewayError('svc.error.not_acceptable', 'None of the types in Accept can be served here', {
    description: `This operation serves ${served.join(' and ')}.`,
  })

export const statusOf = (error: GatewayError): number => error.status ?? STATUSES[error.code]

/** The request that an error record responds to. */
export interface RefusedRequest {
  readonly incomingRequest: {
    readonly id: string
    readonly head: { readonly accept: string | undefined }
  }
  /** Negotiated; if left out, no operation has done it. */
  readonly contentType?: string
}

/** The response to a rejected request; `headers` are the operation's, so that CORS works on errors. */
export const renderGatewayError = (
  error: GatewayError,
  request: RefusedRequest,
  headers: HeaderList,
): RenderedResponse => {
  const { code, message, description, reason, errors } = error
  const status = statusOf(error)
  const all = headersOfError(error, headers)
  return reason === 'csrf'
    ? { status, headers: all, contentType: 'application/json', body: CSRF_BODY }
    : renderRecord({ code, message, description, status, headers: all, errors }, request)
}

/** What the error itself says wins by name: `WWW-Authenticate`, `Allow`, `Connection`. */
export const headersOfError = (error: GatewayError, headers: HeaderList): HeaderList => [
  ...headers.filter(([name]) => name !== 'content-type' && !Object.hasOwn(error.headers, name)),
  ...Object.entries(error.headers).flatMap(([name, given]) =>
    (typeof given === 'string' ? [given] : given).map((value) => [name, value] as const),
  ),
]

/** In the place of an error record (behaviour §6). */
const CSRF_BODY = '{"error":"csrf_validation_failed"}'

export interface RecordedError {
  readonly code: string
  readonly message: string
  readonly description: string
  readonly status: number
  readonly headers: HeaderList
  readonly errors?: GatewayError['errors']
}

/** A response with an error record in a type that the client accepts. */
export const renderRecord = (
  { code, message, description, status, headers, errors = [] }: RecordedError,
  { incomingRequest: { id, head }, contentType = refusalType(head.accept) }: RefusedRequest,
): RenderedResponse => {
  const record = {
    ...errorRecord(code, message, description),
    request_id: id,
    ...(errors.length > 0 && { errors }),
  } as unknown as ValueMap
  if (prefersProblem(head.accept, contentType)) {
    const title = http.STATUS_CODES[status] ?? 'Error'
    const problem = { type: code, title, status, detail: record['message'], instance: id }
    return {
      status,
      // Caches may keep a 404: clients that know nothing of problem details must not get this one.
      headers: withOneVary([...headers, ['vary', 'accept']]),
      contentType: PROBLEM_JSON,
      body: toJson({ ...record, ...problem } as ValueMap),
    }
  }
  if (mediaKind(contentType) === 'msgpack')
    return { status, headers, contentType, body: writeMsgpack(record) }
  // Terminals send it, where the next prompt would stand behind the record otherwise.
  const end = head.accept === '*/*' ? '\n' : ''
  return { status, headers, contentType, body: `${toJson(record)}${end}` }
}
