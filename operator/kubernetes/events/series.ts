// Groups repetitions of what happened into series, with their counts. Bounded.

import { BoundedMap } from '../../../base/bounded-map.ts'
import type { EventFacts } from './object.ts'

/** One Event of the API: the first occurrence, and how often it has come again since. */
export interface Series {
  readonly key: string
  readonly facts: EventFacts
  /** Of the Event; the namespace is that of the subject. */
  readonly name: string
  readonly firstAtMs: number
  lastAtMs: number
  count: number
  /** The count that the API has; 0: it has no such Event. */
  sentCount: number
  /** It waits to be sent. */
  isQueued: boolean
}

/** The same within ten minutes of the last time is one series. */
const SAME_MS = 10 * 60_000
const MAX_SERIES = 4096

export class SeriesRegistry {
  readonly #series = new BoundedMap<string, Series>(MAX_SERIES)

  /** @param nameOf called for a new series only */
  note(facts: EventFacts, nowMs: number, nameOf: () => string): Series {
    const key = JSON.stringify([facts.regarding, facts.type, facts.reason, facts.note])
    const before = this.#series.get(key)
    const series =
      before === undefined || nowMs - before.lastAtMs > SAME_MS
        ? newSeries(key, facts, { name: nameOf(), nowMs })
        : before
    series.lastAtMs = nowMs
    series.count += 1
    this.#series.set(key, series)
    return series
  }

  /** Its Event no longer exists: the next occurrence is the first one. */
  forget({ key }: Series): void {
    this.#series.delete(key)
  }

  clear(): void {
    this.#series.clear()
  }
}

const newSeries = (
  key: string,
  facts: EventFacts,
  { name, nowMs }: { readonly name: string; readonly nowMs: number },
): Series => ({
  key,
  facts,
  name,
  firstAtMs: nowMs,
  lastAtMs: nowMs,
  count: 0,
  sentCount: 0,
  isQueued: false,
})
