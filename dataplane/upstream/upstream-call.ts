// Sends one request on a connection of its origin's pool, between the HTTP client and the caller's sink. Every end
// passes through `onResponseEnd` or `#fail` exactly once, and connection and slot are released before the sink is
// called.

import type { Readable } from 'node:stream'
import type { Deadlines, Timed } from '../deadlines.ts'
import { classifyFailure } from './failure.ts'
import type { Connection } from './connection.ts'
import type { Endpoint } from './endpoints/endpoint-set.ts'
import { blameOf, failureOf } from './endpoints/failure-blame.ts'
import { causeOf } from './failure-cause.ts'
import type { Exchange, ResponseHandler } from './http1/exchange.ts'
import type { Limiter } from './limiter.ts'
import type { OriginPool } from './origin-pool.ts'
import {
  type SwitchedConnection,
  UpstreamError,
  type UpstreamCall,
  type UpstreamFailure,
  type UpstreamRequest,
  type UpstreamSink,
} from './upstream.ts'

type Phase = 'connecting' | 'sending' | 'waiting' | 'reading' | 'over'

const NOT_REACHABLE = 'The upstream could not be reached.'
const TOO_SLOW = 'The upstream did not answer in time.'
const INVALID_RESPONSE = 'The upstream sent an invalid response.'

/**
 * The text of each failure for the client, one of four: what lies behind the gateway is no concern of strangers. The log
 * says more (`actions/request-failure.ts`).
 */
export const FAILURE_MESSAGES = {
  overloaded: 'Too many requests are waiting for this upstream.',
  refused: NOT_REACHABLE,
  denied: NOT_REACHABLE,
  connect_timeout: TOO_SLOW,
  timeout: TOO_SLOW,
  reset: INVALID_RESPONSE,
  malformed: INVALID_RESPONSE,
  aborted: INVALID_RESPONSE,
} as const satisfies Record<UpstreamFailure, string>

export interface CallTools {
  readonly deadlines: Deadlines
  /** The limiter of the version's pool, one slot of which the call has and releases; undefined: it needs none. */
  readonly limiter: Limiter | undefined
}

export class DispatchedCall implements ResponseHandler, UpstreamCall, Timed {
  due = 0
  slot = -1
  readonly #request: UpstreamRequest
  #body: Uint8Array | Readable | null
  readonly #sink: UpstreamSink
  readonly #pool: OriginPool
  #connection: Connection
  readonly #deadlines: Deadlines
  readonly #limiter: Limiter | undefined
  #phase: Phase = 'connecting'
  #exchange: Exchange | undefined
  #responseBegun = false
  #isDispatching = false

  constructor(
    request: UpstreamRequest,
    sink: UpstreamSink,
    pool: OriginPool,
    { deadlines, limiter }: CallTools,
  ) {
    this.#request = request
    this.#body = openBody(request)
    this.#sink = sink
    this.#pool = pool
    this.#connection = pool.take(request, request.webSocket !== undefined)
    this.#deadlines = deadlines
    this.#limiter = limiter
  }

  /** The sink is not called before this has returned. */
  dispatch(): this {
    this.#deadlines.add(this)
    this.#dispatchOn(this.#connection)
    return this
  }

