// Remembers how much of each rate limit this process has let through of late: its share, which it keeps while what all processes
// share is away. It bounds the keys that the process writes there, for each tenant.

import type { LimitTake } from './rate-buckets.ts'
import { type RoomBounds, TenantRooms } from './tenant-rooms.ts'

/** A sum that decays with the time in which the bucket is filled: of all processes together it is never more than what that holds. */
interface Grants {
  tokens: number
  atMs: number
  fillMs: number
  /** The time at which the bucket is full again, as far as this process has taken from it, and so it is gone. */
  fullAtMs: number
}

export class RecentGrants {
  readonly #now: () => number
  readonly #rooms: TenantRooms<Grants>

  /** @param now monotonic, milliseconds */
  constructor(now: () => number, bounds?: RoomBounds) {
    this.#now = now
    this.#rooms = new TenantRooms(({ fullAtMs }) => now() >= fullAtMs, bounds)
  }

  /** The same take, from the bucket for requests whose own has no room where there is none. */
  place(take: LimitTake): LimitTake {
    const hasOwn = this.#rooms.get(take) !== undefined || this.#rooms.hasRoom(take)
    return hasOwn ? take : { ...take, key: take.sharedKey }
  }

  add(take: LimitTake): void {
    if (take.key === take.sharedKey || take.cost === 0) return
    const now = this.#now()
    const tokenMs = (take.seconds * 1000) / take.requests
    const fillMs = mostOf(take) * tokenMs
    const known = this.#rooms.get(take)
    const tokens = (known === undefined ? 0 : tokensAt(known, now)) + take.cost
    const grants = { tokens, atMs: now, fillMs, fullAtMs: now + tokens * tokenMs }
    if (known === undefined) this.#rooms.add(take, grants)
    else Object.assign(known, grants)
  }

  /** From 0 to 1: what of the limit came from this process at that time. Those of all processes are not more than 1. */
  shareOf(take: LimitTake, atMs: number): number {
    const grants = this.#rooms.get(take)
    return grants === undefined ? 0 : Math.min(1, tokensAt(grants, atMs) / mostOf(take))
  }
}

const mostOf = ({ requests, capacity }: LimitTake): number => Math.max(requests, capacity)

const tokensAt = ({ tokens, atMs, fillMs }: Grants, nowMs: number): number =>
  tokens * Math.exp(-Math.max(0, nowMs - atMs) / fillMs)
