// Serves an operation for a request whose sender is known: Accept → Content-Type → body → action. Every step may
// reject the request; errors.ts turns its error into a response.

import type { ContentType } from '../../language/compiled.ts'
import { decodeInPieces } from '../codec/codec.ts'
import { GatewayError } from '../gateway-error.ts'
import type { Identity } from '../security/schemes/authentication.ts'
import type { MatchedRequest, Served } from './incoming-request.ts'
import { checkDeclaredLength, readBody } from './request/body.ts'
import { inflateRequest, readableCodings } from './request/content-coding.ts'
import { notAcceptable } from './errors.ts'
import { type ExchangeObserver, HttpExchange } from './exchange.ts'
import {
  EVENT_STREAM,
  isAcceptedType,
  isServedType,
  isWithBody,
  pickContentType,
  rateEventStream,
  refusalType,
} from '../../language/routes/negotiate.ts'
import type { OperationShape, PreparedOperation } from './prepared-operation.ts'
import { renderResult } from './response/render-result.ts'
import { hasBody, type RequestHead } from './request/head.ts'
import { fillRequestView, type RequestFacts } from './request/view.ts'
import { fixResponse } from './response/fixed-response.ts'
import { toMethod } from '../../language/router/select-route.ts'
import type { Envelope } from './response/write-response.ts'
import { LARGE_BODY_BYTES } from '../turns.ts'
import { asError } from '../../base/thrown.ts'

/** @param identity undefined if the operation demands none */
export const serveOperation = (
  admission: MatchedRequest,
  observer: ExchangeObserver,
  identity?: Identity,
): void => {
  const { incomingRequest, operation } = admission
  const { accept } = incomingRequest.head
  const offered = pickContentType(accept, operation.shape.offers)
  const exchange = openExchange(admission, observer, offered ?? refusalType(accept))
  if (identity !== undefined) exchange.context.security = identity
  try {
    fillRequestView(exchange.context.request, operation.shape.needs, factsOf(admission))
    checkAdmission(admission, offered !== undefined || takesEvents(operation.shape, accept))
  } catch (error) {
    refuse(exchange, error)
    return
  }
  if (needsBody(admission)) readThenPerform(admission, exchange, observer)
  else if (operation.costlyRequests > 0) performInTurn(exchange)
  else perform(exchange)
}

/** Rejects a request whose sender is unknown or not allowed, with the headers of the operation, so that CORS works. */
export const refuseOperation = (
  admission: MatchedRequest,
  observer: ExchangeObserver,
  error: unknown,
): void => {
  const exchange = openExchange(admission, observer, errorType(admission))
  fillRequestView(exchange.context.request, admission.operation.shape.needs, factsOf(admission))
  refuse(exchange, error)
}

/** Records that the client disconnected while it was being authenticated. */
export const abandonOperation = (admission: MatchedRequest, observer: ExchangeObserver): void => {
  openExchange(admission, observer, errorType(admission)).abandon()
}

const errorType = ({ incomingRequest, operation }: MatchedRequest): ContentType =>
  pickContentType(incomingRequest.head.accept, operation.shape.offers) ??
  refusalType(incomingRequest.head.accept)

const openExchange = (
  admission: MatchedRequest,
  observer: ExchangeObserver,
  contentType: ContentType,
): HttpExchange => {
  const { incomingRequest, operation } = admission
  const envelope = envelopeOf(admission)
  return new HttpExchange(incomingRequest, operation, { envelope, contentType }, observer)
}

const envelopeOf = ({ incomingRequest, operation, language }: MatchedRequest): Envelope => ({
  requestId: incomingRequest.id,
  language,
  deprecation: operation.shape.deprecation,
  vary: operation.shape.vary,
  memo: operation.shape.headMemo,
})

const factsOf = ({
  incomingRequest,
  match: found,
  selected,
  language,
}: MatchedRequest): RequestFacts<Served> => ({
  request: incomingRequest.request,
  head: incomingRequest.head,
  method: toMethod(incomingRequest.request.method) ?? selected.slot.method,
  scheme: incomingRequest.scheme,
  id: incomingRequest.id,
  language,
  client: incomingRequest.client,
  match: found,
  candidate: selected.candidate,
})

