// Remembers recent successful logins by user and place: the digest of the last right credential, for an hour.
// Repeating the same credential is not throttled because of others who guess at the same name from the same address.

import { timingSafeEqual } from 'node:crypto'
import { BoundedMap } from '../../../base/bounded-map.ts'

/** A user of a realm, at an address. */
export interface UserPlace {
  /** Realm and name as one text. */
  readonly user: string
  readonly place: string
}

export interface RecentSuccesses {
  /** @param digest of the credential, with a key that only this process has: never the password itself */
  add(at: UserPlace, digest: string): void
  /** Takes the same time for every other digest of the same length. */
  has(at: UserPlace, digest: string): boolean
  /** Whether any credential of that user was right there. */
  knows(at: UserPlace): boolean
}

const REMEMBERED_MS = 3_600_000
/** Most users at once; those whose last new success is longest ago are dropped. */
const MAX_USERS = 10_000
/** The most addresses of one user, so that someone who logs in from everywhere displaces nobody else. */
const MAX_PLACES = 16

interface Success {
  readonly digest: Buffer
  readonly until: number
}

/** @param now Unix time in milliseconds */
export const createRecentSuccesses = (now: () => number): RecentSuccesses => {
  const known = new BoundedMap<string, BoundedMap<string, Success>>(MAX_USERS)
  const lastOf = ({ user, place }: UserPlace): Success | undefined => {
    const last = known.get(user)?.get(place)
    return last !== undefined && last.until > now() ? last : undefined
  }
  return {
    add: ({ user, place }, digest) => {
      const places = known.get(user) ?? new BoundedMap<string, Success>(MAX_PLACES)
      places.set(place, { digest: Buffer.from(digest), until: now() + REMEMBERED_MS })
      known.set(user, places)
    },
    has: (at, digest) => {
      const last = lastOf(at)
      if (last === undefined) return false
      const given = Buffer.from(digest)
      return given.length === last.digest.length && timingSafeEqual(given, last.digest)
    },
    knows: (at) => lastOf(at) !== undefined,
  }
}
