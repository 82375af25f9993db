// Performs one WAMP call: it sends it, waits for the result, retries where that is safe, and reports exactly once.
// When the client disconnects or time is up, it tells the router to cancel.

import type { ValueMap } from '../../../language/expression/value.ts'
import { createRetryWaits, type RetryWaits, type RetryClock } from '../../upstream/retry.ts'
import type { WampClient } from '../../wamp/realm/wamp-client.ts'
import {
  type CallHandler,
  type CallRequest,
  type PendingCall,
  WampError,
  type WampResult,
} from '../../wamp/session/joined-session.ts'
import type { CallTimes } from '../call-limits.ts'
import type { EventSink, Exchange } from '../performer.ts'
import {
  explainError,
  failExchange,
  failOverdue,
  failOverloaded,
  toActionError,
} from './failure.ts'
import { OperationLifetime, type LifetimeOwner, type LifetimeDeps } from './operation-lifetime.ts'

export interface CallTools extends LifetimeDeps {
  readonly client: () => Pick<WampClient, 'awaitSession' | 'call'>
  readonly clock: RetryClock
}

export class Calling implements CallHandler, LifetimeOwner {
  readonly #exchange: Exchange
  readonly #tools: CallTools
  readonly #request: CallRequest
  readonly #times: CallTimes
  readonly #lifetime: OperationLifetime
  readonly #handler: CallHandler
  #pending: PendingCall | undefined
  #backOff: RetryWaits | undefined
  #sink: EventSink | undefined

  constructor(exchange: Exchange, tools: CallTools, request: CallRequest, times: CallTimes) {
    this.#exchange = exchange
    this.#tools = tools
    this.#request = request
    this.#times = times
    this.#lifetime = new OperationLifetime(exchange, tools, this)
    this.#handler = exchange.eventStreams === 'preferred' ? this.#progressive() : this
  }

  start(): void {
    const { retries, timeoutMs } = this.#times
    if (!this.#lifetime.begin(timeoutMs)) {
      failOverloaded(this.#exchange)
      return
    }
    if (retries > 0) this.#backOff = createRetryWaits(this.#times, this.#tools.clock)
    this.#attempt()
  }

  onResult(result: WampResult): void {
    if (!this.#lifetime.isOpen) return
    const view = viewOf(result)
    if (this.#handler === this) {
      this.#lifetime.end()
      this.#exchange.succeed(view)
      return
    }
    const sink = this.#sendEvent('result', view)
    if (this.#lifetime.end()) sink?.end()
  }

  onFailure(cause: WampError): void {
    if (!this.#lifetime.isOpen) return
    const again = this.#sink === undefined && isRetried(cause)
    if (again && this.#backOff?.offer(this.#attempt) === true) return
    this.#lifetime.end()
    const { status_codes: codes } = this.#exchange.context
    explainError(this.#exchange, cause)
    const error = toActionError(cause, codes, this.#request.procedure)
    if (this.#sink === undefined) this.#exchange.fail(error)
    else this.#sink.fail(error)
  }

  onOverdue(): void {
    this.#cancel()
    failOverdue(this.#exchange, this.#sink)
  }

  onGone(): void {
    this.#cancel()
  }

  readonly #attempt = (): void => {
    this.#lifetime.whenJoined(this.#times.connectTimeoutMs, this.#send)
  }

  readonly #send = (): void => {
    try {
      this.#pending = this.#tools.client().call(this.#request, this.#handler)
    } catch (error) {
      this.#pending = undefined
      if (error instanceof WampError) this.onFailure(error)
      else if (this.#lifetime.end()) failExchange(this.#exchange, error)
    }
  }

  /** Returns a handler with `onProgress`, which requests progressive results from the callee. */
  #progressive(): CallHandler {
    return {
      onResult: (result) => {
        this.onResult(result)
      },
      onFailure: (error) => {
        this.onFailure(error)
      },
      onProgress: (result) => {
        if (!this.#lifetime.isOpen) return
        this.#lifetime.extend(this.#times.timeoutMs)
        this.#sendEvent('progress', viewOf(result))
      },
    }
  }

  /** undefined: the client no longer listens, and the call is cancelled. */
  #sendEvent(name: string, result: ValueMap): EventSink | undefined {
    this.#sink ??= this.#exchange.events(result)
    if (this.#sink?.send({ name, result }) === true) return this.#sink
    if (this.#lifetime.end()) this.#cancel()
    return undefined
  }

  #cancel(): void {
    this.#backOff?.cancel()
    this.#pending?.cancel()
  }
}

const viewOf = ({ requestId, args, kwargs, details }: WampResult): ValueMap => ({
  request_id: requestId,
  args,
  kwargs,
  details,
})

/**
 * Behaviour §2: a call is retried if the router cannot have seen it, or has responded that it passed it to no callee.
 * A call that was lost with its connection may have been performed.
 */
const isRetried = ({ wasSent, uri }: WampError): boolean =>
  wasSent ? REFUSED_BY_ROUTER.has(uri) : NOT_SENT.has(uri)

const REFUSED_BY_ROUTER: ReadonlySet<string> = new Set([
  'wamp.error.no_eligible_callee',
  'wamp.error.network_failure',
])

/** Not for a call that cannot be encoded, as it never will be. */
const NOT_SENT: ReadonlySet<string> = new Set([
  'wamp.error.net_failure',
  'wamp.error.network_failure',
  'wamp.error.no_such_realm',
])
