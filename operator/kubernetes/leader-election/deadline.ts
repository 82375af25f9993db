// For how long a renewal lets its holder act: the moment it was asked for in, whether that is over out. Counts by two
// clocks and believes the one that has gone further: the monotonic one, since the wall clock may be set back, and the
// wall clock, since the monotonic one stands still while a machine sleeps.

import type { Clock } from '../../../base/clock.ts'

export interface Moment {
  readonly wallMs: number
  readonly monotonicMs: number
}

export class LeaseTerm {
  readonly #clock: Clock
  readonly #monotonicMs: () => number
  readonly #lengthMs: number
  #since: Moment | undefined
  #cancel: (() => void) | undefined

  constructor(clock: Clock, monotonicMs: () => number, lengthMs: number) {
    this.#clock = clock
    this.#monotonicMs = monotonicMs
    this.#lengthMs = lengthMs
  }

  now(): Moment {
    return { wallMs: this.#clock.now(), monotonicMs: this.#monotonicMs() }
  }

  /** What is left of a term that began at `since`; 0 or less: it is over. */
  leftMs(since: Moment | undefined = this.#since): number {
    if (since === undefined) return 0
    const { wallMs, monotonicMs } = this.now()
    return this.#lengthMs - Math.max(wallMs - since.wallMs, monotonicMs - since.monotonicMs)
  }

  /** `onOver` is called once, unless it begins anew or is ended before. */
  begin(since: Moment, onOver: () => void): void {
    this.end()
    this.#since = since
    this.#watch(onOver)
  }

  end(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#since = undefined
  }

  #watch(onOver: () => void): void {
    this.#cancel = this.#clock.after(Math.max(0, Math.ceil(this.leftMs())), () => {
      if (this.leftMs() > 0) this.#watch(onOver)
      else onOver()
    })
  }
}
