// One forward from its exchange to its outcome: waits for a slot, sends, retries, and reports what
// came of it exactly once. Whatever holds resources is let go when the client is.

import { comesWithoutBody } from '../framing.ts'
import { headerMap } from '../header-map.ts'
import type { IsScarce } from '../least-rate.ts'
import { NO_MEMORY } from '../memory/no-memory.ts'
import { fromUpstream, hasForeignCoding } from '../upstream/headers.ts'
import type { Limiter, PoolScope, Ticket } from '../upstream/limiter.ts'
import { retryAfterMs } from '../upstream/retry-after.ts'
import type { RetryBudget } from '../upstream/retry-budget.ts'
import {
  createRetrier,
  isIdempotent,
  type AttemptOutcome,
  type Retrier,
  type RetryClock,
} from '../upstream/retry.ts'
import type { Upstream, UpstreamError, UpstreamRequest } from '../upstream/upstream.ts'
import { decodeAnswer } from './forward-answer.ts'
import { Attempt, type AttemptOwner } from './forward-attempt.ts'
import { answerError, failureError, gatewayError, type ForwardErrorUri } from './forward-failure.ts'
import type { StreamedBody } from './forward-incoming.ts'
import type { CallTimes } from './call-limits.ts'
import type { OutcomePlan } from './forward-outcome.ts'
import type { OutgoingRequest } from './forward-request.ts'
import type { Exchange } from './performer.ts'

/** Behaviour §2: a larger body is not sent a second time. */
export const REPLAYED_BYTES = 64 * 1024

export interface ForwardTools {
  readonly upstream: Upstream
  readonly scope: PoolScope
  readonly confinedTo?: string | undefined
  readonly realm?: string | undefined
  readonly retryBudget?: RetryBudget | undefined
  readonly clock: RetryClock
  readonly isScarce: IsScarce
  readonly outcome: OutcomePlan
}

/** A forward whose body is at hand, or can be opened. */
export interface ReadyRequest {
  readonly outgoing: OutgoingRequest
  readonly limits: CallTimes
  readonly body: Buffer | StreamedBody | null
  readonly contentLength: number | undefined
}

type Pairs = readonly (readonly [name: string, value: string])[]

export class Forwarding implements AttemptOwner, Ticket {
  readonly from: string | undefined
  readonly #exchange: Exchange
  readonly #tools: ForwardTools
  readonly #ready: ReadyRequest
  #limiter: Limiter
  readonly #retrier: Retrier | undefined
  #attempt: Attempt | undefined
  #isSettled = false
  #status = 0
  #headers: Pairs = []

  constructor(exchange: Exchange, tools: ForwardTools, ready: ReadyRequest) {
    this.from = exchange.from
    this.#exchange = exchange
    this.#tools = tools
    this.#ready = ready
    this.#limiter = tools.scope.limiterOf(ready.outgoing.origin)
    const { retries, retryTimeoutMs } = ready.limits
    if (retries > 0) {
      const policy = { retries, retryTimeoutMs, isIdempotent: isIdempotent(ready.outgoing.method) }
      const account = tools.retryBudget?.open(tools.realm, ready.outgoing.origin)
      this.#retrier = createRetrier(policy, tools.clock, account)
    }
  }

