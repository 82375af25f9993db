// Throttles password guessing: it counts how often logins of a user failed, from an address, from its network and from
// anywhere, and once that was too often lets one attempt per second be verified. All processes share the counts; while
// the shared state is away each process counts for itself.

import { hash } from 'node:crypto'
import { isIPv6 } from 'node:net'
import { BoundedMap } from '../../../base/bounded-map.ts'
import { plainAddress } from '../../plain-address.ts'
import type { SharedState } from '../../shared/shared-state.ts'
import { isWithin } from '../is-within.ts'

/** The longest time in which failures of one address are counted together. */
export const WINDOW_SECONDS = 60
/** The time in which one attempt is verified after too many failures; rejections tell clients to wait for it. */
export const RETRY_SECONDS = 1
/**
 * While too many logins of a user fail, so many failures an hour are free to each network: the user gets in from a new
 * one, whatever others do.
 */
const FREE_IN_NEW_NETWORK = 3

type Level = 'user' | 'network' | 'place'

interface LevelRule {
  readonly freeFailures: number
  readonly windowSeconds: number
  /** In the shared state. */
  readonly kind: string
  /** What failures are counted for, besides realm and user. */
  readonly scopeOf: (address: string) => string
}

const RULES = {
  user: {
    freeFailures: 300,
    windowSeconds: 3600,
    kind: 'failures-of-user',
    scopeOf: () => '',
  },
  network: {
    freeFailures: 100,
    windowSeconds: 3600,
    kind: 'failures-of-network',
    scopeOf: (address) => networkOf(address),
  },
  place: {
    freeFailures: 30,
    windowSeconds: WINDOW_SECONDS,
    kind: 'failures',
    scopeOf: (address) => placeOf(address),
  },
} as const satisfies Record<Level, LevelRule>

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
  /** False: this process knows nobody with too many failures. Costs nothing. */
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

/** Most users, networks and addresses that are tracked at once, of each; those whose last failure is oldest are dropped. */
const MAX_SEEN = 10_000

interface Seen {
  count: number
  readonly until: number
  /** When this process last asked for the attempt of a second. */
  triedAt: number
}

export const createLoginThrottle = ({ shared, now }: LoginThrottleOptions): LoginThrottle => {
  const seen = {
    user: new BoundedMap<string, Seen>(MAX_SEEN),
    network: new BoundedMap<string, Seen>(MAX_SEEN),
    place: new BoundedMap<string, Seen>(MAX_SEEN),
  } as const satisfies Record<Level, unknown>
  let dampedUntil = 0

  const countHere = (level: Level, key: string): Seen => {
    const known = seen[level].use(key)
    if (known !== undefined && known.until > now()) {
      known.count++
      return known
    }
    const until = now() + RULES[level].windowSeconds * 1000
    const fresh: Seen = { count: 1, until, triedAt: -Infinity }
    seen[level].set(key, fresh)
    return fresh
  }

  /** Counts a failure. @returns how many there were with it */
  const count = async (level: Level, who: Failing): Promise<number> => {
    const { kind, windowSeconds } = RULES[level]
    const key = keyOf(kind, level, who)
    const here = countHere(level, key)
    const own = here.count
    try {
      const all = Math.max(own, await shared.increment(key, windowSeconds))
      here.count = Math.max(here.count, all)
      return all
    } catch {
      // Meanwhile each process counts for itself.
      return own
    }
  }

  const seenAt = (level: Level, who: Failing): Seen | undefined => {
    const known = seen[level].get(keyOf(RULES[level].kind, level, who))
    return known !== undefined && known.until > now() ? known : undefined
  }

  const levelOf = (who: Failing): Level | undefined => {
    // Each failure counts for the user: mostly this one look-up is all.
    if (!seen.user.has(keyOf(RULES.user.kind, 'user', who))) return undefined
    const countAt = (level: Level): number => seenAt(level, who)?.count ?? 0
    return exceededLevel({
      user: countAt('user'),
      network: countAt('network'),
      place: countAt('place'),
    })
  }

  return {
    failed: async (who) => {
      const [user, network, place] = await Promise.all([
        count('user', who),
        count('network', who),
        count('place', who),
      ])
      const level = exceededLevel({ user, network, place })
      if (level === undefined) return false
      dampedUntil = Math.max(dampedUntil, seenAt(level, who)?.until ?? 0)
      return true
    },
    isDamped: (who) => levelOf(who) !== undefined,
    isAnybodyDamped: () => now() < dampedUntil,
    mayTry: async (who) => {
      const level = levelOf(who)
      const known = level && seenAt(level, who)
      if (level === undefined || known === undefined) return true
      if (isWithin(RETRY_SECONDS * 1000, { now: now(), since: known.triedAt })) return false
      known.triedAt = now()
      try {
        return (await shared.increment(keyOf('attempts', level, who), RETRY_SECONDS)) === 1
      } catch {
        return true
      }
    },
  }
}

/** The widest one at which there were too many. */
const exceededLevel = (counts: Readonly<Record<Level, number>>): Level | undefined => {
  const isExceeded = (level: Level): boolean => counts[level] > RULES[level].freeFailures
  if (counts.network >= FREE_IN_NEW_NETWORK && isExceeded('user')) return 'user'
  if (isExceeded('network')) return 'network'
  return isExceeded('place') ? 'place' : undefined
}

const keyOf = (kind: string, level: Level, { realmUri, username, address }: Failing): string => {
  const parts = [realmUri, username, RULES[level].scopeOf(address)]
  return `${kind}:${hash('sha256', JSON.stringify(parts), 'base64url')}`
}

/** A site is given a /48 of IPv6, with 65,536 networks in it, so all of it counts as one. IPv4 has no such rule. */
export const networkOf = (address: string): string => {
  const place = placeOf(address)
  return place.includes(':') ? place.split(':').slice(0, 3).join(':') : place
}

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
