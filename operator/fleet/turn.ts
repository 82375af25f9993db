// A turn at work, taken back from who has heard nothing for a while: a data plane that hangs keeps nobody
// waiting longer than that.

import type { Clock } from '../../base/clock.ts'

export class Turn {
  readonly #giveBack: () => void
  readonly #clock: Clock
  readonly #patienceMs: number
  #cancel: () => void

  /** @param giveBack may be called more than once */
  constructor(giveBack: () => void, clock: Clock, patienceMs: number) {
    this.#giveBack = giveBack
    this.#clock = clock
    this.#patienceMs = patienceMs
    this.#cancel = this.#lapseLater()
  }

  /** It has answered. A turn that has lapsed stays lapsed. */
  progress(): void {
    this.#cancel()
    this.#cancel = this.#lapseLater()
  }

  end(): void {
    this.#cancel()
    this.#giveBack()
  }

  #lapseLater(): () => void {
    return this.#clock.after(this.#patienceMs, this.#giveBack)
  }
}
