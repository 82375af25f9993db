// Counts requests in Redis together with all other processes that share it, of this gateway and of others: it leases tokens
// there. While Redis is away or slow it goes on with its share of each limit, and no request waits for it.

import type { Clock } from '../../base/clock.ts'
import { withTimeout } from '../../base/timeout.ts'
import { type LimitState, type LimitTake, RateBuckets, type RateLimiter } from './rate-buckets.ts'
import { RecentGrants } from './recent-grants.ts'
import type { SharedTokens } from './redis-tokens.ts'
import { SharedStateError } from './shared-state.ts'
import type { RoomBounds } from './tenant-rooms.ts'
import { TokenLeases } from './token-leases.ts'

/** A request waits no longer for Redis, and one that takes so long is away. */
const LONGEST_WAIT_MS = 100
/** What a process that has never reached Redis takes their number to be. */
const PROCESSES_UNTIL_COUNTED = 20
/** While gateways come back after Redis did, each finds fewer than there are. */
const LOWER_COUNT_AFTER_MS = 60_000

/** Since when it is away; undefined: it has never been reached. */
interface Away {
  readonly sinceMs: number | undefined
}

export class RedisLimiter implements RateLimiter {
  readonly #home: SharedTokens
  readonly #clock: Pick<Clock, 'now' | 'after'>
  readonly #leases: TokenLeases
  readonly #grants: RecentGrants
  /** Decides while Redis is away. */
  readonly #alone: RateBuckets
  #away: Away | undefined = { sinceMs: undefined }
  #processes = PROCESSES_UNTIL_COUNTED
  #countedMs = -Infinity
  #isCounting = false

  /** @param clock `now` is monotonic */
  constructor(home: SharedTokens, clock: Pick<Clock, 'now' | 'after'>, bounds?: RoomBounds) {
    const now = (): number => clock.now()
    this.#home = home
    this.#clock = clock
    this.#leases = new TokenLeases(home, now)
    this.#grants = new RecentGrants(now, bounds)
    this.#alone = new RateBuckets(now, bounds)
  }

  get isAway(): boolean {
    return this.#away !== undefined
  }

  take(
    takes: readonly LimitTake[],
  ): readonly (LimitState | undefined)[] | Promise<readonly (LimitState | undefined)[]> {
    if (this.#away !== undefined) return this.#takeAlone(takes, this.#away)
    const placed = takes.map((take) => this.#grants.place(take))
    const states = this.#leases.take(placed)
    if (states instanceof Promise) return this.#await(takes, placed, states)
    return this.#record(takes, placed, states)
  }

  /** Gives back what was not used, and finds out whether Redis is away. Call it several times a second. */
  tick(): void {
    this.#leases.sweep()
    if (!this.#isCounting) void this.#count()
  }

  /** Never rejects. */
  async #count(): Promise<void> {
    this.#isCounting = true
    try {
      const counting = this.#home.countProcesses()
      const count = await this.#inTime(counting).catch(async (error: unknown) => {
        this.#leave()
        // The next one would wait behind it.
        await counting
        throw error
      })
      const now = this.#clock.now()
      if (count >= this.#processes || now - this.#countedMs > LOWER_COUNT_AFTER_MS) {
        this.#processes = count
        this.#countedMs = now
      }
      this.#away = undefined
    } catch {
      this.#leave()
    } finally {
      this.#isCounting = false
    }
  }

  #leave(): void {
    this.#away ??= { sinceMs: this.#clock.now() }
  }

  async #await(
    takes: readonly LimitTake[],
    placed: readonly LimitTake[],
    states: Promise<readonly (LimitState | undefined)[]>,
  ): Promise<readonly (LimitState | undefined)[]> {
    try {
      return this.#record(takes, placed, await this.#inTime(states))
    } catch {
      this.#leave()
      return this.#takeAlone(takes, this.#away ?? { sinceMs: undefined })
    }
  }

  #inTime<T>(work: Promise<T>): Promise<T> {
    const onTimeout = (): never => {
      throw new SharedStateError('unavailable', 'Redis did not reply in time')
    }
    return withTimeout(work, { ms: LONGEST_WAIT_MS, clock: this.#clock, onTimeout })
  }

  #record<State extends LimitState | undefined>(
    takes: readonly LimitTake[],
    placed: readonly LimitTake[],
    states: readonly State[],
  ): readonly State[] {
    if (states.every((state) => state?.isAllowed === true))
      for (const take of placed) this.#grants.add(take)
    return states.map((state, at) =>
      state === undefined || placed[at] === takes[at] ? state : { ...state, isShared: true },
    )
  }

  #takeAlone(takes: readonly LimitTake[], away: Away): readonly LimitState[] {
    return this.#alone.take(takes.map((take) => this.#shareOf(take, away)))
  }

  /**
   * What this process had of the limit when Redis went away, but at least what it would have if all had the same: nothing
   * becomes impossible, and together they let through no more than twice the limit.
   */
  #shareOf(take: LimitTake, { sinceMs }: Away): LimitTake {
    const { requests, capacity, seconds } = take
    const least = 1 / this.#processes
    if (sinceMs === undefined) {
      const share = Math.min(1, Math.max(least, 1 / Math.max(1, requests)))
      return { ...take, requests: requests * share, capacity: sized(capacity * share, take) }
    }
    const share = Math.max(least, this.#grants.shareOf(take, sinceMs))
    const filledMs = this.#clock.now() - sinceMs
    const filled = capacity * share + (filledMs * requests * share) / seconds / 1000
    const most = sized(capacity * share, take)
    return {
      ...take,
      requests: requests * share,
      capacity: most,
      // A share of less than one request begins with no more than that.
      takenAtFirst: Math.max(0, most - filled),
    }
  }
}

/** Holds a request that the whole bucket would hold. */
const sized = (share: number, { capacity, cost }: LimitTake): number =>
  Math.max(share, Math.min(capacity, Math.max(1, cost)))
