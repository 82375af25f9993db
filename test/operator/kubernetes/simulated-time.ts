// A world with a time of its own: events in, run in order of their times, promises settled between. Processes in it
// have clocks that go at their own rate and may be frozen, as by a blocked event loop or a stopped machine.

import type { Clock } from '../../../operator/clock.ts'

interface Due {
  readonly atMs: number
  readonly order: number
  run(): void
}

export class SimulatedTime {
  nowMs = 0
  #due: Due[] = []
  #order = 0

  /** The result cancels. */
  at(atMs: number, run: () => void): () => void {
    const due = { atMs: Math.max(atMs, this.nowMs), order: (this.#order += 1), run }
    this.#due.push(due)
    return () => {
      this.#due = this.#due.filter((each) => each !== due)
    }
  }

  /** `afterEach` is called when everything that an event has set off is done. */
  async runUntil(untilMs: number, afterEach: () => void = () => undefined): Promise<void> {
    for (;;) {
      await settled()
      const next = this.#due.reduce<Due | undefined>(
        (first, each) => (first === undefined || isBefore(each, first) ? each : first),
        undefined,
      )
      if (next === undefined || next.atMs > untilMs) break
      this.#due = this.#due.filter((each) => each !== next)
      this.nowMs = next.atMs
      next.run()
      await settled()
      afterEach()
    }
    this.nowMs = untilMs
  }
}

const isBefore = (left: Due, right: Due): boolean =>
  left.atMs === right.atMs ? left.order < right.order : left.atMs < right.atMs

/** Whatever promises wait for each other, without any time passing. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

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

/** Numbers in [0, 1) that follow from the seed (mulberry32). */
export const randomFrom = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
