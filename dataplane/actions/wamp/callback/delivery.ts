// Performs one delivery to a callback: it sends a signed POST and returns status, type and bytes of the response. It
// retries only if no connection was opened, with the same delivery id, and follows no redirect.

import { createRetryWaits, type RetryWaits, type RetryClock } from '../../../upstream/retry.ts'
import { fromUpstream } from '../../../upstream/headers.ts'
import type {
  Upstream,
  UpstreamCall,
  UpstreamError,
  UpstreamFailure,
  UpstreamSink,
} from '../../../upstream/upstream.ts'
import type { WampError } from '../../../wamp/session/joined-session.ts'
import { callbackError, type CallbackErrorCode, type CallbackReply } from './reply.ts'
import { signatureHeaders } from './signature.ts'
import type { CallbackUrl } from './url.ts'

export interface Delivery {
  readonly url: CallbackUrl
  /** Within the cluster it may go only to Services of this namespace. */
  readonly confinedTo?: string | undefined
  /** Lets a receiver distinguish a repeated delivery from a new one. */
  readonly id: string
  /** JSON. */
  readonly body: Buffer
  /** The realm's secret; undefined: nothing is signed. */
  readonly secret: string | undefined
  /** For everything, retries and the body of the response included. */
  readonly timeoutMs: number
}

export interface DeliveryTools {
  readonly upstream: Upstream
  /** Unix time in milliseconds. */
  readonly wallClock: () => number
  readonly clock: RetryClock
}

const MAX_REPLY_BYTES = 1024 * 1024
const RETRIES = 2
const MAX_CONNECT_MS = 8000

/** Rejects with a WampError: `svc.error.timeout`, `svc.error.bad_gateway`. */
export const deliver = (delivery: Delivery, tools: DeliveryTools): Promise<CallbackReply> =>
  new Promise((resolve, reject) => {
    new Delivering(delivery, tools, { resolve, reject }).start()
  })

interface DeliveryResult {
  resolve(reply: CallbackReply): void
  reject(error: WampError): void
}

const UNSENT: ReadonlySet<UpstreamFailure> = new Set(['refused', 'connect_timeout'])

class Delivering implements UpstreamSink {
  readonly #delivery: Delivery
  readonly #tools: DeliveryTools
  readonly #result: DeliveryResult
  readonly #backOff: RetryWaits
  #timer: NodeJS.Timeout | undefined
  #call: UpstreamCall | undefined
  #statusCode = 0
  #contentType = ''
  #chunks: Buffer[] = []
  #length = 0
  #isSettled = false

  constructor(delivery: Delivery, tools: DeliveryTools, result: DeliveryResult) {
    this.#delivery = delivery
    this.#tools = tools
    this.#result = result
    const bounds = { retries: RETRIES, retryTimeoutMs: delivery.timeoutMs }
    this.#backOff = createRetryWaits(bounds, tools.clock)
  }

  start(): void {
    this.#timer = setTimeout(() => {
      this.#giveUp('svc.error.timeout', 'The callback did not respond in time.')
    }, this.#delivery.timeoutMs)
    this.#attempt()
  }

  onHead(statusCode: number, raw: readonly (string | Buffer)[]): void {
    this.#statusCode = statusCode
    this.#contentType = fromUpstream(raw).find(([name]) => name === 'content-type')?.[1] ?? ''
  }

  onData(chunk: Buffer): boolean {
    this.#length += chunk.length
    if (this.#length <= MAX_REPLY_BYTES) this.#chunks.push(chunk)
    else this.#giveUp('svc.error.bad_gateway', 'The callback responded with more than 1 MiB.')
    return true
  }

  onEnd(): void {
    if (!this.#settle()) return
    const bytes = Buffer.concat(this.#chunks, this.#length)
    this.#result.resolve({
      statusCode: this.#statusCode,
      contentType: this.#contentType,
      bytes,
    })
  }

  onError(error: UpstreamError): void {
    if (this.#isSettled) return
    if (UNSENT.has(error.code) && this.#backOff.offer(this.#attempt)) return
    const isLate = error.code === 'timeout'
    this.#giveUp(isLate ? 'svc.error.timeout' : 'svc.error.bad_gateway', error.message, error)
  }

  readonly #attempt = (): void => {
    const { url, confinedTo, body, timeoutMs } = this.#delivery
    this.#call = this.#tools.upstream.send(
      {
        origin: url.origin,
        method: 'POST',
        path: url.path,
        headers: this.#headers(),
        body,
        connectTimeoutMs: Math.min(timeoutMs, MAX_CONNECT_MS),
        timeoutMs,
        confinedTo,
      },
      this,
    )
  }

  #headers(): readonly string[] {
    const { id, body, secret } = this.#delivery
    const headers = [
      'content-type',
      'application/json',
      'accept',
      'application/json',
      'user-agent',
      'svc-gateway',
      'x-svc-delivery',
      id,
    ]
    if (secret === undefined) return headers
    const unixSeconds = Math.floor(this.#tools.wallClock() / 1000)
    return [...headers, ...signatureHeaders({ secret, id, unixSeconds, body })]
  }

  #giveUp(code: CallbackErrorCode, message: string, cause?: unknown): void {
    if (!this.#settle()) return
    this.#call?.abort()
    this.#result.reject(callbackError(code, message, cause))
  }

  #settle(): boolean {
    if (this.#isSettled) return false
    this.#isSettled = true
    clearTimeout(this.#timer)
    this.#backOff.cancel()
    return true
  }
}
