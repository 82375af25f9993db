// This file watches a client that what was written to it has not gone out to yet, while an upstream waits for it.

import { bodyDeadlines } from '../../body-deadlines.ts'
import type { Timed } from '../../deadlines.ts'
import { type IsScarce, longestTimeFor } from '../../least-rate.ts'

export interface DrainWatchOptions {
  readonly isScarce: IsScarce
  /** Told once; the watch has stopped by then. */
  readonly onTooSlow: () => void
}

/** How often is asked, of a client that is below the least rate, whether that matters. */
const LOOK_MS = 5000

export class DrainWatch implements Timed {
  due = 0
  slot = -1
  readonly #options: DrainWatchOptions

  constructor(options: DrainWatchOptions) {
    this.#options = options
  }

  /** So many bytes wait for the client; `stop` when they have gone out. */
  start(bytes: number): void {
    this.due = bodyDeadlines.dueIn(longestTimeFor(bytes))
    if (this.slot < 0) bodyDeadlines.add(this)
  }

  stop(): void {
    bodyDeadlines.remove(this)
  }

  expire(): void {
    if (!this.#options.isScarce()) {
      this.due = bodyDeadlines.dueIn(LOOK_MS)
      return
    }
    this.stop()
    this.#options.onTooSlow()
  }
}
