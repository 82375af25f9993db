// This file watches a client that owes us the bytes of a body. Its clock counts only while we would take them,
// and says so when it is too slow: over the limit of the document, or below the least rate where that matters.

import { bodyDeadlines } from './body-deadlines.ts'
import type { Timed } from './deadlines.ts'
import { type IsScarce, longestTimeFor } from './least-rate.ts'

/** `limit`: over `limitMs`. `rate`: below the least rate. */
export type SlowBody = 'limit' | 'rate'

export interface BodyWatchOptions {
  /** Time for the whole body, or for a pause between two of its chunks. */
  readonly bounds: 'whole' | 'pause'
  readonly limitMs: number
  readonly isScarce: IsScarce
  /** Told once; the watch has stopped by then. */
  readonly onSlow: (slow: SlowBody) => void
}

/** How often the rate is looked at. */
const LOOK_MS = 5000

/**
 * @example
 * const watch = new BodyWatch({ bounds: 'pause', limitMs: 15_000, isScarce, onSlow })
 * watch.start()
 * request.on('data', (chunk) => watch.received(chunk.length))
 */
export class BodyWatch implements Timed {
  due = 0
  slot = -1
  readonly #options: BodyWatchOptions
  #bytes = 0
  /** Of the times before the latest start. */
  #owedMs = 0
  #startedMs = 0
  /** When the limit began to count. */
  #limitedMs = 0

  constructor(options: BodyWatchOptions) {
    this.#options = options
  }

  /** From now on the client is the one to act. */
  start(): void {
    if (this.slot >= 0) return
    this.#startedMs = bodyDeadlines.elapsedMs
    this.#limitedMs = this.#startedMs
    this.due = bodyDeadlines.dueIn(Math.min(this.#options.limitMs, LOOK_MS))
    bodyDeadlines.add(this)
  }

  /** We take no more for now, or the body is over. */
  stop(): void {
    if (this.slot < 0) return
    this.#owedMs += bodyDeadlines.elapsedMs - this.#startedMs
    bodyDeadlines.remove(this)
  }

  received(bytes: number): void {
    this.#bytes += bytes
    if (this.#options.bounds === 'pause') this.#limitedMs = bodyDeadlines.elapsedMs
  }

  expire(): void {
    const { limitMs, isScarce, onSlow } = this.#options
    const nowMs = bodyDeadlines.elapsedMs
    const leftMs = limitMs - (nowMs - this.#limitedMs)
    const owedMs = this.#owedMs + nowMs - this.#startedMs
    const isSlow = owedMs > longestTimeFor(this.#bytes) && isScarce()
    if (leftMs > 0 && !isSlow) {
      this.due = bodyDeadlines.dueIn(Math.min(leftMs, LOOK_MS))
      return
    }
    this.stop()
    onSlow(leftMs > 0 ? 'rate' : 'limit')
  }
}
