// One request on its way: what dispatch knows of it, and where its action reports to. Turns every outcome
// into exactly one response, whichever comes first.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ContentType } from '../../spec/compiled.ts'
import type { ValueMap } from '../../spec/expression/value.ts'
import type {
  ActionError,
  ByteSink,
  EventSink,
  Exchange,
  StreamHead,
} from '../actions/performer.ts'
import { Context } from '../context.ts'
import type { GatewayErrorCode } from '../gateway-error.ts'
import { headerMap } from '../header-map.ts'
import { viewError } from './action-error.ts'
import { errorAnswer, notAcceptable, recordBody, toGatewayError } from './errors.ts'
import { EventOutput } from './event-output.ts'
import { HttpEventSink, type StreamEnd } from './event-sink.ts'
import type { EventStreams } from './event-streams.ts'
import { EVENT_STREAM, rateEventStream } from './negotiate.ts'
import type { PreparedOperation } from './prepared-operation.ts'
import { headerOf, type HeaderList } from './response-headers.ts'
import { type Answer, type EncodedBody, type ResponsePlan, successStatus } from './response-plan.ts'
import type { Arrival } from './arrival.ts'
import { createByteSink } from './byte-sink.ts'
import { toLocation } from './location.ts'
import { mergeStreamHeaders } from './pass-through.ts'
import type { Settlement } from './report.ts'
import {
  type Envelope,
  hasNoBody,
  writeAnswer,
  writeEventHead,
  writeStreamHead,
} from './write-answer.ts'

/** Who is told what becomes of requests, and where they are known while they last. */
export interface ExchangeObserver {
  /** Told once per request, when its answer is settled. */
  settled(exchange: HttpExchange, settlement: Settlement): void
  /** A fault of the gateway's own: the client learns its request id and nothing else. */
  unexpected(error: unknown, requestId: string): void
  /** Open streams of events. */
  readonly streams: EventStreams
}

/** Counted, never sent: what nginx counts for a client that did not wait. */
const CLIENT_WENT_AWAY = 499

export class HttpExchange implements Exchange {
  readonly context = new Context()
  readonly arrival: Arrival
  readonly incoming: IncomingMessage
  readonly response: ServerResponse
  readonly operation: PreparedOperation
  readonly envelope: Envelope
  readonly contentType: ContentType
  rawBody: Buffer | undefined = undefined
  readonly #observer: ExchangeObserver
  #isSettled = false
  #cancel: (() => void) | undefined = undefined
  #watchesClient = false
  #sink: ByteSink | undefined = undefined
  #events: HttpEventSink | undefined = undefined

  constructor(
    arrival: Arrival,
    operation: PreparedOperation,
    negotiated: { readonly envelope: Envelope; readonly contentType: ContentType },
    observer: ExchangeObserver,
  ) {
    this.arrival = arrival
    this.incoming = arrival.request
    this.response = arrival.response
    this.operation = operation
    this.envelope = negotiated.envelope
    this.contentType = negotiated.contentType
    this.#observer = observer
    this.context.status_codes = operation.version.statusCodes
  }

  succeed(result: ValueMap): void {
    if (this.#isSettled) return
    const { operation, context } = this
    context.action = { result }
    const upstream = operation.isForward ? result['status_code'] : undefined
    try {
      this.#answer(
        this.#render(operation.onResult, typeof upstream === 'number' ? upstream : undefined),
      )
    } catch (error) {
      this.refuse(asError(error))
    }
  }

  fail(error: ActionError): void {
    if (this.#isSettled) return
    const { status, message, ...action } = viewError(error, this.operation.version.statusCodes)
    this.context.action = action
    const plan = this.operation.onError?.()
    try {
      this.#answer(
        plan === undefined
          ? this.#errorRecord(error, message, status)
          : this.#renderError(plan, error.error_uri, status),
      )
    } catch (cause) {
      this.refuse(asError(cause))
    }
  }

  refuse(error: Error): void {
    if (this.#isSettled) {
      this.#events?.refuse(error)
      return
    }
    const known = toGatewayError(error)
    if (known.code === 'svc.error.internal')
      this.#observer.unexpected(error, this.envelope.requestId)
    const headers = this.operation.headers.writeWhatIsKnown(this.context)
    this.#answer(errorAnswer(known, this.contentType, headers), known.code)
  }

