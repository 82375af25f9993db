// Throttles password guessing: it counts how often logins of a user from an address failed, and once that was too
// often lets one attempt per second be verified. All processes share both counts; while the shared state is away each
// process counts for itself.

import { hash } from 'node:crypto'
import { isIPv6 } from 'node:net'
import { BoundedMap } from '../../../base/bounded-map.ts'
import { plainAddress } from '../../plain-address.ts'
import type { SharedState } from '../../shared/shared-state.ts'
import { isWithin } from '../is-within.ts'

const FREE_FAILURES = 30
export const WINDOW_SECONDS = 60
/** The time in which one attempt is verified after too many failures; rejections tell clients to wait for it. */
export const RETRY_SECONDS = 1

export interface Failing {
  readonly realmUri: string
  readonly username: string
  readonly address: string
}

export interface LoginThrottle {
  /** Counts a failure. Never rejects. @returns whether there were too many */
  failed(who: Failing): Promise<boolean>
  /** Whether there were too many, by the counts of this process, without waiting. */
  isDamped(who: Failing): boolean
  /** False: this process knows no user and address with too many failures. Costs nothing. */
  isAnybodyDamped(): boolean
  /**
   * For a throttled user and address: whether this attempt is the one of its second, in all processes. This process
   * asks the shared state at most once a second, however many attempts there are. Never rejects.
   */
  mayTry(who: Failing): Promise<boolean>
}

export interface LoginThrottleOptions {
  readonly shared: Pick<SharedState, 'increment'>
  /** Unix time in milliseconds. */
  readonly now: () => number
}

/** Most users and addresses that are tracked at once; the oldest are dropped. */
const MAX_SEEN = 10_000

interface Seen {
  count: number
  readonly until: number
  /** When this process last asked for the attempt of a second. */
  triedAt: number
}

export const createLoginThrottle = ({ shared, now }: LoginThrottleOptions): LoginThrottle => {
  const seen = new BoundedMap<string, Seen>(MAX_SEEN)
  let dampedUntil = 0

  const countHere = (key: string): Seen => {
    const known = seen.get(key)
    if (known !== undefined && known.until > now()) {
      known.count++
      return known
    }
    const fresh: Seen = { count: 1, until: now() + WINDOW_SECONDS * 1000, triedAt: -Infinity }
    seen.set(key, fresh)
    return fresh
  }

  const dampedOne = (key: string): Seen | undefined => {
    const known = seen.get(key)
    const isDamped = known !== undefined && known.until > now() && known.count > FREE_FAILURES
    return isDamped ? known : undefined
  }

  return {
    failed: async (who) => {
      const key = keyOf('failures', who)
      const here = countHere(key)
      try {
        here.count = Math.max(here.count, await shared.increment(key, WINDOW_SECONDS))
      } catch {
        // Meanwhile each process counts for itself.
      }
      if (here.count <= FREE_FAILURES) return false
      dampedUntil = Math.max(dampedUntil, here.until)
      return true
    },
    isDamped: (who) => dampedOne(keyOf('failures', who)) !== undefined,
    isAnybodyDamped: () => now() < dampedUntil,
    mayTry: async (who) => {
      const known = dampedOne(keyOf('failures', who))
      if (known === undefined) return true
      if (isWithin(RETRY_SECONDS * 1000, { now: now(), since: known.triedAt })) return false
      known.triedAt = now()
      try {
        return (await shared.increment(keyOf('attempts', who), RETRY_SECONDS)) === 1
      } catch {
        return true
      }
    },
  }
}

const keyOf = (kind: 'failures' | 'attempts', { realmUri, username, address }: Failing): string =>
  `${kind}:${hash('sha256', JSON.stringify([realmUri, username, placeOf(address)]), 'base64url')}`

/** A household has a whole /64 of IPv6, so these 2^64 addresses count as one. */
export const placeOf = (given: string): string => {
  if (!given.includes(':')) return given
  const address = plainAddress(given)
  if (!isIPv6(address)) return address
  const [head = '', tail = ''] = (address.split('%')[0] ?? '').split('::')
  const before = head.split(':').filter((part) => part !== '')
  const after = tail.split(':').filter((part) => part !== '')
  const gap = address.includes('::') ? Math.max(0, 8 - before.length - after.length) : 0
  const groups = [...before, ...Array.from({ length: gap }, () => '0'), ...after]
  return groups
    .slice(0, 4)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''))
    .join(':')
}
