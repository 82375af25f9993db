// Decides what a candidate or a holder does next, and until when it may act: what was seen of the Lease, when another
// replica may take it over, and how long a renewal lets its holder act. Nothing here calls the API.

import type { Clock } from '../../../base/clock.ts'
import type { LeaseRecord } from './lease.ts'

export interface LeaseView {
  /** Undefined: there is no Lease. */
  readonly record: LeaseRecord | undefined
  readonly identity: string
  readonly isLeading: boolean
  /** The UID of the Lease that we have seen before we became its holder. */
  readonly trustedUid: string | undefined
  /** For how long we have seen it like this, by our own clock. */
  readonly unchangedMs: number
  /** After so long without a change its holder has stopped acting. */
  readonly expiresMs: number
  /** The leader creates a deleted Lease again within this time. */
  readonly recreatedMs: number
}

export type LeaseStep =
  /** Another replica holds it, or may hold it. */
  | 'wait'
  /** It is ours: written again under the same epoch. */
  | 'renew'
  /** Its holder changes: written under the next epoch. */
  | 'acquire'

/**
 * Our own name on a Lease that we have never seen before was written by a request we had given up: it proves nothing
 * of the time since, so we wait for it to expire as for any other holder's.
 */
export const nextStep = ({ record, identity, ...view }: LeaseView): LeaseStep => {
  if (record === undefined) {
    if (view.isLeading) return 'renew'
    return view.unchangedMs >= view.recreatedMs ? 'acquire' : 'wait'
  }
  if (record.holder === '') return 'acquire'
  if (record.holder === identity && (view.isLeading || record.uid === view.trustedUid)) {
    return 'renew'
  }
  return view.unchangedMs >= view.expiresMs ? 'acquire' : 'wait'
}

/**
 * Remembers what was read of a Lease last, since when it has stood there unchanged by our own clock, and the highest
 * epoch ever seen in it. The times in a Lease are of other machines' clocks: they are never compared with ours.
 */
export class LeaseObservation {
  readonly #durationMs: number
  readonly #monotonicMs: () => number
  #record: LeaseRecord | undefined
  #sinceMs: number | undefined
  #expiresMs: number
  #highestEpoch = 0

  /** @param durationMs where a Lease does not give it */
  constructor(durationMs: number, monotonicMs: () => number) {
    this.#durationMs = durationMs
    this.#monotonicMs = monotonicMs
    this.#expiresMs = durationMs
  }

  /** Undefined: there is none, or it was not read yet. */
  get record(): LeaseRecord | undefined {
    return this.#record
  }

  get hasLooked(): boolean {
    return this.#sinceMs !== undefined
  }

  get highestEpoch(): number {
    return this.#highestEpoch
  }

  get unchangedMs(): number {
    return this.#sinceMs === undefined ? 0 : this.#monotonicMs() - this.#sinceMs
  }

  /** When the last record expires: once it is gone, its holder may still act for that long. */
  get expiresMs(): number {
    return this.#expiresMs
  }

  /** @returns whether it has another holder than before */
  observe(record: LeaseRecord | undefined): boolean {
    const before = this.#record
    if (this.#sinceMs === undefined || before?.fingerprint !== record?.fingerprint) {
      this.#record = record
      this.#sinceMs = this.#monotonicMs()
    }
    if (record === undefined) return false
    this.#expiresMs = record.durationMs ?? this.#durationMs
    this.#highestEpoch = Math.max(this.#highestEpoch, record.epoch)
    return record.holder !== before?.holder
  }
}

export interface TakeoverTimes {
  readonly durationMs: number
  readonly renewDeadlineMs: number
  /** Whether there was a Lease before the new holder wrote itself into it. */
  readonly wasThere: boolean
  /** When the last Lease that was seen expires. */
  readonly expiresMs: number
}

/**
 * Computes how long a new holder must wait before it leads, because the previous holder may still act. No time where
 * the Lease existed: it has shown that its holder had stopped. Where it did not, an earlier holder may still act, for
 * a renew deadline at most, as it can't renew ours: we wait for longer than that.
 */
export const takeoverDelayMs = (times: TakeoverTimes): number =>
  times.wasThere ? 0 : (Math.max(times.durationMs, times.expiresMs) + times.renewDeadlineMs) / 2

export interface Moment {
  readonly wallMs: number
  readonly monotonicMs: number
}

/**
 * Says until when a renewal lets its holder act. Two clocks count, and the one that has gone further is believed: the
 * monotonic one, since the wall clock may be set back, and the wall clock, since the monotonic one stands still while
 * a machine sleeps.
 */
export class RenewDeadline {
  readonly #clock: Clock
  readonly #monotonicMs: () => number
  readonly #lengthMs: number
  #since: Moment | undefined
  #cancel: (() => void) | undefined

  constructor(clock: Clock, monotonicMs: () => number, lengthMs: number) {
    this.#clock = clock
    this.#monotonicMs = monotonicMs
    this.#lengthMs = lengthMs
  }

  now(): Moment {
    return { wallMs: this.#clock.now(), monotonicMs: this.#monotonicMs() }
  }

  /** What is left of a term renewed at `since`; 0 or less: it is over. */
  leftMs(since: Moment | undefined = this.#since): number {
    if (since === undefined) return 0
    const { wallMs, monotonicMs } = this.now()
    return this.#lengthMs - Math.max(wallMs - since.wallMs, monotonicMs - since.monotonicMs)
  }

  /** Calls `onPassed` once, unless it is extended again or cleared before. */
  extend(since: Moment, onPassed: () => void): void {
    this.clear()
    this.#since = since
    this.#wait(onPassed)
  }

  clear(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#since = undefined
  }

  #wait(onPassed: () => void): void {
    this.#cancel = this.#clock.after(Math.max(0, Math.ceil(this.leftMs())), () => {
      if (this.leftMs() > 0) this.#wait(onPassed)
      else onPassed()
    })
  }
}
