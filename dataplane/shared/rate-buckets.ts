// Keeps the token buckets of rate limits of one gateway, bounded for each tenant. A bucket is stored as what was taken of it and
// not refilled yet, so that a full one is the same as none, and limits of another size read the same bucket.

/** What one limit takes for one request. */
export interface LimitTake {
  /** Names the bucket: a hash, so that long values cost no more than short ones. */
  readonly key: string
  /** Names the bucket for requests whose own has no room. */
  readonly sharedKey: string
  /** Whose buckets are counted together: a namespace, or a document that belongs to none. */
  readonly tenant: string
  /** `caller`: a caller who was verified decides the key; `anyone`: whoever sends a request may invent it. */
  readonly room: 'anyone' | 'caller'
  /** Refilled within `seconds`; 0: nothing passes. */
  readonly requests: number
  readonly seconds: number
  readonly capacity: number
  readonly cost: number
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
  ): readonly (LimitState | undefined)[] | Promise<readonly LimitState[]>
}

export interface GivenBack {
  readonly take: LimitTake
  readonly tokens: number
}

export interface BucketBounds {
  /** Buckets in each of the two rooms of a tenant. */
  readonly perRoom: number
  readonly inAll: number
  /** A room may always have so many, whatever others have. */
  readonly reserved: number
}

/** Together some 40 MB. */
const BOUNDS: BucketBounds = { perRoom: 50_000, inAll: 200_000, reserved: 1000 }
/** A process may take this part of what is left of a bucket ahead: two processes come within 2 % of a limit. */
const LEASED_SHARE = 50
const MOST_LEASED = 100

interface Bucket {
  taken: number
  atMs: number
  /** Tokens per millisecond, of the last request. */
  rate: number
}

type Room = Map<string, Bucket>

export class RateBuckets implements RateLimiter {
  readonly #now: () => number
  readonly #bounds: BucketBounds
  readonly #rooms = new Map<string, Room>()
  /** One for each limit that has needed it. */
  readonly #shared: Room = new Map()
  #size = 0

  /** @param now monotonic, milliseconds */
  constructor(now: () => number, bounds: BucketBounds = BOUNDS) {
    this.#now = now
    this.#bounds = bounds
  }

  /** Buckets that are not known to be full, those that are shared apart. */
  get size(): number {
    return this.#size
  }

  take(takes: readonly LimitTake[]): readonly LimitState[] {
    return this.lease(takes, false)
  }

  /** @param isAhead whether the process may take more than it needs now */
  lease(takes: readonly LimitTake[], isAhead: boolean): readonly LeasedState[] {
    const now = this.#now()
    const found = takes.map((take) => this.#find(take, now))
    const isAllowed = found.every(({ take, taken }) => isEnough(take, taken))
    return found.map((each) => {
      const { take, taken } = each
      const isShared = each.isShared && take.key !== take.sharedKey
      if (!isAllowed) return { ...refusedState(take, taken), isShared, leased: 0 }
      const left = take.capacity - taken - take.cost
      const leased =
        isAhead && !each.isShared ? Math.min(MOST_LEASED, Math.floor(left / LEASED_SHARE)) : 0
      this.#put(each, taken + take.cost + leased, now)
      return { ...allowedState(take, taken + take.cost), isShared, leased }
    })
  }

  /** What was leased and not used. */
  giveBack(entries: readonly GivenBack[]): void {
    const now = this.#now()
    for (const { take, tokens } of entries) {
      const bucket = this.#rooms.get(roomOf(take))?.get(take.key)
      if (bucket === undefined) continue
      bucket.taken = Math.max(0, takenNow(bucket, rateOf(take), now) - tokens)
      bucket.atMs = now
    }
  }

  #find(take: LimitTake, now: number): FoundBucket {
    const rate = rateOf(take)
    const name = roomOf(take)
    const room = this.#rooms.get(name)
    const own = room?.get(take.key)
    if (own !== undefined)
      return { take, bucket: own, taken: takenNow(own, rate, now), isShared: false }
    if (take.key !== take.sharedKey && this.#hasRoom(room, now))
      return { take, bucket: undefined, taken: 0, isShared: false }
    const shared = this.#shared.get(take.sharedKey)
    return {
      take,
      bucket: shared,
      taken: shared === undefined ? 0 : takenNow(shared, rate, now),
      isShared: true,
    }
  }

  /** Two of the oldest are looked at for each new one: that is enough to find all that are full, and never takes long. */
  #hasRoom(room: Room | undefined, now: number): boolean {
    if (room === undefined) return true
    this.#size -= dropFull(room, now)
    const { perRoom, inAll, reserved } = this.#bounds
    return room.size < reserved || (room.size < perRoom && this.#size < inAll)
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
    if (isShared) {
      dropFull(this.#shared, now)
      this.#shared.set(take.sharedKey, made)
      return
    }
    const name = roomOf(take)
    const room: Room = this.#rooms.get(name) ?? new Map<string, Bucket>()
    this.#rooms.set(name, room)
    room.set(take.key, made)
    this.#size++
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

const roomOf = ({ tenant, room }: LimitTake): string => `${room} ${tenant}`

const rateOf = ({ requests, seconds }: LimitTake): number => requests / seconds / 1000

const takenNow = ({ taken, atMs }: Bucket, rate: number, now: number): number =>
  Math.max(0, taken - (now - atMs) * rate)

/** Less than what rounding adds up to. */
const ROUNDING = 1e-6

const isEnough = ({ requests, capacity, cost }: LimitTake, taken: number): boolean =>
  requests > 0 && capacity - taken >= cost - ROUNDING

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

const dropFull = (room: Room, now: number): number => {
  let dropped = 0
  let looked = 0
  for (const [key, bucket] of room) {
    if (looked++ === 2) break
    room.delete(key)
    if (takenNow(bucket, bucket.rate, now) > 0) room.set(key, bucket)
    else dropped++
  }
  return dropped
}
