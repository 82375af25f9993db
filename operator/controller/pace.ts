// Runs a piece of work that is requested again and again, and leaves the process time for everything else before the
// next run: in proportion to what the last one took, and never long. Whoever can't wait does it at once.

import type { Clock } from '../../base/clock.ts'

/** So many times as long as the work took: of a core, it takes a third at most. */
const SHARE = 2
/** What is asked for is done by then, however long the work takes. */
const MOST_MS = 1_000

export class Pace {
  readonly #clock: Clock
  readonly #work: () => void
  #endedMs = Number.NEGATIVE_INFINITY
  #pauseMs = 0
  #cancel: (() => void) | undefined

  constructor(clock: Clock, work: () => void) {
    this.#clock = clock
    this.#work = work
  }

  /** At once, or when the pause after the last time is over: once for all who have asked until then. */
  ask(): void {
    if (this.#cancel !== undefined) return
    const agoMs = this.#clock.now() - this.#endedMs
    // A clock that was set back makes no longer pause.
    const leftMs = agoMs < 0 ? this.#pauseMs : this.#pauseMs - agoMs
    if (leftMs <= 0) this.now()
    else
      this.#cancel = this.#clock.after(leftMs, () => {
        this.now()
      })
  }

  /** Whoever has asked is served too. */
  now(): void {
    this.stop()
    const startedMs = this.#clock.now()
    try {
      this.#work()
    } finally {
      this.#endedMs = this.#clock.now()
      this.#pauseMs = Math.min(MOST_MS, Math.max(0, SHARE * (this.#endedMs - startedMs)))
    }
  }

  /** Nobody has asked any more. */
  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }
}
