// Tracks for how long an upstream has given no good response. Failed connections count for all users of the origin;
// responses that indicate a fault count only for the realm that got them, so that no tenant can affect what is
// reported to another one.

import type { FailureCause } from '../failure-cause.ts'

/** A failure that all requests, or those of one realm, have met for a while. */
export interface FailureStreak {
  /** undefined: for all users of the origin. */
  readonly realm: string | undefined
  /** The cause of the last failure. */
  readonly cause: FailureCause
  /** How many milliseconds ago the first of the consecutive failures was. */
  readonly forMs: number
  /** False: there were failures, and good responses after them. */
  readonly isFailing: boolean
}

interface Streak {
  cause: FailureCause
  failures: number
  sinceMs: number
  lastMs: number
}

const FAILURES = 5
const FAILS_MS = 30_000
/** Without further results it is forgotten after this time. */
const REMEMBERED_MS = 600_000
/** How long the end of a streak contradicts what another process sees. */
const CONTRADICTS_MS = 60_000
/** The bound of one origin; the realm whose last failure is the oldest is dropped. */
const MOST_REALMS = 32

export class OriginStreaks {
  /** The number of running streaks, so that a response costs nothing while there are none. */
  #running = 0
  #shared: Streak | undefined
  readonly #realms = new Map<string, Streak>()

  /** Records a response that does not indicate a fault. */
  onGood(realm: string | undefined): void {
    if (this.#running === 0) return
    this.#break(this.#shared)
    if (realm !== undefined) this.#break(this.#realms.get(realm))
  }

  /** Records a request without a response, for a reason that concerns all users. */
  onSharedFailure(cause: FailureCause, nowMs: number): void {
    this.#shared ??= freshStreak(cause, nowMs)
    this.#prolong(this.#shared, cause, nowMs)
  }

  /** Records a response that indicates a fault; without a realm it is ignored. */
  onRealmFailure(cause: FailureCause, realm: string | undefined, nowMs: number): void {
    this.#break(this.#shared)
    if (realm === undefined) return
    const streak = this.#realms.get(realm) ?? freshStreak(cause, nowMs)
    // The oldest come first.
    this.#realms.delete(realm)
    this.#realms.set(realm, streak)
    this.#prolong(streak, cause, nowMs)
    if (this.#realms.size > MOST_REALMS) this.#forgetOldest()
  }

  read(nowMs: number): readonly FailureStreak[] {
    const streaks: FailureStreak[] = []
    for (const [realm, streak] of [[undefined, this.#shared] as const, ...this.#realms]) {
      if (streak === undefined) continue
      const { cause, sinceMs, lastMs, failures } = streak
      const forMs = nowMs - sinceMs
      const isFailing = failures >= FAILURES && forMs >= FAILS_MS && nowMs - lastMs <= REMEMBERED_MS
      if (isFailing || (failures === 0 && nowMs - lastMs <= CONTRADICTS_MS))
        streaks.push({ realm, cause, forMs, isFailing })
    }
    return streaks
  }

  #prolong(streak: Streak, cause: FailureCause, nowMs: number): void {
    if (streak.failures === 0) {
      streak.sinceMs = nowMs
      this.#running++
    }
    streak.failures++
    streak.cause = cause
    streak.lastMs = nowMs
  }

  #break(streak: Streak | undefined): void {
    if (streak === undefined || streak.failures === 0) return
    streak.failures = 0
    this.#running--
  }

  #forgetOldest(): void {
    const [oldest = ''] = this.#realms.keys()
    this.#break(this.#realms.get(oldest))
    this.#realms.delete(oldest)
  }
}

const freshStreak = (cause: FailureCause, nowMs: number): Streak => ({
  cause,
  failures: 0,
  sinceMs: nowMs,
  lastMs: nowMs,
})
