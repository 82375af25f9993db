// Runs a synchronous task that is requested again and again, with pauses that leave time for everything else: a pause is
// in proportion to how long the task took, within a bound. A caller that can't wait may run it at once.

import type { Clock } from '../../base/clock.ts'

/** The pause takes twice as long as the task, which so uses at most a third of a core. */
const PAUSE_FACTOR = 2
const MAX_PAUSE_MS = 1_000

export class PacedTask {
  readonly #clock: Clock
  readonly #task: () => void
  #endedMs = Number.NEGATIVE_INFINITY
  #pauseMs = 0
  #cancel: (() => void) | undefined

  constructor(clock: Clock, task: () => void) {
    this.#clock = clock
    this.#task = task
  }

  /** Runs the task now or, during a pause, at its end: once for all requests until then. */
  request(): void {
    if (this.#cancel !== undefined) return
    const agoMs = this.#clock.now() - this.#endedMs
    // A clock that was set back must not make the pause longer.
    const leftMs = agoMs < 0 ? this.#pauseMs : this.#pauseMs - agoMs
    if (leftMs <= 0) this.runNow()
    else
      this.#cancel = this.#clock.after(leftMs, () => {
        this.runNow()
      })
  }

  /** Also fulfils the request that waits. */
  runNow(): void {
    this.cancel()
    const startedMs = this.#clock.now()
    try {
      this.#task()
    } finally {
      this.#endedMs = this.#clock.now()
      this.#pauseMs = Math.min(
        MAX_PAUSE_MS,
        Math.max(0, PAUSE_FACTOR * (this.#endedMs - startedMs)),
      )
    }
  }

  /** Drops the request that waits. */
  cancel(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }
}
