// Notices from the results of all requests when the API server responds again after an outage, and notifies those who
// wait for it. Sends nothing for that: a Lease is read every two seconds anyway.

import type { Clock } from '../../../base/clock.ts'
import type { ApiError } from './api.ts'

/**
 * No response for this long is an outage: longer than the time between two reads of a Lease, so that one kind that
 * fails while others succeed is no outage, and shorter than back-offs grow to meanwhile.
 */
const AWAY_MS = 3_000

/** @param wasSilent some requests got no response at all, and those under way may never get one */
type ReturnListener = (wasSilent: boolean) => void

/** @example reachability.onReturn(() => loop.wake()); reachability.failed(error); reachability.answered() */
export class Reachability {
  readonly #clock: Pick<Clock, 'now'>
  readonly #listeners = new Set<ReturnListener>()
  #answeredAtMs: number
  /** Since the last success: whether requests were rejected for want of a server, or got no response at all. */
  #failure: 'none' | 'refused' | 'silent' = 'none'

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
    this.#answeredAtMs = clock.now()
  }

  /** To be called at each success. */
  answered(): void {
    const nowMs = this.#clock.now()
    const failure = this.#failure
    const isReturn = failure !== 'none' && nowMs - this.#answeredAtMs >= AWAY_MS
    this.#answeredAtMs = nowMs
    this.#failure = 'none'
    if (isReturn) for (const listener of [...this.#listeners]) listener(failure === 'silent')
  }

  /** A rejection (403, 404, 409) says nothing about an outage. */
  failed({ status, reason }: Pick<ApiError, 'status' | 'reason'>): void {
    if (status === 0 && !NOT_OF_THE_SERVER.has(reason)) this.#failure = 'silent'
    else if ((status === 429 || status >= 500) && this.#failure === 'none') {
      this.#failure = 'refused'
    }
  }

  /** @returns a function that unsubscribes; a listener must not throw */
  onReturn(listener: ReturnListener): () => void {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }
}

/** Errors of our own, and responses that we could not use. */
const NOT_OF_THE_SERVER: ReadonlySet<string> = new Set([
  'NoCredentials',
  'Unreadable',
  'ResponseTooLarge',
  'Closed',
])
