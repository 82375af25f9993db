// Performs one forward: it sends the request, handles the response as the document needs it, retries, and reports the
// result exactly once. It has one call to the upstream at a time, which is aborted when the client disconnects.

import { DrainWatch } from './drain-watch.ts'
import { asError } from '../../../base/thrown.ts'
import { comesWithoutBody } from '../../framing.ts'
import { responseHeaderMap } from '../../header-map.ts'
import { readHeaderText } from '../../header-text.ts'
import type { IsScarce } from '../../least-rate.ts'
import { ByteCollector } from '../../memory/byte-collector.ts'
import { NO_MEMORY } from '../../memory/no-memory.ts'
import { fromUpstream, withAuthorization } from '../../upstream/headers.ts'
import type { PoolScope } from '../../upstream/limiter.ts'
import { retryAfterMs } from '../../upstream/retry-after.ts'
import type { RetryBudget } from '../../upstream/retry-budget.ts'
import {
  createRetrier,
  isIdempotent,
  type AttemptResult,
  type Retrier,
  type RetryClock,
} from '../../upstream/retry.ts'
import type {
  SwitchedConnection,
  Upstream,
  UpstreamCall,
  UpstreamError,
  UpstreamFailure,
  UpstreamSink,
} from '../../upstream/upstream.ts'
import { explainPartialResponse, headErrorOf } from './read-response.ts'
import { decodeResponse, MAX_RESPONSE_BYTES } from './response-body.ts'
import { statusError, failureError, gatewayError, type ForwardErrorUri } from '../failure.ts'
import { boundDetail, type FailureReason } from '../request-failure.ts'
import { causeOfError, causeOfStatus } from '../../upstream/failure-cause.ts'
import type { StreamedBody } from './incoming-body.ts'
import type { CallTimes } from '../call-limits.ts'
import type { ResponseNeeds } from '../../../language/compile/response-needs.ts'
import type { UpstreamAuthorization } from '../../credentials/credential.ts'
import { type AuthorizeAttempt, ForwardAuthorization } from './forward-credential.ts'
import type { OutgoingRequest } from './request.ts'
import type { ByteSink, Exchange } from '../performer.ts'

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
  readonly responseNeeds: ResponseNeeds
  /** Set where requests are sent with a credential of the realm. */
  readonly credential?: AuthorizeAttempt | undefined
}

/** A forward whose body is available, or can be opened. */
export interface ReadyRequest {
  readonly outgoing: OutgoingRequest
  readonly limits: CallTimes
  readonly body: Buffer | StreamedBody | null
  readonly contentLength: number | undefined
}

/** Most bytes that are read to keep a connection usable; reading more costs more than a new connection. */
const DISCARDED_BYTES = 64 * 1024
const DISCARDING_MS = 1000

type Pairs = readonly (readonly [name: string, value: string])[]

/** What to do with the response: not known yet, pass it to the client, read it for the document, discard it. */
type Mode = 'head' | 'pass' | 'collect' | 'discard'

export class Forwarding implements UpstreamSink {
  readonly #exchange: Exchange
  readonly #tools: ForwardTools
  readonly #ready: ReadyRequest
  readonly #retrier: Retrier | undefined
  readonly #authorization: ForwardAuthorization | undefined
  /** The latest call; earlier ones are over. */
  #call: UpstreamCall | undefined
  #isSettled = false
  #attempts = 0
  /** It was sent once more, as a connection had died. */
  #wasStale = false
  #mode: Mode = 'head'
  #status = 0
  #headers: Pairs = []
  /** The sink of a response that passes through. */
  #out: ByteSink | undefined
  /** Set for a client that had to be waited for once. */
  #drain: DrainWatch | undefined
  /** The body that the document reads. */
  #body: ByteCollector | undefined
  /** Bytes of the body that were not passed on. */
  #length = 0
  /** Ends the discarding of a response. */
  #timer: NodeJS.Timeout | undefined

