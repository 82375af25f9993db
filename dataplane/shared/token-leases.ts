// Takes tokens of rate limits from where the buckets are, some ahead, so that many requests need not wait for another process.
// It never lets more through than it was given.

import type { GivenBack, LeasedState, LimitState, LimitTake, RateLimiter } from './rate-buckets.ts'

/** Where the buckets are. */
export interface TokenHome {
  /** @param ahead how many tokens beyond the cost of each may be taken, at most. Rejects if it cannot be reached. */
  lease(takes: readonly LimitTake[], ahead: readonly number[]): Promise<readonly LeasedState[]>
  giveBack(entries: readonly GivenBack[]): void
}

interface Lease {
  readonly take: LimitTake
  tokens: number
  /** What was left in the bucket when they were leased. */
  remaining: number
  /** With fewer than this more are asked for. */
  low: number
  /** When they were leased, and what requests have wanted since. */
  atMs: number
  wanted: number
  /** When a request has last wanted some. */
  usedMs: number
  /** Set while more are requested; never rejects. */
  pending: Promise<void> | undefined
  /** Until then no request that costs so much can be allowed. */
  refusedUntilMs: number
  refusedCost: number
  /** When the bucket has enough for that, which may be later. */
  enoughAtMs: number
}

/** Tokens that were not used for so long are given back: other processes may have clients for them. */
const LEASE_MS = 500
/** So that tokens that others give back are noticed. */
const LONGEST_REFUSAL_MS = 1000
/** Tokens are leased for so long, as far as requests have come of late; half of it before they are used up. */
const AHEAD_MS = 500
/** Twenty processes have no more of a limit than what is refilled in a second. */
const MOST_AHEAD_MS = 50
/** An empty bucket is asked again after so many requests or this time, and not for each token; a small one before it is half full. */
const REFUSED_AT_ONCE = 25
const LEAST_REFUSAL_MS = 50
const REFUSAL_MS = 250
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
  ): readonly (LimitState | undefined)[] | Promise<readonly (LimitState | undefined)[]> {
    return this.#take(takes, true)
  }

  /** @param mayWait whether it may wait for what others have asked for */
  #take(
    takes: readonly LimitTake[],
    mayWait: boolean,
  ): readonly (LimitState | undefined)[] | Promise<readonly (LimitState | undefined)[]> {
    const refused = takes.map((take) => this.#refusedState(take))
    if (refused.some((state) => state !== undefined)) return refused
    const known = takes.map((take) => this.#useOwn(take))
    const lacking = takes.filter((_, at) => known[at] === undefined)
    const isEnough = known.every((state) => state !== undefined)
    if (isEnough) return known
    const pending = lacking.flatMap((take) => this.#leaseOf(take)?.pending ?? [])
    if (pending.length === 0 || !mayWait) return this.#ask(takes, known, lacking)
    this.#putBack(takes.filter((_, at) => known[at] !== undefined))
    return Promise.all(pending).then(() => this.#take(takes, false))
  }

  /** Gives back what was not used. Call it several times a second. */
  sweep(): void {
    const now = this.#now()
    const entries: GivenBack[] = []
    for (const [key, { take, tokens, usedMs, refusedUntilMs }] of this.#leases) {
      if (now - usedMs < LEASE_MS || now < refusedUntilMs) continue
      this.#leases.delete(key)
      if (tokens > 0) entries.push({ take, tokens })
    }
    if (entries.length > 0) this.#home.giveBack(entries)
  }

  #leaseOf(take: LimitTake): Lease | undefined {
    return this.#leases.get(leaseKey(take))
  }

  /** undefined: it must be asked for. */
  #refusedState(take: LimitTake): LimitState | undefined {
    const { requests, seconds: window, cost } = take
    // Nothing passes, whatever the bucket holds for others.
    if (requests === 0) return { isAllowed: false, remaining: 0, seconds: window, isShared: false }
    const lease = this.#leaseOf(take)
    if (lease === undefined) return undefined
    const now = this.#now()
    lease.wanted += cost
    lease.usedMs = now
    if (lease.tokens >= cost || cost < lease.refusedCost) return undefined
    if (lease.refusedUntilMs <= now) return undefined
    const seconds = Math.max(1, Math.ceil((lease.enoughAtMs - now) / 1000))
    return { isAllowed: false, remaining: Math.floor(lease.tokens), seconds, isShared: false }
  }

  #useOwn(take: LimitTake): LimitState | undefined {
    const lease = this.#leaseOf(take)
    if (lease === undefined || lease.tokens < take.cost) return undefined
    lease.tokens -= take.cost
    if (lease.tokens < lease.low && lease.refusedUntilMs <= this.#now()) this.#askAhead(take)
    const remaining = Math.floor(lease.tokens + lease.remaining)
    const missing = Math.max(0, take.capacity - remaining)
    const seconds = Math.max(1, Math.ceil((missing * take.seconds) / take.requests))
    return { isAllowed: true, remaining, seconds, isShared: false }
  }

  /** Before a request has to wait for it. */
  #askAhead(take: LimitTake): void {
    const ahead = this.#aheadOf(take)
    // Where it fails the next request asks, and finds out.
    if (ahead > 0) this.#askHome([{ ...take, cost: 0 }], [ahead]).catch(() => undefined)
  }

  async #ask(
    takes: readonly LimitTake[],
    known: readonly (LimitState | undefined)[],
    lacking: readonly LimitTake[],
  ): Promise<readonly LimitState[]> {
    const ahead = lacking.map((take) => this.#aheadOf(take))
    let replies: readonly LeasedState[] = []
    try {
      replies = await this.#askHome(lacking, ahead)
    } finally {
      // A refused request takes nothing.
      if (replies.length === 0 || replies.some(({ isAllowed }) => !isAllowed))
        this.#putBack(takes.filter((_, at) => known[at] !== undefined))
    }
    const waiting = [...replies]
    return known.flatMap((state) => state ?? waiting.shift() ?? [])
  }

  async #askHome(
    takes: readonly LimitTake[],
    ahead: readonly number[],
  ): Promise<readonly LeasedState[]> {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const leases = takes.flatMap((take, at) => (ahead[at] === 0 ? [] : (this.#leaseOf(take) ?? [])))
    for (const lease of leases) lease.pending = promise
    try {
      const replies = await this.#home.lease(takes, ahead)
      for (const [at, reply] of replies.entries()) {
        const take = takes[at]
        if (take !== undefined) this.#remember(take, reply, ahead[at] ?? 0)
      }
      return replies
    } finally {
      for (const lease of leases) lease.pending = undefined
      resolve(undefined)
    }
  }

  /** As much as requests want for a moment. Of several that wait one asks for it. */
  #aheadOf(take: LimitTake): number {
    const lease = this.#leaseOf(take)
    if (lease === undefined || lease.pending !== undefined) return 0
    const wanted = (lease.wanted * AHEAD_MS) / Math.max(1, this.#now() - lease.atMs)
    return Math.floor(Math.min(wanted, mostAhead(take)))
  }

  /** The lease may have ended while the request waited. */
  #putBack(takes: readonly LimitTake[]): void {
    for (const take of takes) {
      const lease = this.#leaseOf(take)
      if (lease === undefined) this.#home.giveBack([{ take, tokens: take.cost }])
      else lease.tokens += take.cost
    }
  }

  #remember(
    take: LimitTake,
    { isAllowed, isShared, leased, remaining, waitMs }: LeasedState,
    ahead: number,
  ): void {
    if (isShared || (isAllowed && mostAhead(take) < 1)) return
    const known = this.#leaseOf(take)
    if (known === undefined && leased === 0 && this.#leases.size >= MOST_LEASES) return
    const now = this.#now()
    const lease = known ?? { ...NOTHING, take }
    const wantedPerMs = lease.wanted / Math.max(1, now - lease.atMs)
    lease.tokens += leased
    lease.remaining = Math.max(0, remaining - leased)
    if (ahead > 0 || known === undefined) {
      lease.low = leased / 2
      lease.atMs = now
      lease.wanted = 0
    }
    lease.usedMs = now
    if (waitMs > 0 || leased < ahead) {
      const halfMs = take.capacity / 2 / rateOf(take)
      const leastMs = Math.min(
        REFUSAL_MS,
        halfMs,
        Math.max(LEAST_REFUSAL_MS, REFUSED_AT_ONCE / wantedPerMs),
      )
      lease.refusedUntilMs = now + Math.min(Math.max(waitMs, leastMs), LONGEST_REFUSAL_MS)
      lease.refusedCost = Math.max(1, take.cost)
      lease.enoughAtMs = now + waitMs
    }
    this.#leases.set(leaseKey(take), lease)
  }
}

/** Limits of another size read the same bucket, and what one may not take another one may. */
const leaseKey = ({ key, requests, capacity }: LimitTake): string =>
  `${key} ${requests} ${capacity}`

const NOTHING = {
  tokens: 0,
  low: 0,
  remaining: 0,
  atMs: 0,
  wanted: 0,
  usedMs: 0,
  pending: undefined,
  refusedUntilMs: -Infinity,
  refusedCost: 0,
  enoughAtMs: 0,
}

/** Tokens per millisecond. */
const rateOf = ({ requests, seconds }: LimitTake): number => requests / seconds / 1000

const mostAhead = (take: LimitTake): number => rateOf(take) * MOST_AHEAD_MS
