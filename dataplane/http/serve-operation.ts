// Serves an operation for a request that has passed its steps: body → action. Either may reject the request; errors.ts
// turns its error into a response.

import { decodeInPieces } from '../codec/codec.ts'
import { GatewayError, type InvalidPart } from '../gateway-error.ts'
import type { MatchedRequest } from './matched-request.ts'
import { type Done, readBody } from './request/body.ts'
import { inflateRequest, readableCodings } from './request/content-coding.ts'
import { type ExchangeObserver, HttpExchange } from './exchange.ts'
import type { Value } from '../../language/expression/value.ts'
import { writtenType } from '../../language/routes/negotiate.ts'
import { decodesBody } from './steps/request-steps.ts'
import { renderResult } from './render-result.ts'
import { hasBody, type RequestHead } from './request/head.ts'
import { checkBody, invalidRequest, NO_BODY } from './request/request-check.ts'
import { fillRequestView } from './request/view.ts'
import { prepareWhole } from './response/write-response.ts'
import type { Envelope } from './response/own-headers.ts'
import type { RenderedResponse } from './response/plan.ts'
import { LARGE_BODY_BYTES } from '../turns.ts'
import { asError } from '../../base/thrown.ts'

export const serveOperation = (matched: MatchedRequest, observer: ExchangeObserver): void => {
  const { operation } = matched
  const exchange = openExchange(matched, observer)
  if (needsBody(matched)) readThenPerform(matched, exchange, observer)
  else if (operation.costlyRequests > 0) performInTurn(exchange)
  else perform(exchange)
}

/** Rejects a request that a step has refused, with the headers of the operation, so that CORS works. */
export const refuseOperation = (
  matched: MatchedRequest,
  observer: ExchangeObserver,
  error: unknown,
): void => {
  refuse(openExchange(matched, observer), error)
}

/** Sends the response that a step has given. */
export const answerOperation = (
  matched: MatchedRequest,
  observer: ExchangeObserver,
  rendered: RenderedResponse,
): void => {
  openExchange(matched, observer).answer(rendered)
}

/** Records that the client disconnected while a step waited. */
export const abandonOperation = (matched: MatchedRequest, observer: ExchangeObserver): void => {
  openExchange(matched, observer).abandon()
}

const openExchange = (matched: MatchedRequest, observer: ExchangeObserver): HttpExchange => {
  const { incomingRequest, operation, identity } = matched
  const envelope = envelopeOf(matched)
  const contentType = writtenType(matched.offered, incomingRequest.head.accept)
  const { facts } = matched
  const negotiated = { envelope, contentType, matched: facts }
  const exchange = new HttpExchange(incomingRequest, operation, negotiated, observer)
  if (identity !== undefined) exchange.context.security = identity
  fillRequestView(exchange.context.request, operation.shape.needs, facts)
  return exchange
}

const envelopeOf = ({ operation, fields }: MatchedRequest): Envelope => ({
  ...fields,
  deprecation: operation.shape.deprecation,
  vary: operation.shape.vary,
  headCache: operation.shape.headCache,
})

/**
 * Whether a body is read, within its limits, before the action: it is kept if something reads it, otherwise counted.
 * The forward action reads it itself if it goes upstream unread.
 */
const needsBody = ({ incomingRequest, operation }: MatchedRequest): boolean => {
  if (!hasBody(incomingRequest.head)) return false
  return (
    incomingRequest.body !== undefined ||
    !operation.shape.forwardsBody ||
    operation.shape.needs.body ||
    operation.shape.needs.bodyLength
  )
}

const readThenPerform = (
  { incomingRequest, operation, checked }: MatchedRequest,
  exchange: HttpExchange,
  { isScarce }: ExchangeObserver,
): void => {
  const { head, request } = incomingRequest
  const isKept = operation.shape.needs.body || operation.shape.forwardsBody
  const policy = {
    limits: operation.shape.body,
    declaredLength: head.contentLength,
    holding: isKept ? exchange.memory : undefined,
    isScarce,
  }
  const received: Done = (result, bytes, length) => {
    if (result === 'gone') {
      exchange.abandon()
      return
    }
    if (result !== undefined) {
      refuse(exchange, result)
      return
    }
    exchange.context.request.body_length = length
    if (operation.shape.forwardsBody) exchange.rawBody = bytes
    const wrong = checked?.errors ?? []
    if (bytes.length === 0 && operation.shape.schema?.body !== undefined)
      refuse(exchange, invalidRequest([...wrong, NO_BODY]))
    else if (bytes.length === 0 || !decodesBody(head, operation.shape)) {
      if (operation.costlyRequests > 0) performInTurn(exchange)
      else perform(exchange)
    } else decodeThenPerform(exchange, head, { bytes, wrong })
  }
  const { body } = incomingRequest
  if (body === undefined) readBody(request, policy, received)
  else received(undefined, body.bytes, body.bytes.length)
}

/** A body as it came, and what is wrong with the head of its request. */
interface ReceivedBody {
  readonly bytes: Buffer
  readonly wrong: readonly InvalidPart[]
}

const decodeThenPerform = (
  exchange: HttpExchange,
  head: RequestHead,
  { bytes, wrong }: ReceivedBody,
): void => {
  const { operation, incoming, memory } = exchange
  const codings = readableCodings(incoming.headers['content-encoding']) ?? []
  let isGone = false
  if (codings.length > 0) {
    exchange.onCancel(() => {
      isGone = true
    })
  }
  const source = { codings, limits: operation.shape.body, memory }
  inflateRequest(bytes, source, (error, plain) => {
    if (isGone) return
    exchange.onCancel(undefined)
    if (error !== undefined) {
      refuse(exchange, error)
      return
    }
    const isLarge = plain.length > LARGE_BODY_BYTES
    const pieces = readValue(exchange, head.contentType ?? '', { bytes: plain, wrong })
    const then = isLarge || operation.costlyRequests > 0 ? performInTurn : perform
    const decodePiece = (): boolean => {
      try {
        const piece = pieces.next()
        if (piece.done !== true) return true
        exchange.context.request.body = piece.value
      } catch (error) {
        const isWhole = error instanceof GatewayError && error.errors.length > 0
        refuse(exchange, isWhole || wrong.length === 0 ? error : invalidRequest(wrong))
        return false
      }
      then(exchange)
      return false
    }
    if (isLarge) exchange.waitForTurn(decodePiece)
    else decodePiece()
  })
}

/** @throws GatewayError */
function* readValue(
  { operation, memory }: HttpExchange,
  contentType: string,
  { bytes, wrong }: ReceivedBody,
): Generator<undefined, Value> {
  const { schema } = operation.shape
  if (schema?.body === undefined) return yield* decodeInPieces(contentType, bytes, memory)
  const value = yield* decodeInPieces(contentType, bytes, memory, true)
  return yield* checkBody(schema, { contentType, bytes, value }, wrong)
}

const performInTurn = (exchange: HttpExchange): void => {
  exchange.waitForTurn(() => {
    perform(exchange)
    return false
  })
}

const perform = (exchange: HttpExchange): void => {
  const { operation, contentType } = exchange
  try {
    if (operation.shape.isFixed && !operation.fixed.has(contentType))
      operation.fixed.set(contentType, prepareWhole(renderResult(exchange), exchange.envelope))
    operation.perform(exchange)
  } catch (error) {
    refuse(exchange, error)
  }
}

const refuse = (exchange: HttpExchange, error: unknown): void => {
  exchange.refuse(asError(error))
}
