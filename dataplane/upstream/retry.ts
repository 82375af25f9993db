// Decides whether and after how long something is attempted again (behaviour §2), and waits for that time. It sends
// nothing.

import { type BackOff, backOffMs } from '../../base/back-off.ts'
import { type Clock, SYSTEM_CLOCK as WALL_CLOCK } from '../../base/clock.ts'
import type { RetryAccount } from './retry-budget.ts'
import type { UpstreamFailure } from './upstream.ts'

/** How an attempt ended: a status, or a failure before or after the first byte of a response. */
export type AttemptResult =
  | {
      readonly status: number
      /** How long the upstream asks clients to wait; used only for 503. */
      readonly retryAfterMs?: number | undefined
    }
  | { readonly failure: UpstreamFailure; readonly headSeen: boolean }

export interface RetryPolicy {
  /** Further attempts after the first. */
  readonly retries: number
  /** From the start of the first attempt to the start of the last. */
  readonly retryTimeoutMs: number
  readonly isIdempotent: boolean
}

/** `now` is monotonic. */
export type RetryClock = Clock

export const SYSTEM_CLOCK: RetryClock = { ...WALL_CLOCK, now: () => performance.now() }

const RETRIED_STATUSES: ReadonlySet<number> = new Set([502, 503, 504])
const UNSENT: ReadonlySet<UpstreamFailure> = new Set(['refused', 'connect_timeout'])
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'])

const BACK_OFF: BackOff = { firstMs: 25, capMs: 2000 }

/** RFC 9110 §9.2.2. Upper case. */
export const isIdempotent = (method: string): boolean => IDEMPOTENT.has(method)

/**
 * Whether another attempt is allowed after this result at all.
 *
 * @internal
 * @example
 * isRetryable({ status: 503 }, true) // true
 * isRetryable({ failure: 'refused', headSeen: false }, false) // true: nothing was sent
 */
export const isRetryable = (result: AttemptResult, idempotent: boolean): boolean => {
  if ('status' in result) return idempotent && RETRIED_STATUSES.has(result.status)
  if (UNSENT.has(result.failure)) return true
  return idempotent && result.failure === 'reset' && !result.headSeen
}

export interface RetryWaits {
  /**
   * True: `again` is called after a delay. False: there were enough attempts, or it is too late.
   *
   * @param leastMs the least delay; if left out, 0
   */
  offer(again: () => void, leastMs?: number): boolean
  /** Cancels the delay; `again` is not called. */
  cancel(): void
}

/** Waits between attempts, whatever is attempted. Create it when the first attempt starts. */
export const createRetryWaits = (
  { retries, retryTimeoutMs }: Omit<RetryPolicy, 'isIdempotent'>,
  clock: RetryClock,
): RetryWaits => {
  const startedAt = clock.now()
  let attempt = 1
  let cancel: (() => void) | undefined

  return {
    offer(again, leastMs = 0) {
      if (attempt > retries) return false
      const waitMs = Math.max(backOffMs(attempt, BACK_OFF, clock.random()), leastMs)
      if (clock.now() - startedAt + waitMs > retryTimeoutMs) return false
      attempt++
      cancel = clock.after(waitMs, again)
      return true
    },
    cancel() {
      cancel?.()
    },
  }
}

export interface Retrier {
  /** True: `again` is called after a delay. False: the result is final. */
  offer(result: AttemptResult, again: () => void): boolean
  /** Cancels the delay; `again` is not called. */
  cancel(): void
}

/**
 * Create it when the first attempt starts. @param account the budget shared with other retries; if left out, no bound
 */
export const createRetrier = (
  policy: RetryPolicy,
  clock: RetryClock,
  account?: RetryAccount,
): Retrier => {
  const waits = createRetryWaits(policy, clock)
  return {
    offer: (result, again) => {
      if (!isRetryable(result, policy.isIdempotent) || account?.hasLeft === false) return false
      const isOffered = waits.offer(again, requestedWaitMs(result))
      if (isOffered) account?.spend()
      return isOffered
    },
    cancel: () => {
      waits.cancel()
    },
  }
}

const requestedWaitMs = (result: AttemptResult): number | undefined =>
  'status' in result && result.status === 503 ? result.retryAfterMs : undefined
