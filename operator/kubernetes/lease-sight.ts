// What was read of a Lease, again and again, in; for how long it has stood there unchanged, by our own clock, and the
// highest epoch ever seen in it out. The times that stand in a Lease are of other machines' clocks: never compared.

import type { LeaseRecord } from './lease-record.ts'

export interface LeaseSightOptions {
  /** Where a Lease does not say. */
  readonly durationMs: number
  /**
   * That there is no Lease must be seen this often to count: one that was made and deleted between two looks leaves no
   * trace, where one that is there proves by its version that nothing was written.
   */
  readonly blindMs: number
  readonly monotonicMs: () => number
}

export class LeaseSight {
  readonly #options: LeaseSightOptions
  #record: LeaseRecord | undefined
  #sinceMs: number | undefined
  #lookedAtMs = 0
  #expiresMs: number
  #highestEpoch = 0

  constructor(options: LeaseSightOptions) {
    this.#options = options
    this.#expiresMs = options.durationMs
  }

  /** Undefined: there is none, or it was not looked for yet. */
  get record(): LeaseRecord | undefined {
    return this.#record
  }

  get highestEpoch(): number {
    return this.#highestEpoch
  }

  get unchangedMs(): number {
    return this.#sinceMs === undefined ? 0 : this.#options.monotonicMs() - this.#sinceMs
  }

  /** Of the last record that there was: when it is gone, its holder may still act for as long. */
  get expiresMs(): number {
    return this.#expiresMs
  }

  /** True: it has another holder than before. */
  take(record: LeaseRecord | undefined): boolean {
    const before = this.#record
    const nowMs = this.#options.monotonicMs()
    const isBlind = record === undefined && nowMs - this.#lookedAtMs > this.#options.blindMs
    this.#lookedAtMs = nowMs
    if (this.#sinceMs === undefined || isBlind || before?.fingerprint !== record?.fingerprint) {
      this.#record = record
      this.#sinceMs = nowMs
    }
    if (record === undefined) return false
    this.#expiresMs = record.durationMs ?? this.#options.durationMs
    this.#highestEpoch = Math.max(this.#highestEpoch, record.epoch)
    return record.holder !== before?.holder
  }
}
