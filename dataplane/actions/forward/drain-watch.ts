// Watches a client that has not received yet what was written to it, while an upstream waits for it.

import { bodyDeadlines } from '../../body-deadlines.ts'
import type { Timed } from '../../deadlines.ts'
import { type IsScarce, longestTimeFor } from '../../least-rate.ts'

export interface DrainWatchOptions {
  readonly isScarce: IsScarce
  /** Called once; the watch has stopped by then. */
  readonly onTooSlow: () => void
}

/** How often it is checked whether a client below the least rate matters. */
const LOOK_MS = 5000

export class DrainWatch implements Timed {
  due = 0
  slot = -1
  readonly #options: DrainWatchOptions

  constructor(options: DrainWatchOptions) {
    this.#options = options
  }

  /** Starts to watch for the number of bytes that wait for the client; call `stop` when they have gone out. */
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
