// Keeps the token buckets of rate limits of one gateway, bounded for each tenant. A bucket is stored as what was taken of it and
// not refilled yet, so that a full one is the same as none, and limits of another size read the same bucket.

import { type BucketPlace, dropIdle, type RoomBounds, TenantRooms } from './tenant-rooms.ts'

/** What one limit takes for one request. */
export interface LimitTake extends BucketPlace {
  /** Names the bucket for requests whose own has no room. */
  readonly sharedKey: string
  /** Refilled within `seconds`; 0: nothing passes. */
  readonly requests: number
  readonly seconds: number
  readonly capacity: number
  readonly cost: number
  /** What is taken of a bucket that is not there; nothing when left out. */
  readonly takenAtFirst?: number
}

export interface LimitState {
  readonly isAllowed: boolean
  /** Tokens that are left. */
  readonly remaining: number
  /** Until the bucket is full; of a refused request: until there are enough tokens for it. */
  readonly seconds: number
  /** There was no room for a bucket of its own. */
  readonly isShared: boolean
}

/** What a process gets that takes more at once than a request needs, for the next ones. */
export interface LeasedState extends LimitState {
  /** Tokens beyond the cost, of the bucket `key`. */
  readonly leased: number
  /** The time until a limit that refuses has enough tokens. */
  readonly waitMs: number
}

/** Takes of every limit what a request costs, or nothing at all where one of them refuses it. */
export interface RateLimiter {
  /** Rejects if it cannot be found out. @returns for each limit what is known of it */
  take(
    takes: readonly LimitTake[],
  ): readonly (LimitState | undefined)[] | Promise<readonly (LimitState | undefined)[]>
}

export interface GivenBack {
  readonly take: LimitTake
  readonly tokens: number
}

interface Bucket {
  taken: number
  atMs: number
  /** Tokens per millisecond, of the last request. */
  rate: number
}

export class RateBuckets implements RateLimiter {
  readonly #now: () => number
  readonly #rooms: TenantRooms<Bucket>
  /** One for each limit that has needed it. */
  readonly #shared = new Map<string, Bucket>()
  readonly #isFull = (bucket: Bucket): boolean => takenNow(bucket, bucket.rate, this.#now()) === 0

  /** @param now monotonic, milliseconds */
  constructor(now: () => number, bounds?: RoomBounds) {
    this.#now = now
    this.#rooms = new TenantRooms(this.#isFull, bounds)
  }

  /** Buckets that are not known to be full, those that are shared apart. */
  get size(): number {
    return this.#rooms.size
  }

  take(takes: readonly LimitTake[]): readonly LimitState[] {
    return this.lease(takes, [])
  }

  /** @param ahead how many tokens the process may take beyond what it needs now, at most */
  lease(takes: readonly LimitTake[], ahead: readonly number[]): readonly LeasedState[] {
    const now = this.#now()
    const found = takes.map((take) => this.#find(take, now))
    const isAllowed = found.every(({ take, taken }) => isEnough(take, taken))
    return found.map((each, at) => {
      const { take, taken } = each
      const isShared = each.isShared && take.key !== take.sharedKey
      const state = leasedState(take, taken, isAllowed)
      if (!isAllowed) return { ...state, isShared, leased: 0 }
      const left = Math.max(0, take.capacity - taken - take.cost)
      const leased = each.isShared ? 0 : Math.min(ahead[at] ?? 0, Math.floor(left))
      this.#put(each, taken + take.cost + leased, now)
      return { ...state, isShared, leased }
    })
  }

  /** What was leased and not used. */
  giveBack(entries: readonly GivenBack[]): void {
    const now = this.#now()
    for (const { take, tokens } of entries) {
      const bucket = this.#rooms.get(take)
      if (bucket === undefined) continue
      bucket.taken = Math.max(0, takenNow(bucket, rateOf(take), now) - tokens)
      bucket.atMs = now
    }
  }

  #find(take: LimitTake, now: number): FoundBucket {
    const own = this.#rooms.get(take)
    const isShared =
      own === undefined && (take.key === take.sharedKey || !this.#rooms.hasRoom(take))
    const bucket = isShared ? this.#shared.get(take.sharedKey) : own
    const taken =
      bucket === undefined ? (take.takenAtFirst ?? 0) : takenNow(bucket, rateOf(take), now)
    return { take, bucket, taken, isShared }
  }

  #put({ take, bucket, isShared }: FoundBucket, taken: number, now: number): void {
    const rate = rateOf(take)
    if (bucket !== undefined) {
      bucket.taken = taken
      bucket.atMs = now
      bucket.rate = rate
      return
    }
    if (taken === 0) return
    const made: Bucket = { taken, atMs: now, rate }
    if (!isShared) {
      this.#rooms.add(take, made)
      return
    }
    dropIdle(this.#shared, this.#isFull)
    this.#shared.set(take.sharedKey, made)
  }
}

interface FoundBucket {
  readonly take: LimitTake
  /** undefined: there is none so far, so it is full. */
  readonly bucket: Bucket | undefined
  readonly taken: number
  /** It is, or would be, the one that requests without a bucket of their own share. */
  readonly isShared: boolean
}

const rateOf = ({ requests, seconds }: LimitTake): number => requests / seconds / 1000

const takenNow = ({ taken, atMs }: Bucket, rate: number, now: number): number =>
  Math.max(0, taken - (now - atMs) * rate)

/** Less than what rounding adds up to. */
const ROUNDING = 1e-6

const isEnough = ({ requests, capacity, cost }: LimitTake, taken: number): boolean =>
  requests > 0 && capacity - taken >= cost - ROUNDING

/** @param taken of its bucket, before the request */
export const leasedState = (take: LimitTake, taken: number, isAllowed: boolean): OwnState =>
  isAllowed ? allowedState(take, taken + take.cost) : refusedState(take, taken)

type OwnState = Pick<LeasedState, 'isAllowed' | 'remaining' | 'seconds' | 'waitMs'>

const allowedState = (take: LimitTake, taken: number): OwnState => ({
  isAllowed: true,
  remaining: whole(take.capacity - taken),
  seconds: secondsOf(msFor(taken, take)),
  waitMs: 0,
})

/** Nothing was taken. A limit that would allow it says how long it is until it is full. */
const refusedState = (take: LimitTake, taken: number): OwnState => {
  if (isEnough(take, taken)) return allowedState(take, taken)
  const isNever = take.requests === 0 || take.cost > take.capacity
  const waitMs = isNever ? take.seconds * 1000 : msFor(taken + take.cost - take.capacity, take)
  const remaining = take.requests === 0 ? 0 : whole(take.capacity - taken)
  return { isAllowed: false, remaining, seconds: secondsOf(waitMs), waitMs }
}

const whole = (tokens: number): number => Math.max(0, Math.floor(tokens + ROUNDING))

const msFor = (tokens: number, take: LimitTake): number => Math.max(0, tokens) / rateOf(take)

/** Whole, and at least 1. */
const secondsOf = (ms: number): number => Math.max(1, Math.ceil(ms / 1000 - ROUNDING))
