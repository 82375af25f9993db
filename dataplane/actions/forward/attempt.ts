// One attempt of a forward: it holds a slot of the pool and the call to the upstream, and takes the
// answer the way its owner wants it: passed on, collected, or thrown away. It decides nothing.

import type { ByteSink } from '../performer.ts'
import { DrainWatch } from './drain-watch.ts'
import type { Limiter } from '../../upstream/limiter.ts'
import type { Waiting } from '../../upstream/waiting-line.ts'
import type {
  Upstream,
  UpstreamCall,
  UpstreamError,
  UpstreamRequest,
  UpstreamSink,
} from '../../upstream/upstream.ts'
import { ByteCollector } from '../../memory/byte-collector.ts'
import type { Holding } from '../../memory/memory-budget.ts'
import { MAX_ANSWER_BYTES } from './response-body.ts'

export interface AttemptOwner extends Waiting {
  /** Calls `passTo`, `collect`, `discard` or `abort` before it returns. */
  onHead(attempt: Attempt, statusCode: number, raw: readonly (string | Buffer)[]): void
  /** The collected body. */
  onBody(bytes: Buffer): void
  onTooLarge(): void
  /** Of the gateway, for the body that is collected. */
  onNoMemory(): void
  /** All has been passed on. */
  onPassed(): void
  /** Slots, memory or connections are short: a client may not read slower than the least rate. */
  isScarce(): boolean
  /** The client reads too slowly what is passed on. */
  onTooSlow(): void
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
  readonly #memory: Holding
  readonly #body = new ByteCollector()
  #length = 0
  #timer: NodeJS.Timeout | undefined
  /** Of a client that has made us wait once. */
  #drain: DrainWatch | undefined

  /**
   * @param limiter has granted a slot, which the attempt gives back when it is over
   * @param memory pays for a body that is collected
   */
  constructor(owner: AttemptOwner, limiter: Limiter, memory: Holding) {
    this.#owner = owner
    this.#limiter = limiter
    this.#memory = memory
  }

  send(upstream: Upstream, request: UpstreamRequest): this {
    this.#call = upstream.send(request, this)
    return this
  }

  /** undefined before it is sent. */
  get call(): UpstreamCall | undefined {
    return this.#call
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
    } else if (this.#memory.reserve(chunk.length)) this.#body.add(chunk)
    else {
      this.abort()
      this.#owner.onNoMemory()
    }
    return true
  }

  onEnd(): void {
    this.#leave()
    if (this.#mode === 'pass') {
      this.#out?.end()
      this.#owner.onPassed()
    } else if (this.#mode === 'collect') this.#owner.onBody(this.#body.join())
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
    this.#drain?.stop()
    this.#limiter.release(this.#owner)
  }

  #pass(chunk: Buffer): boolean {
    const out = this.#out
    if (out === undefined || out.write(chunk)) return true
    this.#drain ??= new DrainWatch({
      isScarce: () => this.#owner.isScarce(),
      onTooSlow: () => {
        this.#owner.onTooSlow()
      },
    })
    this.#drain.start(chunk.length)
    out.onDrain(this.#resume)
    return false
  }

  readonly #resume = (): void => {
    this.#drain?.stop()
    this.#call?.resume()
  }
}
