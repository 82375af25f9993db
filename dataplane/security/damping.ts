// How often somebody failed: a realm, a user and an address in, the number of failures of the last minute out.
// Counted where all processes see it; while that is away, by each for itself.

import { hash } from 'node:crypto'
import { isIPv6 } from 'node:net'
import { plainAddress } from '../plain-address.ts'
import type { SharedState } from '../shared/shared-state.ts'

const FREE_FAILURES = 30
export const WINDOW_SECONDS = 60

export interface Failing {
  readonly realmUri: string
  readonly username: string
  readonly address: string
}

export interface Damping {
  /** One more. Never rejects. @returns whether they were too many */
  failed(who: Failing): Promise<boolean>
  /** What this process has seen of it: no waiting. */
  isDamped(who: Failing): boolean
}

export interface DampingOptions {
  readonly shared: Pick<SharedState, 'increment'>
  /** Unix time in milliseconds. */
  readonly now: () => number
}

/** Those who fail now; the oldest are forgotten. */
const MAX_SEEN = 10_000

interface Seen {
  count: number
  readonly until: number
}

export const createDamping = ({ shared, now }: DampingOptions): Damping => {
  const seen = new Map<string, Seen>()

  const countHere = (key: string): Seen => {
    const known = seen.get(key)
    if (known !== undefined && known.until > now()) {
      known.count++
      return known
    }
    const fresh: Seen = { count: 1, until: now() + WINDOW_SECONDS * 1000 }
    seen.delete(key)
    seen.set(key, fresh)
    const [oldest] = seen.keys()
    if (seen.size > MAX_SEEN && oldest !== undefined) seen.delete(oldest)
    return fresh
  }

  return {
    failed: async (who) => {
      const key = keyOf(who)
      const here = countHere(key)
      try {
        here.count = Math.max(here.count, await shared.increment(key, WINDOW_SECONDS))
      } catch {
        // Each process counts for itself meanwhile.
      }
      return here.count > FREE_FAILURES
    },
    isDamped: (who) => {
      const known = seen.get(keyOf(who))
      return known !== undefined && known.until > now() && known.count > FREE_FAILURES
    },
  }
}

const keyOf = ({ realmUri, username, address }: Failing): string =>
  `failures:${hash('sha256', JSON.stringify([realmUri, username, placeOf(address)]), 'base64url')}`

/** One household has a whole /64 of IPv6: 2^64 addresses are one place. */
export const placeOf = (given: string): string => {
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
