// Renders the result of an action: status, headers and body as the operation's response declares them, and by
// behaviour §5 where it declares nothing. It writes nothing.

import type { ContentType } from '../../../language/compiled.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import type { ActionError, StreamHead } from '../../actions/performer.ts'
import type { Context } from '../../context.ts'
import { frameResponse } from '../../framing.ts'
import { responseHeaderMap } from '../../header-map.ts'
import { viewError } from '../action-error.ts'
import { recordBody } from '../errors.ts'
import { toLocation } from './location.ts'
import { contentOf, mergeStreamHeaders } from './pass-through.ts'
import type { PreparedOperation } from '../prepared-operation.ts'
import { headerOf, type HeaderList } from './headers.ts'
import {
  type RenderedResponse,
  type EncodedBody,
  type ResponsePlan,
  successStatus,
} from './plan.ts'
import type { FramedHead } from './write-response.ts'

/** The exchange that it is rendered for: `action` of its context is set here. */
export interface Addressee {
  readonly context: Context
  readonly operation: PreparedOperation
  readonly contentType: ContentType
}

/** @throws ExpressionError */
export const renderSuccess = (addressee: Addressee, result: ValueMap): RenderedResponse => {
  const { context, operation } = addressee
  context.action = { result }
  const upstream = operation.shape.givesStatus ? result['status_code'] : undefined
  return renderResult(addressee, typeof upstream === 'number' ? upstream : undefined)
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
  const { context, operation, contentType } = addressee
  const { error, message, status } = viewError(failure, operation.shape.statusCodes)
  context.action = { error }
  const plan = operation.onError()
  if (plan !== undefined) return renderError(plan, addressee, { uri: failure.error_uri, status })
  return {
    status,
    headers: withRetryAfter(operation.shape.headers.writeWhatIsKnown(context), failure.error_uri),
    ...recordBody(failure.error_uri, message, '', contentType),
  }
}

const renderError = (
  plan: ResponsePlan,
  { context, contentType }: Addressee,
  { uri, status }: { readonly uri: string; readonly status: number },
): RenderedResponse => {
  const headers = plan.headers.write(context)
  const encoded = plan.body(context, contentType, headers)
  const own = plan.status(context) ?? plan.statusOfBody(context)
  return toRendered(own ?? status, withRetryAfter(headers, uri), encoded)
}

/**
 * Renders the head of an upstream's response whose body passes through.
 * @throws ExpressionError
 */
export const planStream = (
  { context, operation }: Addressee,
  head: StreamHead,
  isHead: boolean,
): FramedHead => {
  const { onResult, shape } = operation
  const { readsAction, replacesHeaders: replaces } = shape
  context.action = {
    result: {
      status_code: head.statusCode,
      headers: readsAction ? responseHeaderMap(head.headers) : {},
      uri: headerOf(head.headers, 'location') ?? '',
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
  contentType: encoded.contentType,
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
