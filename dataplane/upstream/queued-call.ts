// Lets a request wait for a permit of its version's pool (`pool_size`), then passes it to its dispatcher. Most requests
// find one free and never come here.

import type { Endpoint } from './endpoints/endpoint-set.ts'
import type { Limiter, Waiting } from './limiter.ts'
import {
  UpstreamError,
  type UpstreamCall,
  type UpstreamFailure,
  type UpstreamRequest,
  type UpstreamSink,
} from './upstream.ts'
import { FAILURE_MESSAGES } from './upstream-call.ts'

/** @param limiter has granted a permit, which is released when the request is over; undefined: it needs none */
export type Dispatch = (
  request: UpstreamRequest,
  sink: UpstreamSink,
  limiter: Limiter | undefined,
) => UpstreamCall

export class QueuedCall implements UpstreamCall, Waiting {
  readonly from: string | undefined
  readonly #request: UpstreamRequest
  readonly #sink: UpstreamSink
  readonly #limiter: Limiter
  readonly #dispatch: Dispatch
  /** Set once a permit was granted. */
  #call: UpstreamCall | undefined
  #isOver = false

  constructor(request: UpstreamRequest, sink: UpstreamSink, limiter: Limiter, dispatch: Dispatch) {
    this.from = request.from
    this.#request = request
    this.#sink = sink
    this.#limiter = limiter
    this.#dispatch = dispatch
  }

  enqueue(): this {
    if (this.#limiter.enqueue(this, this.#request.connectTimeoutMs)) return this
    // The sink is not called before `send` has returned.
    queueMicrotask(() => {
      this.onRefused()
    })
    return this
  }

  onGranted(): void {
    this.#call = this.#dispatch(this.#request, this.#sink, this.#limiter)
  }

  onRefused(): void {
    this.#fail('overloaded')
  }

  abort(): void {
    if (this.#call !== undefined) {
      this.#call.abort()
      return
    }
    this.#limiter.withdraw(this)
    this.#fail('aborted')
  }

  resume(): void {
    this.#call?.resume()
  }

  recycle(): void {
    this.#call?.recycle?.()
  }

  get endpoint(): Endpoint | undefined {
    return this.#call?.endpoint
  }

  #fail(failure: UpstreamFailure): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#sink.onError(new UpstreamError(failure, FAILURE_MESSAGES[failure], false))
  }
}