  #dispatchOn({ client }: Connection): void {
    const { method, path, headers, hostHeader, contentLength, connectTimeoutMs, webSocket } =
      this.#request
    const body = this.#body
    this.due = this.#deadlines.dueIn(connectTimeoutMs)
    this.#isDispatching = true
    const framedAs = isStream(body) ? contentLength : undefined
    client.dispatch(
      { method, path, headers, hostHeader, body, contentLength: framedAs, webSocket },
      this,
    )
    this.#isDispatching = false
  }

  get endpoint(): Endpoint | undefined {
    return this.#connection.endpoint
  }

  abort(): void {
    this.#fail('aborted')
  }

  resume(): void {
    if (this.#phase === 'over') return
    this.#extend()
    this.#exchange?.resume()
  }

  recycle(): void {
    if (this.#phase === 'reading') this.#exchange?.recycle()
  }

  expire(): void {
    if (this.#phase === 'connecting') this.#fail('connect_timeout')
    else if (this.#waitsForOurBody()) this.#extend()
    else this.#fail('timeout')
  }

  onRequestStart(exchange: Exchange): boolean {
    // Aborted while it connected, but the connection was faster.
    if (this.#phase === 'over') return false
    this.#exchange = exchange
    this.#phase = 'sending'
    this.#extend()
    return true
  }

  onBodySent(): void {
    if (this.#phase === 'sending') this.#extend()
  }

  onRequestSent(): void {
    if (this.#phase !== 'sending') return
    this.#phase = 'waiting'
    this.#extend()
  }

  onResponseStarted(): void {
    this.#responseBegun = true
  }

  onEarlyHints(headers: readonly string[]): void {
    if (this.#phase !== 'over') this.#sink.onEarlyHints?.(headers)
  }

  onResponseHead(statusCode: number, headers: readonly string[]): void {
    if (this.#phase === 'over') return
    this.#phase = 'reading'
    this.#extend()
    this.#pool.onStatus(this.#connection, statusCode)
    this.#sink.onHead(statusCode, headers)
  }

  onSwitched(switched: SwitchedConnection): void {
    const connection = this.#connection
    connection.socket = undefined
    if (this.#phase === 'over') {
      switched.socket.destroy()
      return
    }
    this.#phase = 'over'
    this.#deadlines.remove(this)
    this.#pool.onStatus(connection, 101)
    this.#pool.drop(connection)
    this.#limiter?.release(this.#request.from)
    this.#sink.onSwitched?.(switched)
  }

  onResponseData(chunk: Buffer): boolean {
    if (this.#phase === 'over') return true
    this.#extend()
    if (this.#sink.onData(chunk)) return true
    // A slow client is not the upstream's fault: there is no deadline while we do not read.
    this.due = 0
    return false
  }

  onResponseEnd(): void {
    if (this.#phase === 'over') return
    this.#phase = 'over'
    this.#deadlines.remove(this)
    this.#closeBody()
    this.#pool.giveBack(this.#connection)
    this.#limiter?.release(this.#request.from)
    this.#sink.onEnd()
  }

  onResponseError(error: Error): void {
    this.#fail(classifyFailure(error, this.#exchange !== undefined), error)
  }

  #fail(failure: UpstreamFailure, cause?: Error): void {
    if (this.#phase === 'over') return
    const connection = this.#connection
    const fault = failureOf({ failure, cause, request: this.#request, connection })
    const isStale = fault === 'reset' && connection.isReused && !this.#responseBegun
    const isSentAgain = isStale && this.#sink.onStale?.() === true
    this.#phase = 'over'
    const error = new UpstreamError(failure, FAILURE_MESSAGES[failure], this.#responseBegun, cause)
    if (fault !== undefined) this.#pool.assess(connection, fault)
    this.#exchange?.abort()
    this.#closeBody()
    this.#recordFailure(failure, fault, cause)
    if (isSentAgain) {
      this.#sendAgain()
      return
    }
    this.#deadlines.remove(this)
    this.#pool.drop(connection)
    // The next request must not start while the client is in the middle of this one.
    if (this.#isDispatching) {
      queueMicrotask(() => {
        this.#reject(error)
      })
    } else this.#reject(error)
  }

  #recordFailure(
    failure: UpstreamFailure,
    fault: ReturnType<typeof failureOf>,
    cause: Error | undefined,
  ): void {
    const blame = blameOf(failure, fault)
    this.#pool.record.onFailure(
      causeOf(failure, cause),
      // A client certificate that the upstream does not accept is no fault of the upstream for others.
      blame === 'shared' && this.#request.tls !== undefined ? 'realm' : blame,
      this.#request.realm,
    )
  }

  /** On a new connection, with the slot that it has. */
  #sendAgain(): void {
    const dead = this.#connection
    this.#connection = this.#pool.take(this.#request, true)
    // Later: the pool must not be empty in between.
    this.#pool.drop(dead)
    this.#phase = 'connecting'
    this.#exchange = undefined
    this.#body = openBody(this.#request)
    this.#dispatchOn(this.#connection)
  }

  #reject(error: UpstreamError): void {
    this.#limiter?.release(this.#request.from)
    this.#sink.onError(error)
  }

  /** A client that has not sent it leaves it as it is, and its source would wait for ever to be read. */
  #closeBody(): void {
    if (isStream(this.#body)) this.#body.destroy()
  }

  #extend(): void {
    this.due = this.#deadlines.dueIn(this.#request.timeoutMs)
  }

  /** The source of the body is slow, while the upstream could read more: this time does not count as the upstream's. */
  #waitsForOurBody(): boolean {
    const body = this.#body
    return this.#phase === 'sending' && isStream(body) && !body.isPaused()
  }
}

const openBody = ({ body }: UpstreamRequest): Uint8Array | Readable | null =>
  typeof body === 'function' ? body() : body

const isStream = (body: Uint8Array | Readable | null): body is Readable =>
  body !== null && !(body instanceof Uint8Array)
