// Handles one request from its match to its response: what dispatch knows of it, and where its action reports to. It
// turns results into exactly one response, whichever comes first.

import { upstreamUri } from '../actions/failure.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { canFail, needsRouter } from '../../language/compile/action.ts'
import { type ContentType, EVENT_STREAM, rateEventStream } from '../../language/routes/negotiate.ts'
import { WORK } from '../../language/expression/functions/spend.ts'
import { ExpressionError } from '../../language/expression/errors.ts'
import type { RefusingPlace } from '../../language/failing-place.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import { failureOfExpression, type RequestFailure } from '../actions/request-failure.ts'
import type {
  ActionError,
  ByteSink,
  EventSink,
  Exchange,
  StreamHead,
  SwitchedPeer,
} from '../actions/performer.ts'
import type { Authority } from '../../language/routes/authority.ts'
import { Context } from '../context.ts'
import { viewError } from './action-error.ts'
import { type Negotiated, renderRefusal } from './refusal.ts'
import { countedRefusal, notAcceptable, statusOf, toClientError, toGatewayError } from './errors.ts'
import { EventOutput } from './sse/writer.ts'
import { HttpEventSink, type StreamEnd } from './sse/stream.ts'
import type { EventStreams } from './sse/registry.ts'
import type { PreparedOperation } from './prepared-operation.ts'
import { checkResult, countUnchecked } from './result-check.ts'
import { planEvents, planStream, renderFailure, renderSuccess } from './render-result.ts'
import type { Holding, MemoryBudget } from '../memory/memory-budget.ts'
import type { GatewayError } from '../gateway-error.ts'
import type { RenderedResponse } from './response/plan.ts'
import { CLIENT_WENT_AWAY, type Settlement } from './settlement.ts'
import type { IncomingRequest } from './incoming-request.ts'
import type { OnUnexpected, ReportOptions } from './report.ts'
import { holdBacklog } from './response/backlog.ts'
import { createByteSink } from './response/upstream-body.ts'
import type { Envelope } from './response/own-headers.ts'
import { placeOfClient } from './client-place.ts'
import { headerOf, type HeaderList } from './response/headers.ts'
import { isOpenEventStream } from './response/pass-through.ts'
import {
  beLastOnConnection,
  type FramedHead,
  writeEarlyHints,
  writeResponse,
  writeEventHead,
  writeStreamHead,
} from './response/write-response.ts'
import type { WebSocketOffer } from '../web-socket-switch.ts'
import type { IsScarce } from '../least-rate.ts'
import type { Turns } from '../turns.ts'
import { asError } from '../../base/thrown.ts'

/** What is called when requests end, and where they are known while they are in progress. */
export interface ExchangeObserver extends Pick<ReportOptions, 'onResult'> {
  /** Called once per request, when its response has ended. */
  settled(exchange: HttpExchange, settlement: Settlement): void
  /** Called for an unexpected error: the client gets the request id and nothing else. */
  readonly unexpected: OnUnexpected
  /** The registry of open event streams. */
  readonly streams: EventStreams
  readonly memory: MemoryBudget
  /** Whether memory or connections are short; if left out, never. */
  readonly isScarce: IsScarce | undefined
  readonly turns: Turns
}

export class HttpExchange implements Exchange {
  readonly context = new Context()
  readonly incomingRequest: IncomingRequest
  readonly incoming: IncomingMessage
  readonly response: ServerResponse
  readonly operation: PreparedOperation
  readonly envelope: Envelope
  readonly contentType: ContentType
  readonly authority: Authority
  rawBody: Buffer | undefined = undefined
  readonly #observer: ExchangeObserver
  readonly #matched: Negotiated['matched']
  #memory: Holding | undefined = undefined
  #isSettled = false
  /** Its responses are rendered in turns. */
  #isHeavy = false
  #isInTurn = false
  /** It has a result, which waits for its turn. */
  #isResponding = false
  /** Something was done for the request outside the gateway. */
  #hasActed = false
  #why: RequestFailure | undefined = undefined
  #place: RefusingPlace | undefined = undefined
  #cancel: (() => void) | undefined = undefined
  #watchesClient = false
  /** Takes the body of a response that passes through. */
  #sink: ByteSink | undefined = undefined
  /** What a response that was cut off counts as. */
  #cutAs: Pick<Settlement, 'status' | 'refusal' | 'failure'> | undefined = undefined
  #events: HttpEventSink | undefined = undefined

