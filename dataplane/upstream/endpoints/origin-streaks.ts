// Remembers for how long an upstream has answered nobody: causes of failures and answers come in, and what has failed without a
// good answer between goes out. Connections that fail count for everybody who uses the origin; answers that tell of a fault
// only for the realm that got them, so that no tenant speaks of the upstream of another one.

import type { FailureCause } from '../failure-cause.ts'

/** What all requests for a while have met, or those of one realm. */
export interface Trouble {
  /** undefined: of all users of the origin. */
  readonly realm: string | undefined
  /** Of the last failure. */
  readonly cause: FailureCause
  /** So many milliseconds ago the first of the failures in a row was. */
  readonly forMs: number
  /** There were failures, and good answers after them: that says as much as `isFailing: false`. */
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
/** Without any news it is not known any more. */
const REMEMBERED_MS = 600_000
/** So long a streak that was broken contradicts what another process sees. */
const CONTRADICTS_MS = 60_000
/** Of one origin; the realm whose last failure is the oldest goes. */
const MOST_REALMS = 32

export class OriginStreaks {
  /** Streaks that go on, so that an answer costs nothing while there are none. */
  #running = 0
  #shared: Streak | undefined
  readonly #realms = new Map<string, Streak>()

  /** An answer that tells of no fault. */
  onGood(realm: string | undefined): void {
    if (this.#running === 0) return
    this.#break(this.#shared)
    if (realm !== undefined) this.#break(this.#realms.get(realm))
  }

  /** No answer, for a reason that concerns everybody. */
  onSharedFailure(cause: FailureCause, nowMs: number): void {
    this.#shared ??= freshStreak(cause, nowMs)
    this.#prolong(this.#shared, cause, nowMs)
  }

  /** Something answers, but not as it should; of nobody's request nothing follows. */
  onRealmFailure(cause: FailureCause, realm: string | undefined, nowMs: number): void {
    this.#break(this.#shared)
    if (realm === undefined) return
    const streak = this.#realms.get(realm) ?? freshStreak(cause, nowMs)
    // Those of long ago come first.
    this.#realms.delete(realm)
    this.#realms.set(realm, streak)
    this.#prolong(streak, cause, nowMs)
    if (this.#realms.size > MOST_REALMS) this.#forgetOldest()
  }

  read(nowMs: number): readonly Trouble[] {
    const troubles: Trouble[] = []
    for (const [realm, streak] of [[undefined, this.#shared] as const, ...this.#realms]) {
      if (streak === undefined) continue
      const { cause, sinceMs, lastMs, failures } = streak
      const forMs = nowMs - sinceMs
      const isFailing = failures >= FAILURES && forMs >= FAILS_MS && nowMs - lastMs <= REMEMBERED_MS
      if (isFailing || (failures === 0 && nowMs - lastMs <= CONTRADICTS_MS))
        troubles.push({ realm, cause, forMs, isFailing })
    }
    return troubles
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
  ...{ cause, failures: 0, sinceMs: nowMs, lastMs: nowMs },
})
