// Notices from what becomes of every request that the API server answers again after it was away, and tells those who
// wait for it. Nothing is asked for that: a Lease is looked at every two seconds anyway.

import type { Clock } from '../../../base/clock.ts'
import type { ApiError } from './api.ts'

/**
 * Without an answer for so long: longer than a Lease goes unasked for, so that one kind that fails while others are
 * answered is no outage, and shorter than back-offs grow to within it.
 */
const AWAY_MS = 3_000

/** @param wasSilent some requests were not answered at all: what is under way may never be */
type ReturnListener = (wasSilent: boolean) => void

/** @example reachability.onReturn(() => loop.wake()); reachability.failed(error); reachability.answered() */
export class Reachability {
  readonly #clock: Pick<Clock, 'now'>
  readonly #listeners = new Set<ReturnListener>()
  #answeredAtMs: number
  /** Since the last success: whether requests were refused for want of anybody to do them, or not answered at all. */
  #trouble: 'none' | 'refused' | 'silent' = 'none'

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
    this.#answeredAtMs = clock.now()
  }

  /** With a success. */
  answered(): void {
    const nowMs = this.#clock.now()
    const trouble = this.#trouble
    const isReturn = trouble !== 'none' && nowMs - this.#answeredAtMs >= AWAY_MS
    this.#answeredAtMs = nowMs
    this.#trouble = 'none'
    if (isReturn) for (const listener of [...this.#listeners]) listener(trouble === 'silent')
  }

  /** A refusal (403, 404, 409) says nothing of it. */
  failed({ status, reason }: Pick<ApiError, 'status' | 'reason'>): void {
    if (status === 0 && !NOT_OF_THE_SERVER.has(reason)) this.#trouble = 'silent'
    else if ((status === 429 || status >= 500) && this.#trouble === 'none') {
      this.#trouble = 'refused'
    }
  }

  /** @returns ends it; a listener must not throw */
  onReturn(listener: ReturnListener): () => void {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }
}

/** Faults of ours, and answers that were none to our liking. */
const NOT_OF_THE_SERVER: ReadonlySet<string> = new Set([
  'NoCredentials',
  'Unreadable',
  'AnswerTooLarge',
  'Closed',
])
