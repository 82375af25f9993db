// Renders the result of an action: status, headers and body as the operation's response declares them, and by
// behaviour §5 where it declares nothing. It writes nothing.

import type { ContentType } from '../../language/routes/negotiate.ts'
import { ownValue } from '../../language/expression/lookup.ts'
import { isMap, type Value, type ValueMap } from '../../language/expression/value.ts'
import type { ActionError, StreamHead } from '../actions/performer.ts'
import type { Context } from '../context.ts'
import { frameResponse, isAlwaysEmpty } from '../framing.ts'
import { responseHeaderMap } from '../header-map.ts'
import { readHeaderText, writeHeaderText } from '../header-text.ts'
import { statusError } from '../actions/failure.ts'
import { statusOfUpstream, viewError } from './action-error.ts'
import { type RefusedRequest, renderRecord } from './errors.ts'
import { toLocation } from './response/location.ts'
import { contentOf, mergeStreamHeaders } from './response/pass-through.ts'
import type { PreparedOperation } from './prepared-operation.ts'
import { headerOf, type HeaderList } from './response/headers.ts'
import { withOneVary } from './response/vary.ts'
import {
  type RenderedResponse,
  type EncodedBody,
  type ResponsePlan,
  successStatus,
} from './response/plan.ts'
import type { FramedHead } from './response/write-response.ts'

/** The exchange that it is rendered for: `action` of its context is set here. */
export interface Addressee extends RefusedRequest {
  readonly context: Context
  readonly operation: PreparedOperation
  readonly contentType: ContentType
}

/** @throws ExpressionError */
export const renderSuccess = (addressee: Addressee, result: ValueMap): RenderedResponse => {
  const { context, operation } = addressee
  context.action = { result }
  if (!operation.shape.givesStatus) return renderResult(addressee)
  const { status_code: status, headers } = result
  const rendered = renderResult(addressee, typeof status === 'number' ? status : undefined)
  return withVaryOf(rendered, headers)
}

/**
 * Renders a result that is in the context already, or that nothing reads.
 * @throws ExpressionError
 */
export const renderResult = (
  { context, operation, contentType }: Addressee,
  upstream?: number,
): RenderedResponse => {
  const { onResult, shape } = operation
  const { method } = shape
  const headers = onResult.headers.write(context)
  const encoded = onResult.body(context, contentType, headers)
  const uri = onResult.uri(context)
  const status =
    onResult.status(context) ?? successStatus(method, uri, encoded.bytes.length > 0, upstream)
  return toRendered(status, withLocation(headers, uri, method), encoded)
}

/** @throws ExpressionError */
export const renderFailure = (addressee: Addressee, failure: ActionError): RenderedResponse => {
  const { context, operation } = addressee
  const { error, status } = viewError(failure, operation.shape.statusCodes)
  context.action = { error }
  const plan = operation.onError()
  if (plan !== undefined)
    return withVaryOf(renderError(plan, addressee, { failure, status }), failure.headers)
  const headers = operation.shape.headers.writeWhatIsKnown(context)
  const { error_uri: code, message } = failure
  const record = {
    code,
    message,
    description: '',
    status,
    headers: withRetryAfter(withFieldOfStatus(headers, status, failure.headers), code),
  }
  return withVaryOf(renderRecord(record, addressee), failure.headers)
}

/** What the upstream chose its response by, the one that is made of it depends on too. */
const withVaryOf = (rendered: RenderedResponse, upstream: Value | undefined): RenderedResponse => {
  const vary = isMap(upstream) ? ownValue(upstream, 'vary') : undefined
  if (typeof vary !== 'string') return rendered
  const own = writeHeaderText('vary', vary)
  return { ...rendered, headers: withOneVary([['vary', own], ...rendered.headers]) }
}

const renderError = (
  plan: ResponsePlan,
  { context, operation, contentType }: Addressee,
  { failure, status: known }: { readonly failure: ActionError; readonly status: number },
): RenderedResponse => {
  const written = plan.headers.write(context)
  const encoded = plan.body(context, contentType, written)
  const status = plan.status(context) ?? plan.statusOfBody(context) ?? known
  const headers = operation.shape.replacesErrorHeaders
    ? written
    : withFieldOfStatus(written, status, failure.headers)
  return toRendered(status, withRetryAfter(headers, failure.error_uri), encoded)
}

