// Takes tokens of rate limits from where the buckets are, some ahead, so that many requests need not wait for another process.
// It never lets more through than it was given.

import type { GivenBack, LeasedState, LimitState, LimitTake, RateLimiter } from './rate-buckets.ts'

/** Where the buckets are. */
export interface TokenHome {
  /** Rejects if it cannot be reached. */
  lease(takes: readonly LimitTake[], isAhead: boolean): Promise<readonly LeasedState[]>
  giveBack(entries: readonly GivenBack[]): void
}

interface Lease {
  readonly take: LimitTake
  tokens: number
  /** What was left in the bucket when they were leased. */
  remaining: number
  atMs: number
  /** Until then no request that costs so much can be allowed. */
  refusedUntilMs: number
  refusedCost: number
}

/** Tokens that were not used for so long are given back: other processes may have clients for them. */
const LEASE_MS = 1000
/** So that tokens that others give back are noticed. */
const LONGEST_REFUSAL_MS = 1000
/** Beyond so many nothing is taken ahead, and no refusal is remembered. */
const MOST_LEASES = 20_000

export class TokenLeases implements RateLimiter {
  readonly #home: TokenHome
  readonly #now: () => number
  readonly #leases = new Map<string, Lease>()

  /** @param now monotonic, milliseconds */
  constructor(home: TokenHome, now: () => number) {
    this.#home = home
    this.#now = now
  }

  take(
    takes: readonly LimitTake[],
  ): readonly (LimitState | undefined)[] | Promise<readonly LimitState[]> {
    const refused = takes.map((take) => this.#refusedState(take))
    if (refused.some((state) => state !== undefined)) return refused
    const known = takes.map((take) => this.#useOwn(take))
    const lacking = takes.filter((_, at) => known[at] === undefined)
    const isEnough = known.every((state) => state !== undefined)
    return isEnough ? known : this.#ask(takes, known, lacking)
  }

  /** Gives back what was not used. Call it several times a second. */
  sweep(): void {
    const now = this.#now()
    const entries: GivenBack[] = []
    for (const [key, { take, tokens, atMs, refusedUntilMs }] of this.#leases) {
      if (now - atMs < LEASE_MS || now < refusedUntilMs) continue
      this.#leases.delete(key)
      if (tokens > 0) entries.push({ take, tokens })
    }
    if (entries.length > 0) this.#home.giveBack(entries)
  }

  /** undefined: it must be asked for. */
  #refusedState({ key, cost }: LimitTake): LimitState | undefined {
    const lease = this.#leases.get(key)
    if (lease === undefined || lease.tokens >= cost || cost < lease.refusedCost) return undefined
    const leftMs = lease.refusedUntilMs - this.#now()
    if (leftMs <= 0) return undefined
    const seconds = Math.max(1, Math.ceil(leftMs / 1000))
    return { isAllowed: false, remaining: Math.floor(lease.tokens), seconds, isShared: false }
  }

  #useOwn(take: LimitTake): LimitState | undefined {
    const lease = this.#leases.get(take.key)
    if (lease === undefined || lease.tokens < take.cost || take.requests === 0) return undefined
    lease.tokens -= take.cost
    const remaining = Math.floor(lease.tokens + lease.remaining)
    const missing = Math.max(0, take.capacity - remaining)
    const seconds = Math.max(1, Math.ceil((missing * take.seconds) / take.requests))
    return { isAllowed: true, remaining, seconds, isShared: false }
  }

  async #ask(
    takes: readonly LimitTake[],
    known: readonly (LimitState | undefined)[],
    lacking: readonly LimitTake[],
  ): Promise<readonly LimitState[]> {
    let replies: readonly LeasedState[] = []
    try {
      replies = await this.#home.lease(lacking, this.#leases.size < MOST_LEASES)
    } finally {
      // A refused request takes nothing.
      if (replies.length === 0 || replies.some(({ isAllowed }) => !isAllowed))
        this.#putBack(takes.filter((_, at) => known[at] !== undefined))
    }
    for (const [at, reply] of replies.entries()) {
      const take = lacking[at]
      if (take !== undefined) this.#remember(take, reply)
    }
    const waiting = [...replies]
    return known.flatMap((state) => state ?? waiting.shift() ?? [])
  }

  /** The lease may have ended while the request waited. */
  #putBack(takes: readonly LimitTake[]): void {
    for (const take of takes) {
      const lease = this.#leases.get(take.key)
      if (lease === undefined) this.#home.giveBack([{ take, tokens: take.cost }])
      else lease.tokens += take.cost
    }
  }

  #remember(
    take: LimitTake,
    { isAllowed, isShared, leased, remaining, waitMs }: LeasedState,
  ): void {
    if (isShared || (isAllowed && leased === 0)) return
    const now = this.#now()
    const lease = this.#leases.get(take.key) ?? { ...NOTHING, take }
    lease.tokens += leased
    lease.remaining = Math.max(0, remaining - leased)
    lease.atMs = now
    if (waitMs > 0 && this.#leases.size < MOST_LEASES) {
      lease.refusedUntilMs = now + Math.min(waitMs, LONGEST_REFUSAL_MS)
      lease.refusedCost = take.cost
    }
    this.#leases.set(take.key, lease)
  }
}

const NOTHING = { tokens: 0, remaining: 0, atMs: 0, refusedUntilMs: -Infinity, refusedCost: 0 }
