// An admitted request in, its operation performed out: authenticate → Accept → Content-Type → body →
// action. Every step may refuse; what it refuses with goes through errors.ts.

import type { Method } from '../../spec/document.ts'
import { decodeBody } from '../codec.ts'
import { GatewayError } from '../gateway-error.ts'
import { authenticate } from '../security/authenticate.ts'
import type { Admission, Path } from './arrival.ts'
import { checkDeclaredLength, readBody } from './body.ts'
import { notAcceptable } from './errors.ts'
import { type ExchangeObserver, HttpExchange } from './exchange.ts'
import {
  EVENT_STREAM,
  isAcceptedType,
  pickContentType,
  rateEventStream,
  refusalType,
} from './negotiate.ts'
import type { PreparedOperation } from './prepared-operation.ts'
import { renderResult } from './render-outcome.ts'
import { hasBody, type RequestHead } from './request-head.ts'
import { fillRequestView, type RequestFacts } from './request-view.ts'
import { fixAnswer } from './fixed-answer.ts'
import { toMethod } from './select-route.ts'
import type { Envelope } from './write-answer.ts'

export const serveOperation = (admission: Admission, observer: ExchangeObserver): void => {
  const { arrival, operation } = admission
  const { accept } = arrival.head
  const offered = pickContentType(accept, operation.offers)
  const contentType = offered ?? refusalType(accept)
  const envelope = envelopeOf(admission)
  const exchange = new HttpExchange(arrival, operation, { envelope, contentType }, observer)
  try {
    fillRequestView(exchange.context.request, operation.needs, factsOf(admission))
    checkAdmission(admission, offered !== undefined || takesEvents(operation, accept))
  } catch (error) {
    refuse(exchange, error)
    return
  }
  if (needsBody(admission)) readThenPerform(admission, exchange)
  else perform(exchange)
}

const envelopeOf = ({ arrival, operation, language }: Admission): Envelope => ({
  requestId: arrival.id,
  language,
  deprecation: operation.version.deprecation,
  vary: operation.vary,
})

const factsOf = ({
  arrival,
  target,
  host,
  match: found,
  selected,
  language,
}: Admission): RequestFacts<Path> => ({
  request: arrival.request,
  target,
  host,
  method: toMethod(arrival.request.method) ?? selected.slot.method,
  scheme: arrival.scheme,
  id: arrival.id,
  language,
  client: arrival.client,
  match: found,
  candidate: selected.candidate,
})

const WITH_BODY: ReadonlySet<Method> = new Set(['post', 'put', 'patch'])

/** authenticate → Accept → Content-Type → declared length. @throws GatewayError */
const checkAdmission = (admission: Admission, isAcceptable: boolean): void => {
  const { arrival, operation } = admission
  const { head } = arrival
  if (operation.security.type !== 'anonymous' && operation.method !== 'options') {
    const { refusal } = authenticate(operation.security, operation.version.realmUri)
    if (refusal !== undefined) throw refusal
  }
  if (operation.checksAccept && !isAcceptable) throw notAcceptable(servedBy(operation))
  if (!hasBody(head)) return
  if (WITH_BODY.has(operation.method)) checkContentType(head, operation)
  checkDeclaredLength(head, operation.bodyLimits)
}

const servedBy = ({ offers, events }: PreparedOperation): readonly string[] =>
  events === undefined ? offers : [...offers, EVENT_STREAM]

/** Whether events are what it will be, the action decides. */
const takesEvents = ({ events, offers }: PreparedOperation, accept: string | undefined): boolean =>
  events !== undefined && rateEventStream(accept, offers) !== 'refused'

const checkContentType = (head: RequestHead, operation: PreparedOperation): void => {
  const goesUnread = operation.forwardsBody && !operation.needs.body
  if (head.contentType === undefined && goesUnread) return
  if (isAcceptedType(head.contentType, operation.accepts)) return
  throw new GatewayError(
    'svc.error.unsupported_media_type',
    head.contentType === undefined
      ? 'The body has no Content-Type'
      : 'Bodies of this Content-Type are not taken here',
    { description: `This operation takes ${operation.accepts.join(', ')}.` },
  )
}

/**
 * A body is awaited, within its limits, before the action: kept where something reads it, else counted. It is
 * left to the forward action where it goes upstream unread.
 */
const needsBody = ({ arrival, operation }: Admission): boolean => {
  if (!hasBody(arrival.head)) return false
  return !operation.forwardsBody || operation.needs.body || operation.needs.bodyLength
}

const readThenPerform = ({ arrival, operation }: Admission, exchange: HttpExchange): void => {
  const { head, request } = arrival
  const keep = operation.needs.body || operation.forwardsBody
  readBody(request, { limits: operation.bodyLimits, keep }, (outcome, bytes, length) => {
    if (outcome === 'gone') {
      exchange.abandon()
      return
    }
    if (outcome !== undefined) {
      refuse(exchange, outcome)
      return
    }
    try {
      exchange.context.request.body_length = length
      takeBody(exchange, head, bytes)
    } catch (error) {
      refuse(exchange, error)
      return
    }
    perform(exchange)
  })
}

const takeBody = (exchange: HttpExchange, head: RequestHead, bytes: Buffer): void => {
  const { operation, context } = exchange
  const view = context.request
  if (operation.forwardsBody) exchange.rawBody = bytes
  if (!operation.needs.body || bytes.length === 0) return
  const isKnown = isAcceptedType(head.contentType, operation.accepts)
  if (isKnown || WITH_BODY.has(operation.method))
    view.body = decodeBody(head.contentType ?? '', bytes)
}

const perform = (exchange: HttpExchange): void => {
  const { operation, contentType } = exchange
  try {
    if (operation.isFixed && !operation.fixed.has(contentType))
      operation.fixed.set(contentType, fixAnswer(renderResult(exchange), exchange.envelope))
    operation.perform(exchange)
  } catch (error) {
    refuse(exchange, error)
  }
}

const refuse = (exchange: HttpExchange, error: unknown): void => {
  exchange.refuse(error instanceof Error ? error : new Error(String(error)))
}
