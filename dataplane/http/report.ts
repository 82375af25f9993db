// Records finished requests in metrics, the access log and the log of decisions, and responds to requests that no document serves.

import type { IncomingMessage } from 'node:http'
import { ExpressionError } from '../../language/expression/errors.ts'
import { failureOfExpression, type RequestFailure } from '../actions/request-failure.ts'
import { clientPeername } from '../client-address.ts'
import { countedRefusal, renderGatewayError, toGatewayError } from './errors.ts'
import type { FailedRequest, ReportFailure } from './failure-report.ts'
import type { GatewayError, GatewayErrorCode, TokenRefusal } from '../gateway-error.ts'
import type { IncomingRequest } from './incoming-request.ts'
import type { OnResult } from './result-check.ts'
import type { Settlement, TracedOperation } from './settlement.ts'
import { renderRefusal, type Wording } from './refusal.ts'
import type { AccessLog } from '../../telemetry/access-log.ts'
import type { RequestRow } from '../../telemetry/request-row.ts'
import type { ServedVersion } from '../served.ts'
import type { RequestFields } from './response/own-headers.ts'
import type { RenderedResponse } from './response/plan.ts'
import { writeResponse } from './response/write-response.ts'

export interface ReportOptions {
  /** Monotonic, milliseconds. */
  readonly now: () => number
  /** Unix time, milliseconds. */
  readonly wallClock: () => number
  readonly accessLog: AccessLog | undefined
  /** Called with the result of each request, if requests are traced. */
  readonly traces?: SettledTraces | undefined
  /** Records how requests were decided; if left out, nothing is. */
  readonly decisions?: DecisionRecorder
  /** Requests in progress; dispatch counts it up, and it is counted down here. */
  readonly inFlight: { count: number }
  readonly onRefused: (code: GatewayErrorCode) => void
  /** Called for every result that a JSON Schema describes. */
  readonly onResult: OnResult
  /** The row for requests that no document serves. */
  readonly unmatched: RequestRow
  readonly onUnexpected: OnUnexpected
  /** Called for every request with a reason why it failed; if left out, nothing is reported. */
  readonly onFailure?: ReportFailure
}

/** Called for an unexpected error, with the id of its request. */
export type OnUnexpected = (error: unknown, requestId: string, request: IncomingMessage) => void

/** The part of tracing that is called when a request ends. */
export interface SettledTraces {
  /** Ends the span; that of an upgraded connection ends with the connection. */
  settled(
    incomingRequest: Omit<IncomingRequest, 'response'>,
    settlement: Settlement,
    operation?: TracedOperation,
  ): void
  traceIdOf(request: IncomingMessage): string | undefined
}

/** The part of the log of decisions that is called when a request ends. */
export interface DecisionRecorder {
  /**
   * Whether a request that ended so is recorded. It counts, so call it once for each request.
   * @param version undefined where none served the request
   */
  keeps(settlement: Settlement, version: Pick<ServedVersion, 'apiId'> | undefined): boolean
  record(request: EndedRequest): void
}

/** A request whose decision is recorded. */
export interface EndedRequest {
  readonly incomingRequest: Omit<IncomingRequest, 'response'>
  readonly settlement: Settlement
  readonly seconds: number
  /** undefined: no document served it. */
  readonly operation?: TracedOperation | undefined
}

/** Rejects a request before any operation was found. */
export const refuseUnmatched = (
  options: ReportOptions,
  incomingRequest: IncomingRequest,
  error: unknown,
  wording: UnmatchedWording,
): void => {
  const known = toGatewayError(error, incomingRequest.id)
  if (known.code === 'svc.error.internal')
    options.onUnexpected(error, incomingRequest.id, incomingRequest.request)
  options.onRefused(known.code)
  if (incomingRequest.response.headersSent) {
    incomingRequest.response.destroy()
    return
  }
  const rendered =
    'speaker' in wording
      ? renderWorded(options, known, incomingRequest, wording)
      : renderGatewayError(known, { incomingRequest }, wording.headers)
  writeUnmatched(options, incomingRequest, rendered, { error: known, own: wording.own })
}

/** How the refusal of a request that no operation serves is worded: by a document, or with its headers alone. */
export type UnmatchedWording = (PlacedWording | Pick<Wording, 'headers'>) &
  Pick<RequestFields, 'own'>

export interface PlacedWording extends Wording {
  /** The path by which it is logged. */
  readonly template: string
}

