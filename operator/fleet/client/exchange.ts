// Makes one call to a data plane and gives its whole response as text, within bounds of time and size. It works below
// streams and promises for each piece: a hundred gateways are called for every edit.

import type { Dispatcher } from 'undici'
import type { Limiter } from '../../../base/limiter.ts'
import { type ResponseBound, BoundedText } from './bounded-body.ts'

export interface ExchangeRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | undefined
  /** Until the response begins, and between any two pieces of it; it may take twice as long as a whole. */
  readonly timeoutMs: number
  readonly bound: ResponseBound
  readonly budget: Limiter | undefined
}

export interface ExchangeResponse {
  readonly status: number
  readonly etag: string | undefined
  readonly text: string
}

/**
 * @throws ResponseError for a response that is too much; a `TimeoutError`, and what undici throws
 * @example const { status, text } = await exchange(pool, request)
 */
export const exchange = (
  pool: Pick<Dispatcher, 'dispatch'>,
  request: ExchangeRequest,
): Promise<ExchangeResponse> =>
  new Promise((resolve, reject) => {
    const handler = new ResponseHandler(request, resolve, reject)
    const { method, path, headers, body = null, timeoutMs } = request
    const timeouts = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs }
    pool.dispatch({ method, path, headers, body, ...timeouts }, handler)
  })

class ResponseHandler implements Dispatcher.DispatchHandler {
  readonly #text: BoundedText
  readonly #resolve: (response: ExchangeResponse) => void
  readonly #reject: (error: unknown) => void
  readonly #timer: NodeJS.Timeout
  #controller: Dispatcher.DispatchController | undefined
  /** Why it was given up. */
  #failure: Error | undefined
  #status = 0
  #etag: string | undefined

  constructor(
    { bound, budget, timeoutMs }: ExchangeRequest,
    resolve: (response: ExchangeResponse) => void,
    reject: (error: unknown) => void,
  ) {
    this.#text = new BoundedText({ bound, budget })
    this.#resolve = resolve
    this.#reject = reject
    // Not `AbortSignal.timeout`: that one goes off long after the response, and costs as much as the call.
    this.#timer = setTimeout(() => {
      this.#fail(new DOMException('it did not answer in time', 'TimeoutError'))
    }, 2 * timeoutMs)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#failure !== undefined) controller.abort(this.#failure)
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    { etag }: { readonly etag?: string },
  ): void {
    this.#status = status
    this.#etag = etag
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const error = this.#text.take(chunk)
    if (error !== undefined) this.#fail(error)
  }

  onResponseEnd(): void {
    if (this.#failure !== undefined) return
    this.#resolve({ status: this.#status, etag: this.#etag, text: this.#text.toString() })
    this.#end()
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error)
  }

  #fail(error: Error): void {
    if (this.#failure !== undefined) return
    this.#failure = error
    this.#reject(error)
    this.#end()
    this.#controller?.abort(error)
  }

  #end(): void {
    clearTimeout(this.#timer)
    this.#text.release()
  }
}