  stream(head: StreamHead): ByteSink | undefined {
    if (this.#isSettled) return undefined
    let plan: { readonly status: number; readonly headers: HeaderList }
    try {
      plan = this.#planStream(head)
      writeStreamHead(this.response, plan.status, plan.headers, this.envelope)
    } catch (error) {
      this.refuse(asError(error))
      return undefined
    }
    this.#isSettled = true
    const contentLength = headerOf(plan.headers, 'content-length')
    this.#sink = createByteSink(this.response, contentLength, (bytes) => {
      this.#cancel = undefined
      this.#observer.settled(this, { status: plan.status, bytes })
    })
    return this.#sink
  }

  get eventStreams(): Exchange['eventStreams'] {
    return rateEventStream(this.arrival.head.accept, this.operation.offers)
  }

  events(result: ValueMap): EventSink | undefined {
    if (this.#isSettled) return undefined
    let status: number
    try {
      status = this.#writeEventHead(result)
    } catch (error) {
      this.refuse(asError(error))
      return undefined
    }
    this.#isSettled = true
    if (this.incoming.method === 'HEAD' || hasNoBody(status)) {
      this.#cancel = undefined
      this.response.end()
      this.#observer.settled(this, { status, bytes: 0 })
      return undefined
    }
    return this.#openEvents(status)
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
      if (this.#sink !== undefined) this.#sink.destroy(new Error('the client went away'))
      else this.abandon()
    })
  }

  /** The client has gone: nothing is written any more. */
  abandon(): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#observer.settled(this, { status: CLIENT_WENT_AWAY, bytes: 0 })
  }

  /** @throws ExpressionError */
  renderResult(): Answer {
    return this.#render(this.operation.onResult, undefined)
  }

  #render(plan: ResponsePlan, upstream: number | undefined): Answer {
    const { context } = this
    const headers = plan.headers.write(context)
    const encoded = plan.body(context, this.contentType, headers)
    const uri = plan.uri(context)
    const status =
      plan.status(context) ??
      successStatus(this.operation.method, uri, encoded.bytes.length > 0, upstream)
    return toAnswer(status, withLocation(headers, uri, this.operation.method), encoded)
  }

  #renderError(plan: ResponsePlan, errorUri: string, status: number): Answer {
    const { context } = this
    const headers = plan.headers.write(context)
    const encoded = plan.body(context, this.contentType, headers)
    const own = plan.status(context) ?? plan.statusOfBody(context)
    return toAnswer(own ?? status, withRetryAfter(headers, errorUri), encoded)
  }

  #errorRecord(error: ActionError, message: string, status: number): Answer {
    const headers = this.operation.headers.writeWhatIsKnown(this.context)
    return {
      status,
      headers: withRetryAfter(headers, error.error_uri),
      ...recordBody(error.error_uri, message, '', this.contentType),
    }
  }

  #planStream(head: StreamHead): { readonly status: number; readonly headers: HeaderList } {
    const { context, operation } = this
    const { onResult, readsAction } = operation
    context.action = {
      result: {
        status_code: head.statusCode,
        headers: readsAction ? headerMap(head.headers) : {},
        uri: headerOf(head.headers, 'location') ?? '',
      },
    }
    const own = onResult.headers.write(context)
    const status = onResult.status(context) ?? head.statusCode
    const headers = mergeStreamHeaders(status, {
      upstream: head.headers,
      own,
      replaces: operation.replacesHeaders,
    })
    return { status, headers: withLocation(headers, onResult.uri(context), operation.method) }
  }

  #writeEventHead(result: ValueMap): number {
    const { context, operation } = this
    const { onResult } = operation
    if (this.eventStreams === 'refused') throw notAcceptable([EVENT_STREAM])
    context.action = { result }
    const headers = onResult.headers.write(context)
    const status = onResult.status(context) ?? 200
    const located = withLocation(headers, onResult.uri(context), operation.method)
    writeEventHead(this.response, status, located, this.envelope)
    return status
  }

  #openEvents(status: number): EventSink | undefined {
    const { context, operation, response } = this
    const { streams } = this.#observer
    if (operation.events === undefined) throw new TypeError('this action makes no events')
    const sink = new HttpEventSink({
      output: new EventOutput(response),
      plan: operation.events(),
      context,
      statusCodes: operation.version.statusCodes,
      streams,
      onEnd: (end) => {
        this.#settleEvents(status, end)
      },
    })
    this.#events = sink
    this.#watchClient()
    if (!streams.isEnding) return sink
    this.#cancel = undefined
    sink.shutDown()
    return undefined
  }

  #settleEvents(status: number, { by, bytes, refusal, error }: StreamEnd): void {
    const cancel = this.#cancel
    if (by === 'action' || by === 'shutdown') this.#cancel = undefined
    if (refusal === 'svc.error.internal') this.#observer.unexpected(error, this.envelope.requestId)
    this.#observer.settled(
      this,
      refusal === undefined ? { status, bytes } : { status, bytes, refusal },
    )
    if (by === 'shutdown') cancel?.()
  }

  #answer(answer: Answer, refusal?: GatewayErrorCode): void {
    this.#isSettled = true
    this.#cancel = undefined
    const isHead = this.incoming.method === 'HEAD'
    const bytes = writeAnswer(this.response, answer, this.envelope, isHead)
    const { status } = answer
    this.#observer.settled(
      this,
      refusal === undefined ? { status, bytes } : { status, bytes, refusal },
    )
  }
}

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(String(error))

const toAnswer = (status: number, headers: HeaderList, encoded: EncodedBody): Answer => ({
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