/** Accept → Content-Type → declared length. @throws GatewayError */
const checkAdmission = (
  { incomingRequest, operation }: MatchedRequest,
  isAcceptable: boolean,
): void => {
  const { head } = incomingRequest
  if (operation.shape.checksAccept && !isAcceptable) throw notAcceptable(servedBy(operation.shape))
  if (!hasBody(head)) return
  checkContentType(head, operation)
  if (decodesBody(head, operation)) readableCodings(incomingRequest.request)
  checkDeclaredLength(head, operation.shape.bodyLimits)
}

const servedBy = ({ offers, hasEvents }: OperationShape): readonly string[] =>
  hasEvents ? [...offers, EVENT_STREAM] : offers

/** The action decides whether the response really is a stream of events. */
const takesEvents = ({ hasEvents, offers }: OperationShape, accept: string | undefined): boolean =>
  hasEvents && rateEventStream(accept, offers) !== 'refused'

const checkContentType = (head: RequestHead, operation: PreparedOperation): void => {
  const { method, accepts } = operation.shape
  const goesUnread = operation.shape.forwardsBody && !operation.shape.needs.body
  if (isServedType(head.contentType, { method, accepts, goesUnread })) return
  throw new GatewayError(
    'svc.error.unsupported_media_type',
    head.contentType === undefined
      ? 'The body has no Content-Type'
      : 'Bodies of this Content-Type are not accepted here',
    { description: `This operation accepts ${accepts.join(', ')}.` },
  )
}

/**
 * Whether a body is read, within its limits, before the action: it is kept if something reads it, otherwise counted.
 * The forward action reads it itself if it goes upstream unread.
 */
const needsBody = ({ incomingRequest, operation }: MatchedRequest): boolean => {
  if (!hasBody(incomingRequest.head)) return false
  return (
    !operation.shape.forwardsBody || operation.shape.needs.body || operation.shape.needs.bodyLength
  )
}

const readThenPerform = (
  { incomingRequest, operation }: MatchedRequest,
  exchange: HttpExchange,
  { isScarce }: ExchangeObserver,
): void => {
  const { head, request } = incomingRequest
  const isKept = operation.shape.needs.body || operation.shape.forwardsBody
  const policy = {
    limits: operation.shape.bodyLimits,
    declaredLength: head.contentLength,
    holding: isKept ? exchange.memory : undefined,
    isScarce,
  }
  readBody(request, policy, (outcome, bytes, length) => {
    if (outcome === 'gone') {
      exchange.abandon()
      return
    }
    if (outcome !== undefined) {
      refuse(exchange, outcome)
      return
    }
    exchange.context.request.body_length = length
    if (operation.shape.forwardsBody) exchange.rawBody = bytes
    if (bytes.length === 0 || !decodesBody(head, operation)) {
      if (operation.costlyRequests > 0) performInTurn(exchange)
      else perform(exchange)
    } else decodeThenPerform(exchange, head, bytes)
  })
}

/** Whether something reads the body, and its type is one that is decoded. */
const decodesBody = (head: RequestHead, { shape }: PreparedOperation): boolean =>
  shape.needs.body && (isWithBody(shape.method) || isAcceptedType(head.contentType, shape.accepts))

const decodeThenPerform = (exchange: HttpExchange, head: RequestHead, bytes: Buffer): void => {
  const { operation, incoming, memory } = exchange
  const codings = readableCodings(incoming)
  let isGone = false
  if (codings.length > 0) {
    exchange.onCancel(() => {
      isGone = true
    })
  }
  const source = { codings, limits: operation.shape.bodyLimits, memory }
  inflateRequest(bytes, source, (fault, plain) => {
    if (isGone) return
    exchange.onCancel(undefined)
    if (fault !== undefined) {
      refuse(exchange, fault)
      return
    }
    const isLarge = plain.length > LARGE_BODY_BYTES
    const pieces = decodeInPieces(head.contentType ?? '', plain, memory)
    const then = isLarge || operation.costlyRequests > 0 ? performInTurn : perform
    const decodePiece = (): boolean => {
      try {
        const piece = pieces.next()
        if (piece.done !== true) return true
        exchange.context.request.body = piece.value
      } catch (error) {
        refuse(exchange, error)
        return false
      }
      then(exchange)
      return false
    }
    if (isLarge) exchange.waitForTurn(decodePiece)
    else decodePiece()
  })
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
      operation.fixed.set(contentType, fixResponse(renderResult(exchange), exchange.envelope))
    operation.perform(exchange)
  } catch (error) {
    refuse(exchange, error)
  }
}

const refuse = (exchange: HttpExchange, error: unknown): void => {
  exchange.refuse(asError(error))
}