const renderWorded = (
  { onFailure, onUnexpected }: ReportOptions,
  error: GatewayError,
  incomingRequest: IncomingRequest,
  wording: PlacedWording,
): RenderedResponse => {
  const { rendered, failed } = renderRefusal(error, { incomingRequest }, wording)
  const { version, template: path } = wording
  const { id, request } = incomingRequest
  if (failed instanceof ExpressionError)
    onFailure?.({
      id,
      api: version.apiId,
      version: version.name,
      path,
      method: request.method ?? '',
      status: rendered.status,
      code: error.code,
      failure: failureOfExpression(failed),
    })
  else if (failed !== undefined) onUnexpected(failed, id, request)
  return rendered
}

export const writeUnmatched = (
  options: ReportOptions,
  incomingRequest: IncomingRequest,
  rendered: RenderedResponse,
  { error, own }: { readonly error?: GatewayError } & Pick<RequestFields, 'own'> = {},
): void => {
  const { id, request, response } = incomingRequest
  const envelope = { requestId: id, own }
  const bytes = writeResponse(response, rendered, envelope, request.method === 'HEAD')
  options.inFlight.count--
  incomingRequest.onAnswered?.(rendered.status)
  const seconds = (options.now() - incomingRequest.startedMs) / 1000
  options.unmatched.observe(rendered.status, seconds)
  const refusal = error?.code
  const settlement: Settlement = {
    status: rendered.status,
    bytes,
    ...(error && countedRefusal(error)),
  }
  options.traces?.settled(incomingRequest, settlement)
  log(options, incomingRequest, {
    status: rendered.status,
    seconds,
    bytes,
    api: '',
    version: '',
    code: refusal,
  })
  if (options.decisions?.keeps(settlement, undefined) === true)
    options.decisions.record({ incomingRequest, settlement, seconds })
}

/** The operation that a request is counted for. */
export interface ReportedOperation extends TracedOperation {
  readonly row: RequestRow
}

/** Records a request whose operation has responded, or whose client has disconnected. */
export const report = (
  options: ReportOptions,
  incomingRequest: Omit<IncomingRequest, 'response'>,
  operation: ReportedOperation,
  settlement: Settlement,
): void => {
  const { status, bytes, refusal } = settlement
  options.inFlight.count--
  incomingRequest.onAnswered?.(status)
  if (refusal !== undefined) options.onRefused(refusal)
  const seconds = (options.now() - incomingRequest.startedMs) / 1000
  operation.row.observe(status, seconds)
  options.traces?.settled(incomingRequest, settlement, operation)
  if (options.decisions?.keeps(settlement, operation.version) === true)
    options.decisions.record({ incomingRequest, settlement, seconds, operation })
  const { why, token } = settlement
  // Nothing of the version is read for other requests: it is mostly not in the processor's cache.
  if (why === undefined && options.accessLog === undefined) return
  const { apiId: api, name: version } = operation.version
  const code = refusal ?? settlement.failure
  if (why !== undefined)
    options.onFailure?.({
      id: incomingRequest.id,
      api,
      version,
      path: operation.template,
      method: incomingRequest.request.method ?? '',
      status,
      code,
      failure: why,
      pointerOf: pointerFinder(operation, settlement),
    })
  log(options, incomingRequest, { status, seconds, bytes, api, version, code, why, token })
}

/** For the log, which tells the pointer of an expression only: other places are those of the action. */
const pointerFinder = (
  operation: ReportedOperation,
  { why, place }: Settlement,
): FailedRequest['pointerOf'] =>
  why?.reason === 'expression' && place !== undefined
    ? () => operation.pointerOf?.(place)
    : undefined

interface LoggedRequest {
  readonly status: number
  readonly seconds: number
  readonly bytes: number
  readonly api: string
  readonly version: string
  readonly code?: string | undefined
  readonly why?: RequestFailure | undefined
  readonly token?: TokenRefusal | undefined
}

const log = (
  { accessLog, wallClock, traces }: ReportOptions,
  { id, client, head, request }: Omit<IncomingRequest, 'response'>,
  { status, seconds, bytes, api, version, code, why, token }: LoggedRequest,
): void => {
  accessLog?.write({
    status,
    seconds,
    bytes,
    api,
    version,
    code,
    reason: why?.reason ?? token?.reason,
    claim: token?.claim,
    expected: token?.expected,
    upstream: why?.upstream,
    id,
    time: wallClock() - seconds * 1000,
    peername: clientPeername(request, client),
    method: request.method ?? '',
    host: head.authority.text,
    target: request.url ?? '',
    trace: traces?.traceIdOf(request),
  })
}
