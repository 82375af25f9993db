// Counts requests and failures per origin for metrics, for a bounded number of origins; the rest is counted as
// `other`. Only origins that documents name have an entry: those that requests make up, by an expression, would
// otherwise take all of them.

import type { FailureCause } from './failure-cause.ts'

/** Its holder counts directly, without a lookup. */
export interface OriginCounts {
  /** `other`, or the origin. */
  readonly label: string
  requests: number
  readonly failures: Map<FailureCause, number>
}

export interface CountedFailures {
  readonly origin: string
  readonly cause: FailureCause
  readonly count: number
}

interface Place {
  readonly counts: OriginCounts
  readonly realm: string
  /** Requests at the last look, and when they had last increased. */
  seen: number
  usedMs: number
}

/** The label of all origins without an entry. No origin has this name. */
export const OTHER = 'other'
const MOST_PLACES = 200
/** An entry that was not used for this long is removed if room is needed. */
const IDLE_MS = 600_000

/**
 * @example
 * const table = new CountsTable(() => performance.now(), () => undefined)
 * const counts = table.place('http://orders:8080', 'com.acme')
 * counts.requests++
 */
export class CountsTable {
  readonly other: OriginCounts = newCounts(OTHER)
  readonly #now: () => number
  readonly #onEvicted: (counts: OriginCounts) => void
  readonly #places = new Map<string, Place>()

  /**
   * @param now monotonic, milliseconds
   * @param onEvicted called with counts that were removed
   */
  constructor(now: () => number, onEvicted: (counts: OriginCounts) => void) {
    this.#now = now
    this.#onEvicted = onEvicted
  }

  /** `other` if there is no room: none is idle, and no realm has more than the one that asks. */
  place(origin: string, realm: string): OriginCounts {
    const known = this.#places.get(origin)
    if (known !== undefined) return known.counts
    if (this.#places.size >= MOST_PLACES && !this.#makeRoom(realm)) return this.other
    const counts = newCounts(origin)
    this.#places.set(origin, { counts, realm, seen: 0, usedMs: this.#now() })
    return counts
  }

  /** Reads the counts for metrics, and records which are in use. */
  read(): readonly OriginCounts[] {
    this.#look()
    const all = Array.from(this.#places.values(), ({ counts }) => counts)
    return this.other.requests + this.other.failures.size === 0 ? all : [...all, this.other]
  }

  readFailures(): readonly CountedFailures[] {
    return this.read().flatMap(({ label, failures }) =>
      Array.from(failures, ([cause, count]) => ({ origin: label, cause, count })),
    )
  }

  #look(): void {
    const nowMs = this.#now()
    for (const place of this.#places.values()) {
      if (place.counts.requests === place.seen) continue
      place.seen = place.counts.requests
      place.usedMs = nowMs
    }
  }

  #makeRoom(realm: string): boolean {
    this.#look()
    const victim = this.#longestIdle() ?? this.#ofLargest(realm)
    if (victim === undefined) return false
    this.#places.delete(victim.counts.label)
    this.#onEvicted(victim.counts)
    return true
  }

  #longestIdle(): Place | undefined {
    const [first] = oldestFirst(this.#places.values())
    return first !== undefined && this.#now() - first.usedMs >= IDLE_MS ? first : undefined
  }

  /** An entry of the realm that has most, unless that is the one that asks, or would then have as few. */
  #ofLargest(realm: string): Place | undefined {
    const byRealm = Map.groupBy(this.#places.values(), (place) => place.realm)
    const [largest = []] = [...byRealm.values()].sort((left, right) => right.length - left.length)
    const own = byRealm.get(realm)?.length ?? 0
    return largest.length > own + 1 ? oldestFirst(largest)[0] : undefined
  }
}

const oldestFirst = (places: Iterable<Place>): readonly Place[] =>
  [...places].sort((left, right) => left.usedMs - right.usedMs)

const newCounts = (label: string): OriginCounts => ({ label, requests: 0, failures: new Map() })
