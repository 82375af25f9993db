// Counts what a fleet does, for metrics that are read at each scrape. The counts of a data plane go with it; the totals
// stay.

import type { SyncItem } from '../../../language/wire/wire.ts'

/** How a sync call ended: 200, 4xx, or anything else. */
export type PushResult = 'ok' | 'refused' | 'failed'
/** How a question for the state ended: 200, 304, or anything else. */
export type PollResult = 'changed' | 'unchanged' | 'failed'

export interface PlaneCounts {
  readonly pushes: Readonly<Record<PushResult, number>>
  /** As sent: what was compressed counts compressed. */
  readonly pushedBytes: number
  readonly polls: Readonly<Record<PollResult, number>>
  /** Documents and realms, by what the data planes answered. */
  readonly items: Readonly<Record<SyncItem['result'], number>>
}

export interface RoundSeconds {
  readonly count: number
  readonly sum: number
  /** Rounds of at most `le` seconds; the last bucket is that of Infinity. */
  readonly buckets: readonly { readonly le: number; readonly count: number }[]
}

export interface FleetCounters extends PlaneCounts {
  /** Responses beyond their bound. */
  readonly excessiveResponses: number
  /** Rounds in which something was sent. */
  readonly rounds: RoundSeconds
  /** Counts by name, only of those that are there. */
  readonly dataPlanes: ReadonlyMap<string, PlaneCounts>
  /** Now. */
  readonly roundsAtWork: number
  readonly bodyBytesInFlight: number
}

interface Counts {
  pushes: Record<PushResult, number>
  pushedBytes: number
  polls: Record<PollResult, number>
  items: Record<SyncItem['result'], number>
}

const noCounts = (): Counts => ({
  pushes: { ok: 0, refused: 0, failed: 0 },
  pushedBytes: 0,
  polls: { changed: 0, unchanged: 0, failed: 0 },
  items: { loaded: 0, unchanged: 0, rejected: 0, deleted: 0 },
})

/** Counts for one data plane and for all. */
export class PlaneCounter {
  readonly counts: PlaneCounts
  readonly #each: readonly Counts[]

  constructor(total: Counts) {
    const own = noCounts()
    this.counts = own
    this.#each = [own, total]
  }

  push(result: PushResult, bytes: number): void {
    for (const counts of this.#each) {
      counts.pushes[result] += 1
      counts.pushedBytes += bytes
    }
  }

  poll(result: PollResult): void {
    for (const counts of this.#each) counts.polls[result] += 1
  }

  items(items: readonly SyncItem[]): void {
    for (const counts of this.#each) for (const { result } of items) counts.items[result] += 1
  }
}

const BUCKETS_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, Infinity]

export class FleetCounter {
  readonly #total = noCounts()
  readonly #buckets = BUCKETS_SECONDS.map((le) => ({ le, count: 0 }))
  #excessiveResponses = 0
  #rounds = 0
  #roundSeconds = 0

  plane(): PlaneCounter {
    return new PlaneCounter(this.#total)
  }

  excess(): void {
    this.#excessiveResponses += 1
  }

  round(seconds: number): void {
    this.#rounds += 1
    this.#roundSeconds += seconds
    for (const bucket of this.#buckets) if (seconds <= bucket.le) bucket.count += 1
  }

  /** A copy: it does not go on counting. */
  read(
    now: Omit<FleetCounters, keyof PlaneCounts | 'rounds' | 'excessiveResponses'>,
  ): FleetCounters {
    return structuredClone({
      ...this.#total,
      excessiveResponses: this.#excessiveResponses,
      rounds: { count: this.#rounds, sum: this.#roundSeconds, buckets: this.#buckets },
      ...now,
    })
  }
}
