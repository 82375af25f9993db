// Bounds how much retries add to the requests of an upstream, by realm and origin. Without it an overloaded upstream
// would get each request several times.

import { RecentMap } from '../../base/recent-map.ts'

export interface RetryBudget {
  /** @returns the account for a request that may be retried, which is counted by this call */
  open(realm: string | undefined, origin: string): RetryAccount
}

export interface RetryAccount {
  /** Whether `spend` may be called. */
  readonly hasLeft: boolean
  spend(): void
}

/** The share of retries in the requests that may be retried. */
const SHARE = 0.2
const LEAST_PER_SECOND = 3
/** Unused retries are kept for ten seconds, so that a rarely called document gets all the retries that it declares. */
const LEAST_SAVED = 10 * LEAST_PER_SECOND
/** The most that requests without a retry can save up. */
const MOST_SAVED = 100
/** Between one and two times this many accounts are kept; a new one starts with the least. */
const ACCOUNTS = 2000

/**
 * One per process.
 * @param now monotonic, milliseconds
 * @example
 * const budget = createRetryBudget(() => performance.now())
 * const account = budget.open('com.acme', 'http://orders:8080')
 */
export const createRetryBudget = (now: () => number): RetryBudget => {
  const accounts = new RecentMap<Account>(ACCOUNTS)
  return {
    open(realm = '', origin) {
      // A realm contains no space.
      const key = `${realm} ${origin}`
      const known = accounts.get(key)
      const account = known ?? new Account(now)
      if (known === undefined) accounts.set(key, account)
      account.count()
      return account
    },
  }
}

class Account implements RetryAccount {
  readonly #now: () => number
  #saved = 0
  #least = LEAST_SAVED
  #sinceMs: number

  constructor(now: () => number) {
    this.#now = now
    this.#sinceMs = now()
  }

  /** Counts a request that may be retried. */
  count(): void {
    this.#saved = Math.min(MOST_SAVED, this.#saved + SHARE)
  }

  get hasLeft(): boolean {
    const nowMs = this.#now()
    const gained = ((nowMs - this.#sinceMs) / 1000) * LEAST_PER_SECOND
    this.#least = Math.min(LEAST_SAVED, this.#least + gained)
    this.#sinceMs = nowMs
    return this.#least >= 1 || this.#saved >= 1
  }

  spend(): void {
    if (this.#least >= 1) this.#least--
    else this.#saved = Math.max(0, this.#saved - 1)
  }
}
