// Decides whether the rejections of a new data plane keep it out of service. One that rejects what others serve may have a
// version that must not replace theirs; but no namespace may block the pool for longer than a stated time.

import type { Clock } from '../../../base/clock.ts'

interface Spell {
  sinceMs: number
  lastMs: number
}

/** A namespace without rejections for this time gets its full time again. */
const FORGOTTEN_MS = 60 * 60_000
/** Beyond this number, entries that have expired are removed. */
const MANY = 1_000

/** One for all data planes, as the times of one after the other would add up to hours. */
export class Withholding {
  readonly #limitMs: number
  readonly #now: Clock['now']
  /** The spell of each namespace whose documents are rejected. */
  readonly #spells = new Map<string, Spell>()

  /** @param limitMs how long documents of one namespace may keep data planes out of service; 0: never */
  constructor(limitMs: number, { now }: Pick<Clock, 'now'>) {
    this.#limitMs = limitMs
    this.#now = now
  }

  /**
   * Call it when a new data plane rejects a document of this namespace that others serve.
   * @returns whether that may keep the data plane out of service now
   */
  isJustified(namespace: string): boolean {
    const nowMs = this.#now()
    const before = this.#spells.get(namespace)
    const isKnown = before !== undefined && nowMs - before.lastMs < FORGOTTEN_MS
    const spell = isKnown ? before : { sinceMs: nowMs, lastMs: nowMs }
    // A clock that was set back must not give more time.
    spell.sinceMs -= Math.max(0, spell.lastMs - nowMs)
    spell.lastMs = nowMs
    this.#spells.set(namespace, spell)
    if (this.#spells.size > MANY) this.#forget(nowMs)
    return nowMs - spell.sinceMs < this.#limitMs
  }

  #forget(nowMs: number): void {
    for (const [namespace, { lastMs }] of this.#spells)
      if (nowMs - lastMs >= FORGOTTEN_MS) this.#spells.delete(namespace)
  }
}