/** A field without which a status is of no use (RFC 9110 §15): the upstream's stays, if the response has that status. */
const withFieldOfStatus = (headers: HeaderList, status: number, upstream: ValueMap): HeaderList => {
  const name = FIELDS_OF_STATUS[status] ?? (status >= 300 && status < 400 ? 'retry-after' : '')
  const value = Object.hasOwn(upstream, name) ? upstream[name] : undefined
  return typeof value !== 'string' || headerOf(headers, name) !== undefined
    ? headers
    : [...headers, [name, writeHeaderText(name, value)]]
}

const FIELDS_OF_STATUS: Readonly<Record<number, string>> = {
  401: 'www-authenticate',
  405: 'allow',
  416: 'content-range',
  429: 'retry-after',
  503: 'retry-after',
}

/**
 * Renders the head of an upstream's response whose body passes through.
 * @throws ExpressionError
 */
export const planStream = (addressee: Addressee, head: StreamHead, isHead: boolean): FramedHead => {
  if (head.statusCode >= 400) return planUpstreamError(addressee, head, isHead)
  const { context, operation } = addressee
  const { onResult, shape } = operation
  const { readsAction, replacesHeaders: replaces } = shape
  context.action = {
    result: {
      status_code: head.statusCode,
      headers: readsAction ? responseHeaderMap(head.headers) : {},
      uri: readHeaderText(headerOf(head.headers, 'location') ?? ''),
    },
  }
  const own = onResult.headers.write(context)
  const status = onResult.status(context) ?? head.statusCode
  const framing = frameResponse(status, isHead, contentOf(head, status))
  const headers = mergeStreamHeaders(status, framing, { upstream: head.headers, own, replaces })
  return {
    status,
    headers: withLocation(headers, onResult.uri(context), operation.shape.method),
    framing,
  }
}

/** Renders the head where a document has no `on_error`. What its headers say of a result is left out, as on the gateway's own errors. */
const planUpstreamError = (
  { context, operation: { shape } }: Addressee,
  head: StreamHead,
  isHead: boolean,
): FramedHead => {
  const received = shape.readsAction ? responseHeaderMap(head.headers) : {}
  const { error } = viewError(statusError(head.statusCode, received, ''), shape.statusCodes)
  context.action = { error }
  const own = shape.headers.writeWhatIsKnown(context)
  const status = statusOfUpstream(head.statusCode, shape.statusCodes)
  const framing = frameResponse(status, isHead, contentOf(head, status))
  const merged = { upstream: head.headers, own, replaces: false }
  return { status, headers: mergeStreamHeaders(status, framing, merged), framing }
}

/**
 * Renders the head of a response whose body follows as events.
 * @throws ExpressionError
 */
export const planEvents = (
  { context, operation }: Addressee,
  result: ValueMap,
  isHead: boolean,
): FramedHead => {
  const { onResult, shape } = operation
  const { method } = shape
  context.action = { result }
  const headers = onResult.headers.write(context)
  const status = onResult.status(context) ?? 200
  const framing = frameResponse(status, isHead, { kind: 'stream', bytes: undefined })
  return { status, headers: withLocation(headers, onResult.uri(context), method), framing }
}

const toRendered = (
  status: number,
  headers: HeaderList,
  encoded: EncodedBody,
): RenderedResponse => ({
  status,
  headers,
  // It would describe a content that is not there.
  contentType: isAlwaysEmpty(status) ? undefined : encoded.contentType,
  body: encoded.bytes,
})

const withLocation = (headers: HeaderList, uri: string, method: string): HeaderList =>
  uri === '' || method !== 'post' || headerOf(headers, 'location') !== undefined
    ? headers
    : [...headers, ['location', toLocation(uri)]]

const withRetryAfter = (headers: HeaderList, errorUri: string): HeaderList =>
  errorUri === 'svc.error.overloaded' && headerOf(headers, 'retry-after') === undefined
    ? [...headers, ['retry-after', '1']]
    : headers
