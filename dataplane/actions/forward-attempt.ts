// One attempt of a forward: it holds a slot of the pool and the call to the upstream, and takes the
// answer the way its owner wants it: passed on, collected, or thrown away. It decides nothing.

import type { ByteSink } from './performer.ts'
import type { Limiter } from '../upstream/limiter.ts'
import type {
  Upstream,
  UpstreamCall,
  UpstreamError,
  UpstreamRequest,
  UpstreamSink,
} from '../upstream/upstream.ts'
import { MAX_ANSWER_BYTES } from './forward-answer.ts'

export interface AttemptOwner {
  /** Calls `passTo`, `collect`, `discard` or `abort` before it returns. */
  onHead(attempt: Attempt, statusCode: number, raw: readonly (string | Buffer)[]): void
  /** The collected body. */
  onBody(bytes: Buffer): void
  onTooLarge(): void
  /** All has been passed on. */
  onPassed(): void
  /** No answer, or one that broke off before it was all there. */
  onFailure(error: UpstreamError): void
}

/** What is read to keep a connection usable; a longer rest costs more than a new connection. */
const DISCARDED_BYTES = 64 * 1024
const DISCARDING_MS = 1000

type Mode = 'head' | 'pass' | 'collect' | 'discard'

export class Attempt implements UpstreamSink {
  readonly #owner: AttemptOwner
  readonly #limiter: Limiter
  #call: UpstreamCall | undefined
  #mode: Mode = 'head'
  #out: ByteSink | undefined
  #chunks: Buffer[] = []
  #length = 0
  #timer: NodeJS.Timeout | undefined

  /** @param limiter has granted a slot, which the attempt gives back when it is over */
  constructor(owner: AttemptOwner, limiter: Limiter) {
    this.#owner = owner
    this.#limiter = limiter
  }

  send(upstream: Upstream, request: UpstreamRequest): this {
    this.#call = upstream.send(request, this)
    return this
  }

  passTo(out: ByteSink): void {
    this.#mode = 'pass'
    this.#out = out
  }

  collect(): void {
    this.#mode = 'collect'
  }

  /** The owner hears no more; the connection is kept if little is left to read. */
  discard(): void {
    this.#mode = 'discard'
    this.#timer = setTimeout(() => {
      this.abort()
    }, DISCARDING_MS)
  }

  /** The owner hears no more, and the connection is free at once. What was passed on is cut for `cause`. */
  abort(cause?: Error): void {
    if (this.#mode === 'pass' && cause !== undefined) this.#out?.destroy(cause)
    this.#mode = 'discard'
    this.#call?.abort()
  }

  onHead(statusCode: number, rawHeaders: readonly Buffer[] | readonly string[]): void {
    this.#owner.onHead(this, statusCode, rawHeaders)
  }

  onData(chunk: Buffer): boolean {
    if (this.#mode === 'pass') return this.#pass(chunk)
    this.#length += chunk.length
    if (this.#mode === 'discard') {
      if (this.#length > DISCARDED_BYTES) this.abort()
    } else if (this.#length > MAX_ANSWER_BYTES) {
      this.abort()
      this.#owner.onTooLarge()
    } else this.#chunks.push(chunk)
    return true
  }

  onEnd(): void {
    this.#leave()
    if (this.#mode === 'pass') {
      this.#out?.end()
      this.#owner.onPassed()
    } else if (this.#mode === 'collect') this.#owner.onBody(this.#collected())
  }

  onError(error: UpstreamError): void {
    this.#leave()
    if (this.#mode === 'pass') {
      this.#out?.destroy(error)
      this.#owner.onPassed()
    } else if (this.#mode !== 'discard') this.#owner.onFailure(error)
  }

  #leave(): void {
    clearTimeout(this.#timer)
    this.#limiter.release()
  }

  #pass(chunk: Buffer): boolean {
    const out = this.#out
    if (out === undefined || out.write(chunk)) return true
    out.onDrain(this.#resume)
    return false
  }

  readonly #resume = (): void => {
    this.#call?.resume()
  }

  #collected(): Buffer {
    const [first] = this.#chunks
    return this.#chunks.length === 1 && first !== undefined
      ? first
      : Buffer.concat(this.#chunks, this.#length)
  }
}
