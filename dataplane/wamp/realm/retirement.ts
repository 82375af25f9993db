// Closes session pools that have been replaced, once nothing is in progress on them or their time is up. It never
// blocks the caller that retires one.

import { setTimeout as sleep } from 'node:timers/promises'
import type { BridgeTimes } from './bridge-setup.ts'
import type { RunningInvocations } from './durable/invocations.ts'
import type { RealmPool } from './session-pool.ts'

const CHECK_EVERY_MS = 100

export class Retirement {
  readonly #times: BridgeTimes
  readonly #invocations: RunningInvocations
  readonly #draining = new Map<RealmPool, NodeJS.Timeout>()
  readonly #closing = new Set<Promise<void>>()

  constructor(times: BridgeTimes, invocations: RunningInvocations) {
    this.#times = times
    this.#invocations = invocations
  }

  /** Calls in flight end on their session; it gets no new ones. */
  retire(pool: RealmPool): void {
    const { settleMs, drainMs } = this.#times
    if (pool.joined.length === 0) this.#close(pool)
    else this.#checkLater(pool, Math.min(settleMs, drainMs), drainMs)
  }

  /** Closes all; waits only for the responses of callbacks, and for those `graceMs` at most. */
  async closeAll(graceMs: number): Promise<void> {
    const waitMs = Math.min(CHECK_EVERY_MS, graceMs)
    for (let leftMs = graceMs; leftMs > 0 && this.#isAnswering(); leftMs -= waitMs)
      await sleep(waitMs, undefined, { ref: false })
    for (const pool of [...this.#draining.keys()]) this.#close(pool)
    await Promise.all(this.#closing)
  }

  #checkLater(pool: RealmPool, waitMs: number, leftMs: number): void {
    const check = (): void => {
      const restMs = leftMs - waitMs
      if (restMs <= 0 || this.#isIdle(pool)) this.#close(pool)
      else this.#checkLater(pool, Math.min(CHECK_EVERY_MS, restMs), restMs)
    }
    this.#draining.set(pool, setTimeout(check, waitMs).unref())
  }

  #isAnswering(): boolean {
    return [...this.#draining.keys()].some(({ joined }) =>
      joined.some((session) => this.#invocations.on(session) > 0),
    )
  }

  #isIdle(pool: RealmPool): boolean {
    return pool.joined.every(
      (session) => session.pendingCalls === 0 && this.#invocations.on(session) === 0,
    )
  }

  #close(pool: RealmPool): void {
    clearTimeout(this.#draining.get(pool))
    this.#draining.delete(pool)
    const closed = pool.close().finally(() => this.#closing.delete(closed))
    this.#closing.add(closed)
  }
}