  constructor(exchange: Exchange, tools: ForwardTools, ready: ReadyRequest) {
    this.#exchange = exchange
    this.#tools = tools
    this.#ready = ready
    const { credential } = tools
    if (credential !== undefined) this.#authorization = new ForwardAuthorization(credential)
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
    this.#send()
  }

  /** Rejects the request because of the client: its body is too large or too slow. */
  refuse(error: Error): void {
    if (this.#isSettled) return
    this.#giveUp()
    this.#exchange.refuse(error)
  }

  /** Only where the response behind them is the client's: none may follow that belongs to another attempt. */
  onEarlyHints(raw: readonly string[]): void {
    if (this.#retrier !== undefined || this.#authorization !== undefined) return
    if (this.#tools.responseNeeds.passesThrough) this.#exchange.hintEarly(fromUpstream(raw))
  }

  onHead(statusCode: number, raw: readonly (string | Buffer)[]): void {
    this.#ready.outgoing.hosts?.onReached()
    if (this.#authorization?.needsAnotherToken(statusCode, this.#canResend) === true) {
      this.#discard()
      this.#send()
      return
    }
    if (this.#isRetried(answered(statusCode, raw))) {
      this.#discard()
      return
    }
    const error = headErrorOf(statusCode, raw)
    if (error !== undefined) {
      this.#failWith('svc.error.bad_gateway', 'response_head', error)
      return
    }
    const lack = explainPartialResponse(
      statusCode,
      this.#ready.outgoing.headers,
      this.#tools.responseNeeds,
    )
    if (lack !== undefined) {
      this.#failWith('svc.error.bad_gateway', 'partial_response', lack)
      return
    }
    this.#status = statusCode
    const headers = fromUpstream(raw)
    // A challenge for the credential of the realm is no concern of the client.
    this.#headers =
      this.#authorization === undefined
        ? headers
        : headers.filter(([name]) => name !== 'www-authenticate')
    const { passesThrough, passesErrors, readsResultBody, readsErrorBody } =
      this.#tools.responseNeeds
    if (statusCode < 400 ? passesThrough : passesErrors) this.#passOn()
    else if (statusCode < 400 ? readsResultBody : readsErrorBody) {
      this.#mode = 'collect'
      this.#body = new ByteCollector()
    } else {
      this.#discard()
      this.#report(this.#headers, '')
    }
  }

  onSwitched(connection: SwitchedConnection): void {
    this.#ready.outgoing.hosts?.onReached()
    this.#leave()
    const headers = fromUpstream(connection.headers)
    if (this.#settle()) this.#exchange.switchTo({ ...connection, headers })
    else connection.socket.destroy()
  }

  onData(chunk: Buffer): boolean {
    if (this.#mode === 'pass') return this.#pass(chunk)
    this.#length += chunk.length
    if (this.#mode === 'discard') {
      if (this.#length > DISCARDED_BYTES) this.#call?.abort()
    } else if (this.#length > MAX_RESPONSE_BYTES) {
      this.#failWith(
        'svc.error.bad_gateway',
        'response_too_large',
        'The upstream sent a body that is too large to be read.',
      )
    } else if (this.#exchange.memory.reserve(chunk.length)) this.#body?.add(chunk)
    else this.#failWith('svc.error.overloaded', 'no_memory', NO_MEMORY)
    return true
  }

  onEnd(): void {
    const mode = this.#leave()
    if (mode === 'pass') {
      this.#out?.end()
      this.#settle()
    } else if (mode === 'collect') this.#decode(this.#body?.join() ?? Buffer.alloc(0))
  }

  onError(error: UpstreamError): void {
    const mode = this.#leave()
    if (mode === 'discard') return
    const { code: failure, headSeen } = error
    const { outgoing, limits } = this.#ready
    if (isOfHost(failure, limits)) outgoing.hosts?.onUnreached()
    if (this.#isRetried({ failure, headSeen })) return
    const { status_codes: statusCodes } = this.#exchange.context
    const failed = failureError(failure, error.message, statusCodes)
    if (!this.#settle()) return
    this.#explain(causeOfError(error), detailOf(error))
    this.#exchange.fail(failed)
  }

  /** RFC 9110 §9.2.2, §9.3.1. Once for each request, outside its retries: the upstream did nothing wrong. */
  onStale(): boolean {
    if (this.#wasStale || !this.#canResend || !isIdempotent(this.#ready.outgoing.method))
      return false
    this.#wasStale = true
    this.#attempts++
    return true
  }

  get #origin(): string {
    return (this.#ready.outgoing.hosts ?? this.#ready.outgoing).origin
  }

  #send(): void {
    // A response that is still being discarded must not be taken for the next one.
    this.#call?.abort()
    this.#attempts++
    this.#mode = 'head'
    this.#length = 0
    if (this.#authorization === undefined) this.#dispatch(NO_AUTHORIZATION)
    else this.#authorize(this.#authorization)
  }

  #authorize(authorization: ForwardAuthorization): void {
    authorization.authorize(this.#exchange, this.#origin, (result) => {
      // The client may have disconnected while a token was requested.
      if (this.#isSettled) return
      if (!result.ok) {
        this.#failWith('svc.error.bad_gateway', result.error.code, NOT_AUTHENTICATED, result.error)
        return
      }
      try {
        this.#dispatch(result.authorization)
      } catch (error) {
        // This may run long after `start` has returned, so there is no caller that would catch it.
        this.refuse(asError(error))
      }
    })
  }

  #dispatch({ header, tls }: UpstreamAuthorization): void {
    const { outgoing, limits, body, contentLength } = this.#ready
    const { upstream, scope, confinedTo, realm } = this.#tools
    this.#call = upstream.send(
      {
        ...outgoing,
        origin: this.#origin,
        headers:
          header === undefined ? outgoing.headers : withAuthorization(outgoing.headers, header),
        body: isStreamed(body) ? () => body.open() : body,
        contentLength,
        connectTimeoutMs: limits.connectTimeoutMs,
        timeoutMs: limits.timeoutMs,
        confinedTo,
        realm,
        scope,
        from: this.#exchange.from,
        tls,
        webSocket: outgoing.webSocket,
        after: this.#call,
      },
      this,
    )
  }

  get #canResend(): boolean {
    return !this.#isSettled && this.#isReplayable
  }

  get #isReplayable(): boolean {
    const { body } = this.#ready
    return body === null || (isStreamed(body) ? body.isReplayable : body.length <= REPLAYED_BYTES)
  }

  #isRetried(result: AttemptResult): boolean {
    const { body } = this.#ready
    if (this.#retrier === undefined || this.#isSettled) return false
    // A large available body may be sent again if nothing of it was sent.
    const isSmall = this.#isReplayable
    const isUnsent = 'failure' in result && !result.headSeen && result.failure === 'refused'
    if (!isSmall && !(isUnsent && !isStreamed(body))) return false
    return this.#retrier.offer(result, () => {
      this.#ready.outgoing.hosts?.goOn()
      this.#send()
    })
  }

  #passOn(): void {
    this.#explainStatus()
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
      this.#mode = 'pass'
      this.#out = out
      return
    }
    this.#discard()
    out.end()
    this.#settle()
  }

