// Refusals of something that is held in, when it is asked for again out. One pause at a time.

import { backOffMs } from './back-off.ts'
import type { BridgeSetup } from './bridge-setup.ts'

export class HeldRetry {
  readonly #setup: BridgeSetup
  #refusals = 0
  #timer: NodeJS.Timeout | undefined

  constructor(setup: BridgeSetup) {
    this.#setup = setup
  }

  /** True for the first time since `reset()`: worth a line of the log. */
  schedule(again: () => void): boolean {
    const { random, times } = this.#setup
    this.#refusals++
    clearTimeout(this.#timer)
    const pauseMs = backOffMs(this.#refusals, random(), times.retryLongestMs)
    this.#timer = setTimeout(again, pauseMs).unref()
    return this.#refusals === 1
  }

  /** Nothing waits any more, and the next pause is the shortest. */
  reset(): void {
    clearTimeout(this.#timer)
    this.#refusals = 0
  }
}
