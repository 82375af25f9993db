// A world with a time of its own: events in, run in order of their times, promises settled between. Processes in it
// have clocks that go at their own rate and may be frozen, as by a blocked event loop or a stopped machine.

import type { Clock } from '../../../base/clock.ts'
import { createManualClock } from '../../support/manual-clock.ts'

export class SimulatedTime {
  readonly #clock = createManualClock({ startMs: 0 })
  #afterEach: () => void = () => undefined

  get nowMs(): number {
    return this.#clock.now()
  }

  /** The result cancels. */
  at(atMs: number, run: () => void): () => void {
    return this.#clock.after(Math.max(0, atMs - this.nowMs), () => {
      // By now everything is done that the event before has set off.
      this.#afterEach()
      run()
    })
  }

  /** `afterEach` is called when everything that an event has set off is done. */
  async runUntil(untilMs: number, afterEach: () => void = () => undefined): Promise<void> {
    this.#afterEach = afterEach
    await this.#clock.run(untilMs - this.nowMs)
    afterEach()
  }
}

export interface ProcessOptions {
  readonly time: SimulatedTime
  /** Of its clock: 1.05 goes 5 % too fast. */
  readonly rate?: number
  readonly startedAtMs?: number
  readonly random: () => number
}

export class SimulatedProcess {
  readonly clock: Clock
  /** Added to its wall clock only. */
  wallOffsetMs = 0
  readonly #time: SimulatedTime
  readonly #rate: number
  readonly #random: () => number
  #isFrozen = false
  #isDead = false
  #held: (() => void)[] = []

  constructor({ time, rate = 1, random }: ProcessOptions) {
    this.#time = time
    this.#rate = rate
    this.#random = random
    this.clock = {
      now: () => 1_800_000_000_000 + this.wallOffsetMs + this.monotonicMs(),
      after: (ms, callback) => {
        let isCancelled = false
        const cancel = time.at(time.nowMs + ms / rate, () => {
          this.deliver(() => {
            if (!isCancelled) callback()
          })
        })
        return () => {
          isCancelled = true
          cancel()
        }
      },
      random,
    }
  }

  get isFrozen(): boolean {
    return this.#isFrozen
  }

  get isDead(): boolean {
    return this.#isDead
  }

  monotonicMs = (): number => this.#time.nowMs * this.#rate

  /** Runs it in the process: at once, or when it thaws. */
  deliver(run: () => void): void {
    if (this.#isDead) return
    if (this.#isFrozen) this.#held.push(run)
    else run()
  }

  freeze(): void {
    this.#isFrozen = true
  }

  /** What has come meanwhile runs one after another, in any order. */
  thaw(): void {
    if (!this.#isFrozen || this.#isDead) return
    this.#isFrozen = false
    const held = this.#held.splice(0)
    while (held.length > 0) {
      const [run] = held.splice(Math.floor(this.#random() * held.length), 1)
      run?.()
    }
  }

  /** As by SIGKILL. */
  kill(): void {
    this.#isDead = true
  }
}
