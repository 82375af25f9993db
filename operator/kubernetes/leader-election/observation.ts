// What was read of a Lease, again and again, in; for how long it has stood there unchanged, by our own clock, and the
// highest epoch ever seen in it out. The times that stand in a Lease are of other machines' clocks: never compared.

import type { LeaseRecord } from './lease.ts'

export class LeaseSight {
  readonly #durationMs: number
  readonly #monotonicMs: () => number
  #record: LeaseRecord | undefined
  #sinceMs: number | undefined
  #expiresMs: number
  #highestEpoch = 0

  /** @param durationMs where a Lease does not say */
  constructor(durationMs: number, monotonicMs: () => number) {
    this.#durationMs = durationMs
    this.#monotonicMs = monotonicMs
    this.#expiresMs = durationMs
  }

  /** Undefined: there is none, or it was not looked for yet. */
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

  /** Of the last record that there was: when it is gone, its holder may still act for as long. */
  get expiresMs(): number {
    return this.#expiresMs
  }

  /** True: it has another holder than before. */
  take(record: LeaseRecord | undefined): boolean {
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
