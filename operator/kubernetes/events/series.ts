// Groups repetitions of an Event into series, with their counts. Their number is bounded.

import { BoundedMap } from '../../../base/bounded-map.ts'
import type { EventFacts } from './object.ts'

/** One Event in the API: its first occurrence, and how often it was repeated since. */
export interface Series {
  readonly key: string
  readonly facts: EventFacts
  /** Name of the Event; its namespace is that of `regarding`. */
  readonly name: string
  readonly firstAtMs: number
  lastAtMs: number
  count: number
  /** The count in the API; 0: the Event is not there. */
  sentCount: number
  /** It waits to be sent. */
  isQueued: boolean
}

/** A repetition within this time belongs to the same series. */
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

  /** Call it when the Event does not exist any more: the next occurrence starts a new series. */
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
