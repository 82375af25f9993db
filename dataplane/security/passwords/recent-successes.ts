// Remembers recent successful logins by user and place: the digest of the last right credential, for an hour.
// Repeating the same credential is not throttled because of others who guess at the same name from the same address.

import { timingSafeEqual } from 'node:crypto'
import { BoundedMap } from '../../../base/bounded-map.ts'

export interface RecentSuccesses {
  /**
   * @param place realm, user and address as one text
   * @param digest of the credential, with a key that only this process has: never the password itself
   */
  add(place: string, digest: string): void
  /** Takes the same time for every other digest of the same length. */
  has(place: string, digest: string): boolean
}

const REMEMBERED_MS = 3_600_000
/** Most users and addresses at once; those whose success is longest ago are dropped. */
const MAX_REMEMBERED = 10_000

/** @param now Unix time in milliseconds */
export const createRecentSuccesses = (now: () => number): RecentSuccesses => {
  const known = new BoundedMap<string, { readonly digest: Buffer; readonly until: number }>(
    MAX_REMEMBERED,
  )
  return {
    add: (place, digest) => {
      known.set(place, { digest: Buffer.from(digest), until: now() + REMEMBERED_MS })
    },
    has: (place, digest) => {
      const last = known.get(place)
      if (last === undefined || last.until <= now()) return false
      const given = Buffer.from(digest)
      return given.length === last.digest.length && timingSafeEqual(given, last.digest)
    },
  }
}