  constructor(
    incomingRequest: IncomingRequest,
    operation: PreparedOperation,
    { envelope, contentType, matched }: Negotiated,
    observer: ExchangeObserver,
  ) {
    this.incomingRequest = incomingRequest
    this.incoming = incomingRequest.request
    this.authority = incomingRequest.head.authority
    this.response = incomingRequest.response
    this.operation = operation
    this.envelope = envelope
    this.contentType = contentType
    this.#matched = matched
    this.#observer = observer
    this.#memory = incomingRequest.body?.memory
    this.context.status_codes = operation.shape.statusCodes
  }

  get memory(): Holding {
    return (this.#memory ??= this.#observer.memory.open(this.incoming.socket))
  }

  defer(work: () => boolean): void {
    this.#isHeavy = true
    this.#observer.turns.run(this.operation.version.apiId, work)
  }

  /**
   * Does what takes long when it is the turn of this document, and again for as long as it returns true; no more once the
   * client has disconnected.
   */
  waitForTurn(work: () => boolean): void {
    this.onCancel(() => undefined)
    this.defer(() => {
      if (this.#isSettled) return false
      this.onCancel(undefined)
      this.#isInTurn = true
      const isMore = work()
      this.#isInTurn = false
      if (isMore) this.onCancel(() => undefined)
      return isMore
    })
  }

  succeed(result: ValueMap): void {
    if (this.#isSettled || this.#isResponding) return
    this.#hasActed = canFail({ type: this.operation.action })
    this.#render(() => {
      const invalid = checkResult(this, result, this.#observer.onResult)
      if (invalid === undefined) this.#respond(renderSuccess(this, result))
      else this.#respond(renderFailure(this, invalid), { failure: invalid.error_uri })
    })
  }

  /** What takes long waits for its turn, unless this is it. */
  #render(respond: () => void): void {
    const isHeavy = this.#isHeavy || this.operation.costlyRequests > 0
    if (!isHeavy || this.#isInTurn) {
      this.#renderNow(respond)
      return
    }
    this.#isResponding = true
    this.waitForTurn(() => {
      this.#isResponding = false
      this.#renderNow(respond)
      return false
    })
  }

  #renderNow(respond: () => void): void {
    try {
      respond()
    } catch (error) {
      this.refuse(asError(error))
    }
  }

  explain(failure: RequestFailure): void {
    this.#why = failure
  }

