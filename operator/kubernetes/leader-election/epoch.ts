// One turn of a leader: the epoch of its calls, and what becomes of it when a data plane knows a higher one.

import type { Log } from '../../../telemetry/log.ts'
import type { Tenure } from '../../tenure.ts'

export interface TurnHooks {
  readonly log: Log
  /** Ends the turn where its time is over. */
  readonly check: () => void
  /** Reads the Lease live, and writes `wantedEpoch` where it is still ours. */
  readonly hurry: () => void
}

/**
 * Milliseconds since 1970 reach it in 140,000 years. Whoever reports more is at fault, and going along would use up
 * the numbers that later leaders need.
 */
const MAX_REPORTED_EPOCH = 2 ** 52

export class LeaseTenure implements Tenure {
  readonly #hooks: TurnHooks
  #epoch: number
  #wantedEpoch: number
  #isOver = false
  #waiting: (() => void)[] = []

  constructor(epoch: number, hooks: TurnHooks) {
    this.#hooks = hooks
    this.#epoch = epoch
    this.#wantedEpoch = epoch
  }

  /** The next renewal may write it; no data plane has reported more. */
  get wantedEpoch(): number {
    return this.#wantedEpoch
  }

  /** Nobody asks for a higher epoch than it has. */
  get isContent(): boolean {
    return this.#wantedEpoch <= this.#epoch
  }

  /** Ends the turn first, where that is due: whoever makes a call asks for its epoch. */
  epoch(): number {
    this.#hooks.check()
    return this.#epoch
  }

  async challenge(reported: number): Promise<boolean> {
    this.#hooks.check()
    if (this.#isOver || !(reported < MAX_REPORTED_EPOCH)) return false
    if (reported >= this.#wantedEpoch) {
      this.#wantedEpoch = Math.floor(reported) + 1
      this.#hooks.hurry()
    }
    while (this.#canStillRaise(reported)) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve)
      })
    }
    this.#hooks.check()
    return !this.#isOver
  }

  /** What stands in the Lease now, by our hand. */
  raise(epoch: number): void {
    if (epoch > this.#epoch) {
      this.#hooks.log.warn('a data plane knows a higher epoch: raised above it', { epoch })
      this.#epoch = epoch
    }
  }

  /** An attempt has ended: whoever waits looks again. */
  settle(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }

  end(): void {
    this.#isOver = true
    this.settle()
  }

  #canStillRaise(reported: number): boolean {
    return !this.#isOver && this.#epoch <= reported
  }
}
