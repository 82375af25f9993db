// Gives a permit back when nothing is received for a while, so that a data plane that hangs delays others only for that time.

import type { Clock } from '../../base/clock.ts'

export class LapsingPermit {
  readonly #release: () => void
  readonly #clock: Clock
  readonly #patienceMs: number
  #cancel: () => void

  /** @param release may be called more than once */
  constructor(release: () => void, clock: Clock, patienceMs: number) {
    this.#release = release
    this.#clock = clock
    this.#patienceMs = patienceMs
    this.#cancel = this.#lapseLater()
  }

  /** Call it when something was received. A permit that has lapsed stays lapsed. */
  progress(): void {
    this.#cancel()
    this.#cancel = this.#lapseLater()
  }

  release(): void {
    this.#cancel()
    this.#release()
  }

  #lapseLater(): () => void {
    return this.#clock.after(this.#patienceMs, this.#release)
  }
}