  fail(failure: ActionError): void {
    const name = this.#nameOf(failure)
    if (this.#isSettled) {
      const { status } = viewError(failure, this.operation.shape.statusCodes)
      this.#cut(
        new Error(failure.message),
        name === undefined ? { status } : { status, failure: name },
      )
      return
    }
    if (this.#isResponding) return
    this.#hasActed = true
    this.#render(() => {
      this.#respond(renderFailure(this, failure), name === undefined ? {} : { failure: name })
    })
  }

  refuse(error: Error): void {
    const known =
      (this.#hasActed ? undefined : toClientError(error)) ??
      toGatewayError(error, this.envelope.requestId)
    if (this.#isSettled) {
      this.#events?.refuse(error)
      this.#cut(error, { status: statusOf(known), refusal: known.code })
      return
    }
    if (this.#isResponding) return
    if (error instanceof ExpressionError) this.#explainExpression(error)
    if (known.code === 'svc.error.internal')
      this.#observer.unexpected(error, this.envelope.requestId, this.incoming)
    this.#respond(this.#renderRefusal(known), countedRefusal(known))
  }

  #renderRefusal(error: GatewayError): RenderedResponse {
    const { path: speaker, version, shape } = this.operation
    const headers = shape.headers.writeWhatIsKnown(this.context)
    const wording = { ...this.#matched, speaker, version, headers, left: this.context }
    const { rendered, failed } = renderRefusal(error, this, wording)
    if (failed instanceof ExpressionError) this.#why ??= failureOfExpression(failed)
    else if (failed !== undefined)
      this.#observer.unexpected(failed, this.envelope.requestId, this.incoming)
    return rendered
  }

  /** The client does not get this text. */
  #explainExpression(error: ExpressionError): void {
    this.#why = failureOfExpression(error)
    this.#place = error.place
  }

  /** With a response that a step has given. */
  answer(rendered: RenderedResponse): void {
    this.#respond(rendered)
  }

  stream(head: StreamHead): ByteSink | undefined {
    if (this.#isSettled || this.#isResponding || this.#sink !== undefined) return undefined
    this.#hasActed = true
    if (head.statusCode < 400) countUnchecked(this, this.#observer.onResult)
    let plan: FramedHead
    try {
      plan = planStream(this, head, this.#isHead)
    } catch (error) {
      this.refuse(asError(error))
      return undefined
    }
    const isEvents = plan.framing.hasBody && isOpenEventStream(plan.headers)
    const sink = createByteSink(this.response, plan.framing, {
      begin: () => this.#begin(plan, isEvents),
      onEnd: (bytes) => {
        this.#cancel = undefined
        const failed = head.statusCode >= 400 && { failure: upstreamUri(head.statusCode) }
        this.#settled({ status: plan.status, ...failed, ...this.#cutAs, bytes })
      },
    })
    this.#sink = sink
    return isEvents ? this.#followEvents(sink) : sink
  }

  get webSocket(): WebSocketOffer | undefined {
    return this.incomingRequest.upgrade?.offer
  }

  switchTo(peer: SwitchedPeer): void {
    const isOver = this.#isSettled || this.#isResponding
    if (isOver || this.incomingRequest.upgrade?.open(peer, this) !== true) {
      peer.socket.destroy()
      this.abandon()
    } else {
      this.#isSettled = true
      countUnchecked(this, this.#observer.onResult)
      this.#settled({ status: 101, bytes: 0 })
    }
  }

  /** `Link` fields pass as they do in a response that passes through; HTTP/1.0 has no interim responses (RFC 9110 §15.2). */
  hintEarly(headers: HeaderList): void {
    const { shape } = this.operation
    if (this.#isSettled || this.incoming.httpVersionMinor === 0 || shape.replacesHeaders) return
    const own = shape.headers.writeWhatIsKnown(this.context)
    if (headerOf(own, 'link') === undefined) writeEarlyHints(this.response, headers)
  }

  /** Writes the head of a response that passes through; until then the request may still fail. */
  #begin(plan: FramedHead, isEvents: boolean): boolean {
    // It may have failed since, and its error wait for a turn.
    if (this.#isSettled || this.#isResponding) return false
    try {
      if (isEvents) beLastOnConnection(this.response)
      writeStreamHead(this.response, plan, this.envelope)
    } catch (error) {
      const cancel = this.#cancel
      this.refuse(asError(error))
      cancel?.()
      return false
    }
    this.#isSettled = true
    return true
  }

  /** Ends a response that passes through and cannot become another one any more. */
  #cut(cause: Error, counted: Pick<Settlement, 'status' | 'refusal' | 'failure'>): void {
    this.#cutAs ??= counted
    this.#sink?.destroy(cause)
  }

  /** Event streams that pass through have no end of their own either: they end in order when the gateway does. */
  #followEvents(sink: ByteSink): ByteSink | undefined {
    const { streams } = this.#observer
    if (streams.isEnding) {
      sink.end()
      return undefined
    }
    const open = {
      beat: () => undefined,
      shutDown: () => {
        const cancel = this.#cancel
        sink.end()
        cancel?.()
      },
    }
    streams.add(open)
    this.response.once('close', () => {
      streams.remove(open)
    })
    return sink
  }

  get from(): string | undefined {
    return placeOfClient(this.incomingRequest)
  }

  get eventStreams(): Exchange['eventStreams'] {
    if (!this.operation.shape.hasEvents) return 'refused'
    return rateEventStream(this.incomingRequest.head.accept, this.operation.shape.offers)
  }

  events(result: ValueMap): EventSink | undefined {
    if (this.#isSettled || this.#isResponding) return undefined
    this.#hasActed = true
    countUnchecked(this, this.#observer.onResult)
    if (this.response.destroyed) {
      this.abandon()
      return undefined
    }
    try {
      return this.#openEvents(result)
    } catch (error) {
      this.refuse(asError(error))
      return undefined
    }
  }

  onCancel(cancel: (() => void) | undefined): void {
    this.#cancel = cancel
    if (cancel !== undefined) this.#watchClient()
  }

  #watchClient(): void {
    if (this.#watchesClient) return
    this.#watchesClient = true
    this.response.once('close', () => {
      this.#events?.abandon()
      const pending = this.#cancel
      this.#cancel = undefined
      if (pending === undefined) return
      pending()
      if (this.#isSettled) this.#sink?.destroy(new Error('the client went away'))
      else this.abandon()
    })
  }

  /** The client has disconnected: nothing more is written. */
  abandon(): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#settled({ status: CLIENT_WENT_AWAY, bytes: 0 })
  }

  /** @throws ExpressionError, or node's error for a header; nothing has been written then */
  #openEvents(result: ValueMap): EventSink | undefined {
    const { context, operation, response } = this
    const { streams } = this.#observer
    const plan = operation.events()
    if (plan === undefined) throw new TypeError('this action makes no events')
    if (this.eventStreams === 'refused') throw notAcceptable([EVENT_STREAM])
    const head = planEvents(this, result, this.#isHead)
    const isHeadOnly = !head.framing.hasBody
    if (plan.isEndless && !isHeadOnly) beLastOnConnection(response)
    writeEventHead(response, head, this.envelope)
    this.#isSettled = true
    const sink = new HttpEventSink({
      output: new EventOutput(response, streams.memory),
      plan,
      context,
      statusCodes: operation.shape.statusCodes,
      streams,
      requestId: this.envelope.requestId,
      onEnd: (end) => {
        this.#settleEvents(head.status, end)
      },
    })
    this.#events = sink
    this.#watchClient()
    if (!isHeadOnly && !(plan.isEndless && streams.isEnding)) return sink
    this.#cancel = undefined
    if (isHeadOnly) sink.end()
    else sink.shutDown()
    return undefined
  }

  get #isHead(): boolean {
    return this.incoming.method === 'HEAD'
  }

  #settleEvents(status: number, { by, bytes, refusal, error }: StreamEnd): void {
    const cancel = this.#cancel
    if (by === 'action' || by === 'shutdown') this.#cancel = undefined
    if (error instanceof ExpressionError) this.#explainExpression(error)
    if (refusal === 'svc.error.internal')
      this.#observer.unexpected(error, this.envelope.requestId, this.incoming)
    this.#settled(refusal === undefined ? { status, bytes } : { status, bytes, refusal })
    if (by === 'shutdown') cancel?.()
  }

  /** The URI of an error, unless a peer has made it up: its text could be anything. */
  #nameOf({ error_uri: uri }: ActionError): string | undefined {
    const { action, version } = this.operation
    const isKnown = !needsRouter({ type: action }) || Object.hasOwn(version.statusCodes, uri)
    return isKnown ? uri : undefined
  }

  #respond(rendered: RenderedResponse, counted: Omit<Settlement, 'status' | 'bytes'> = {}): void {
    this.#isSettled = true
    this.#cancel = undefined
    const bytes = writeResponse(this.response, rendered, this.envelope, this.#isHead)
    this.#settled({ status: rendered.status, bytes, ...counted })
  }

  #settled(settlement: Settlement): void {
    this.#noteCost()
    holdBacklog(this.response, this.#observer.memory, this.#memory)
    const why = this.#why
    const place =
      this.#place ??
      settlement.place ??
      (why && why.reason !== 'expression' ? PLACE_OF_ACTION : undefined)
    this.#observer.settled(this, { ...settlement, ...(why && { why }), ...(place && { place }) })
  }

  /** A request that took much work makes the next ones of its operation wait for turns, whatever their bodies are. */
  #noteCost(): void {
    const { operation, context } = this
    if (WORK - (context.work ?? WORK) > COSTLY_WORK) operation.costlyRequests = TAKEN_FOR_COSTLY
    else if (operation.costlyRequests > 0) operation.costlyRequests--
  }
}

/** The place of an action that has failed at its peer. */
const PLACE_OF_ACTION: RefusingPlace = { member: '/action' }

/** Some 6 ms. */
const COSTLY_WORK = 2 ** 22
const TAKEN_FOR_COSTLY = 100