  start(): void {
    this.#exchange.onCancel(() => {
      this.#giveUp()
    })
    this.#enter()
  }

  /** The request is refused for what the client does: its body is too large or too slow. */
  refuse(fault: Error): void {
    if (this.#isSettled) return
    this.#giveUp(fault)
    this.#exchange.refuse(fault)
  }

  onGranted(): void {
    const { outgoing, limits, body, contentLength } = this.#ready
    const request: UpstreamRequest = {
      origin: outgoing.origin,
      method: outgoing.method,
      path: outgoing.path,
      headers: outgoing.headers,
      body: body === null || body instanceof Uint8Array ? body : body.open(),
      connectTimeoutMs: limits.connectTimeoutMs,
      timeoutMs: limits.timeoutMs,
      confinedTo: this.#tools.confinedTo,
      realm: this.#tools.realm,
      isNamed: outgoing.isNamed,
      after: this.#attempt?.call,
      ...(contentLength !== undefined && { contentLength }),
    }
    this.#attempt = new Attempt(this, this.#limiter, this.#exchange.memory).send(
      this.#tools.upstream,
      request,
    )
  }

  onRefused(): void {
    this.#failWith('svc.error.overloaded', 'Too many requests wait for this upstream.')
  }

  onHead(attempt: Attempt, statusCode: number, raw: readonly (string | Buffer)[]): void {
    if (this.#isRetried(answered(statusCode, raw))) {
      attempt.discard()
      return
    }
    const fault = faultOfHead(statusCode, raw)
    if (fault !== undefined) {
      attempt.abort()
      this.#failWith('svc.error.bad_gateway', fault)
      return
    }
    this.#status = statusCode
    this.#headers = fromUpstream(raw)
    const { passesThrough, readsResultBody, readsErrorBody } = this.#tools.outcome
    if (statusCode < 400 && passesThrough) this.#passOn(attempt)
    else if (statusCode < 400 ? readsResultBody : readsErrorBody) attempt.collect()
    else {
      attempt.discard()
      this.#report(this.#headers, '')
    }
  }

  onBody(bytes: Buffer): void {
    const { memory } = this.#exchange
    const options = { isLenient: this.#status >= 400, memory }
    decodeAnswer(this.#headers, bytes, options, (fault, answer) => {
      if (answer !== undefined) this.#report(answer.headers, answer.body)
      else if (fault === 'no memory') this.onNoMemory()
      else this.#failWith('svc.error.bad_gateway', fault?.message ?? '')
    })
  }

  onNoMemory(): void {
    this.#failWith('svc.error.overloaded', NO_MEMORY)
  }

  onTooLarge(): void {
    this.#failWith(
      'svc.error.bad_gateway',
      'The upstream sent a body that is too large to be read.',
    )
  }

  onPassed(): void {
    this.#settle()
  }

  isScarce(): boolean {
    return this.#limiter.isBusy || this.#tools.isScarce()
  }

  onTooSlow(): void {
    this.#giveUp(new Error('the client reads too slowly'))
  }

  onFailure(error: UpstreamError): void {
    const { failure, headSeen } = error
    if (this.#isRetried({ failure, headSeen })) return
    const { status_codes: statusCodes } = this.#exchange.context
    const outcome = failureError(failure, error.message, statusCodes)
    if (this.#settle()) this.#exchange.fail(outcome)
  }

  #enter(): void {
    // Before a retry the one that was left may have been forgotten.
    this.#limiter = this.#tools.scope.limiterOf(this.#ready.outgoing.origin)
    const entry = this.#limiter.acquire(this, this.#ready.limits.connectTimeoutMs)
    if (entry === 'granted') this.onGranted()
    else if (entry === 'full') this.onRefused()
  }

  #isRetried(outcome: AttemptOutcome): boolean {
    const { body } = this.#ready
    if (this.#retrier === undefined || this.#isSettled) return false
    // A large body at hand may go again where nothing of it has gone.
    const isSmall =
      body === null ||
      (body instanceof Uint8Array ? body.length <= REPLAYED_BYTES : body.isReplayable)
    const isUnsent = 'failure' in outcome && !outcome.headSeen && outcome.failure === 'refused'
    if (!isSmall && !(isUnsent && body instanceof Uint8Array)) return false
    return this.#retrier.offer(outcome, () => {
      this.#enter()
    })
  }

  #passOn(attempt: Attempt): void {
    const hasBody = !comesWithoutBody(this.#status, this.#ready.outgoing.method)
    const out = this.#exchange.stream({
      statusCode: this.#status,
      headers: this.#headers,
      hasBody,
    })
    if (out === undefined) {
      this.#giveUp()
      return
    }
    if (out.takesBody || !hasBody) {
      attempt.passTo(out)
      return
    }
    attempt.discard()
    out.end()
    this.#settle()
  }

  /** Headers and body as the document sees them. */
  #report(headers: Pairs, body: Parameters<typeof answerError>[2]): void {
    if (!this.#settle()) return
    const map = headerMap(headers)
    if (this.#status >= 400) {
      this.#exchange.fail(answerError(this.#status, map, body))
      return
    }
    const uri = headers.find(([name]) => name === 'location')?.[1] ?? ''
    this.#exchange.succeed({ status_code: this.#status, headers: map, body, uri })
  }

  #failWith(uri: ForwardErrorUri, message: string): void {
    const error = gatewayError(uri, message, this.#exchange.context.status_codes)
    if (this.#settle()) this.#exchange.fail(error)
  }

  /** True once: the outcome may be reported. */
  #settle(): boolean {
    if (this.#isSettled) return false
    this.#isSettled = true
    this.#exchange.onCancel(undefined)
    const { body } = this.#ready
    if (body !== null && !(body instanceof Uint8Array)) body.close()
    return true
  }

  #giveUp(cause?: Error): void {
    if (!this.#settle()) return
    this.#limiter.withdraw(this)
    this.#retrier?.cancel()
    this.#attempt?.abort(cause)
  }
}

/** Its headers are read only where they may count. */
const answered = (status: number, raw: readonly (string | Buffer)[]): AttemptOutcome =>
  status === 503 ? { status, retryAfterMs: retryAfterMs(raw) } : { status }

/** What clients would not all read alike is passed on to none. */
const faultOfHead = (statusCode: number, raw: readonly (string | Buffer)[]): string | undefined => {
  // RFC 9110 §15.
  if (statusCode > 599) return `The upstream answered with ${statusCode}, which is no HTTP status.`
  return hasForeignCoding(raw)
    ? 'The upstream answered in a transfer coding other than chunked.'
    : undefined
}