  #pass(chunk: Buffer): boolean {
    const out = this.#out
    const goesOn = out?.write(chunk) !== false
    if (out?.hasSentAll?.() === true) this.#call?.recycle?.()
    if (out === undefined || goesOn) return true
    const { scope, isScarce } = this.#tools
    this.#drain ??= new DrainWatch({
      isScarce: () => scope.isBusy(this.#origin) || isScarce(),
      onTooSlow: () => {
        this.#giveUp(new Error('the client reads too slowly'))
      },
    })
    this.#drain.start(chunk.length)
    out.onDrain(() => {
      this.#drain?.stop()
      if (out.hasSentAll?.() === true) this.#call?.recycle?.()
      this.#call?.resume()
    })
    return false
  }

  /** Reads and discards the rest; the connection is kept if little is left. */
  #discard(): void {
    this.#mode = 'discard'
    this.#timer = setTimeout(() => {
      this.#call?.abort()
    }, DISCARDING_MS)
  }

  /** The call is over. */
  #leave(): Mode {
    clearTimeout(this.#timer)
    this.#drain?.stop()
    return this.#mode
  }

  #decode(bytes: Buffer): void {
    const exchange = this.#exchange
    const options = {
      isLenient: this.#status >= 400,
      memory: exchange.memory,
      defer: (work: () => boolean): void => {
        exchange.defer(work)
      },
    }
    decodeResponse(this.#headers, bytes, options, (error, response) => {
      if (response !== undefined) this.#report(response.headers, response.body)
      else if (error === 'no memory') this.#failWith('svc.error.overloaded', 'no_memory', NO_MEMORY)
      else this.#failWith('svc.error.bad_gateway', 'undecodable', error?.message ?? '')
    })
  }

  /** Reports headers and body as the document sees them. */
  #report(headers: Pairs, body: Parameters<typeof statusError>[2]): void {
    if (!this.#settle()) return
    const map = responseHeaderMap(headers)
    if (this.#status >= 400) {
      this.#explainStatus()
      this.#exchange.fail(statusError(this.#status, map, body))
      return
    }
    const uri = readHeaderText(headers.find(([name]) => name === 'location')?.[1] ?? '')
    this.#exchange.succeed({ status_code: this.#status, headers: map, body, uri })
  }

  /** Fails the action and discards what the upstream still sends. */
  #failWith(
    uri: ForwardErrorUri,
    reason: FailureReason,
    message: string,
    { message: detail }: { readonly message: string } = { message },
  ): void {
    const error = gatewayError(uri, message, this.#exchange.context.status_codes)
    const isFirst = this.#settle()
    this.#abort()
    if (!isFirst) return
    this.#explain(reason, detail)
    this.#exchange.fail(error)
  }

  #explainStatus(): void {
    if (this.#status >= 400)
      this.#explain(causeOfStatus(this.#status) ?? 'upstream_status', `status ${this.#status}`)
  }

  #explain(reason: FailureReason, detail: string): void {
    this.#exchange.explain({
      reason,
      upstream: boundDetail(this.#origin),
      attempts: this.#attempts,
      detail: boundDetail(detail),
    })
  }

  /** True once: the result may be reported. */
  #settle(): boolean {
    if (this.#isSettled) return false
    this.#isSettled = true
    this.#exchange.onCancel(undefined)
    const { body } = this.#ready
    if (isStreamed(body)) body.close()
    return true
  }

  /** Aborts the call and, because of `cause`, the response to the client. */
  #giveUp(cause?: Error): void {
    if (!this.#settle()) return
    this.#retrier?.cancel()
    if (this.#mode === 'pass' && cause !== undefined) this.#out?.destroy(cause)
    this.#abort()
  }

  #abort(): void {
    this.#mode = 'discard'
    this.#call?.abort()
  }
}

const NO_AUTHORIZATION: UpstreamAuthorization = {}

/** Only the owner of a credential may learn what is wrong with it: the log says that, not the response. */
const NOT_AUTHENTICATED = 'The gateway could not authenticate at the upstream.'

/** The text of Node where there is one: it names the address, and what TLS did not like. */
const detailOf = ({ cause, message }: UpstreamError): string => {
  const own = typeof cause === 'object' && cause !== null && 'message' in cause && cause.message
  return typeof own === 'string' && own !== '' ? own : message
}

const isStreamed = (body: ReadyRequest['body']): body is StreamedBody =>
  body !== null && !(body instanceof Uint8Array)

/** A failure with a shorter time-out says more about the document than about the host. */
const CONCLUSIVE_MS = 1000

const isOfHost = (failure: UpstreamFailure, { connectTimeoutMs }: CallTimes): boolean =>
  failure === 'refused' || (failure === 'connect_timeout' && connectTimeoutMs >= CONCLUSIVE_MS)

/** Reads the headers only for statuses where they matter. */
const answered = (status: number, raw: readonly (string | Buffer)[]): AttemptResult =>
  status === 503 ? { status, retryAfterMs: retryAfterMs(raw) } : { status }
