// Watches a client that is sending a body, and reports once that it is too slow: over the time limit of the document,
// or below the least rate while resources are scarce. Its clock counts only while the gateway is ready to read.

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
  /** Called once; the watch has stopped by then. */
  readonly onSlow: (slow: SlowBody) => void
}

/** How often the rate is checked. */
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
  /** The time the client was awaited before the latest start. */
  #owedMs = 0
  #startedMs = 0
  /** When the limit began to count. */
  #limitedMs = 0

  constructor(options: BodyWatchOptions) {
    this.#options = options
  }

  /** From now on the gateway waits for the client. */
  start(): void {
    if (this.slot >= 0) return
    this.#startedMs = bodyDeadlines.elapsedMs
    this.#limitedMs = this.#startedMs
    this.due = bodyDeadlines.dueIn(Math.min(this.#options.limitMs, LOOK_MS))
    bodyDeadlines.add(this)
  }

  /** The gateway reads no more for now, or the body is complete. */
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
