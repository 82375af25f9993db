// Keeps records of each origin: counts of requests and failures, the last failure, and for how long there was no good
// response. Records outlive the connections by ten minutes, and their number is bounded. A request costs an addition
// here.

import { CountsTable, type OriginCounts } from './origin-counts.ts'
import { type FailureCause, causeOfStatus } from './failure-cause.ts'
import { OriginStreaks, type FailureStreak } from './endpoints/origin-streaks.ts'

export interface LastFailure {
  readonly cause: FailureCause
  /** Monotonic. */
  readonly atMs: number
}

/** An origin that a document names, or a request has made up, as a confined document or all others see it. */
export interface RecordKey {
  readonly origin: string
  readonly confinedTo: string | undefined
  /** Identifies the client certificate that its connections show. */
  readonly tlsId?: string | undefined
}

/** The bound for origins without connections. */
const MOST_RECORDS = 1000
const KEPT_MS = 600_000

export class OriginLedger {
  readonly counts: CountsTable
  readonly #now: () => number
  readonly #records = new Map<string, OriginRecord>()
  /** Records without users, the longest unused first. */
  readonly #unused = new Map<string, OriginRecord>()

  /** @param now monotonic, milliseconds */
  constructor(now: () => number) {
    this.#now = now
    this.counts = new CountsTable(now, (evicted) => {
      for (const record of this.#records.values())
        if (record.counts === evicted) record.counts = this.counts.other
    })
  }

  /** Call `release` when it is no longer used. */
  acquire(key: RecordKey): OriginRecord {
    const text = textOf(key)
    const record = this.#records.get(text) ?? new OriginRecord(key, this.counts.other, this.#now)
    this.#records.set(text, record)
    this.#unused.delete(text)
    record.users++
    // There may be room now.
    if (record.namedBy !== undefined) this.name(record, record.namedBy)
    return record
  }

  release(record: OriginRecord): void {
    if (--record.users > 0) return
    record.releasedMs = this.#now()
    this.#unused.set(textOf(record.key), record)
    this.#forgetOld()
  }

  /** Records that a document of the realm names it. */
  name(record: OriginRecord, realm: string): void {
    record.namedBy = realm
    if (record.counts === this.counts.other)
      record.counts = this.counts.place(record.key.origin, realm)
  }

  records(): readonly OriginRecord[] {
    this.#forgetOld()
    return [...this.#records.values()]
  }

  #forgetOld(): void {
    const oldestMs = this.#now() - KEPT_MS
    for (const [text, { releasedMs }] of this.#unused) {
      if (this.#unused.size <= MOST_RECORDS && releasedMs > oldestMs) return
      this.#unused.delete(text)
      this.#records.delete(text)
    }
  }
}

/** None of the parts contains a space. */
const textOf = ({ origin, confinedTo, tlsId }: RecordKey): string => {
  if (tlsId !== undefined) return `${origin} ${confinedTo ?? ''} ${tlsId}`
  return confinedTo === undefined ? origin : `${origin} ${confinedTo}`
}

export class OriginRecord {
  readonly key: RecordKey
  /** The number of pools that use it. */
  users = 0
  releasedMs = 0
  /** Realm of the document that named it first; undefined: no document does. */
  namedBy: string | undefined
  counts: OriginCounts
  lastFailure: LastFailure | undefined
  readonly #streaks = new OriginStreaks()
  readonly #now: () => number

  constructor(key: RecordKey, counts: OriginCounts, now: () => number) {
    this.key = key
    this.counts = counts
    this.#now = now
  }

  onResponse(statusCode: number, realm: string | undefined): void {
    const cause = causeOfStatus(statusCode)
    if (cause === undefined) this.#streaks.onGood(realm)
    else this.onFailure(cause, 'realm', realm)
  }

  /** @param blame whether it says anything about the upstream, and for whom */
  onFailure(cause: FailureCause, blame: 'shared' | 'realm' | 'none', realm?: string): void {
    this.#count(cause)
    if (blame === 'shared') this.#streaks.onSharedFailure(cause, this.#now())
    if (blame === 'realm') this.#streaks.onRealmFailure(cause, realm, this.#now())
  }

  streaks(): readonly FailureStreak[] {
    return this.#streaks.read(this.#now())
  }

  #count(cause: FailureCause): void {
    const { failures } = this.counts
    failures.set(cause, (failures.get(cause) ?? 0) + 1)
    // A request that the client aborts is no failure of the upstream.
    if (cause !== 'aborted') this.lastFailure = { cause, atMs: this.#now() }
  }
}
