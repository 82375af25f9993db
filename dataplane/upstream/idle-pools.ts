// Keeps pools without connections for a minute, with what they know of addresses and their health: otherwise failures
// would be forgotten with the last connection. It is bounded, and drops the longest unused pool first.

import type { OriginPool } from './origin-pool.ts'

export interface IdlePools {
  put(key: string, pool: OriginPool): void
  take(key: string): OriginPool | undefined
  pools(): readonly OriginPool[]
  readonly size: number
}

const KEPT_MS = 60_000
const MOST_POOLS = 500

interface Kept {
  readonly pool: OriginPool
  readonly sinceMs: number
}

/** @param onGone called with pools that are dropped */
export const createIdlePools = (
  now: () => number,
  onGone: (pool: OriginPool) => void,
): IdlePools => {
  const kept = new Map<string, Kept>()

  const dropOld = (): void => {
    for (const [key, { pool, sinceMs }] of kept) {
      if (kept.size <= MOST_POOLS && now() - sinceMs < KEPT_MS) return
      kept.delete(key)
      onGone(pool)
    }
  }

  return {
    put(key, pool) {
      // With a single address nothing worth keeping is known.
      if (pool.addresses.isLiteral || pool.addresses.set.size === 0) onGone(pool)
      else kept.set(key, { pool, sinceMs: now() })
      dropOld()
    },
    take(key) {
      dropOld()
      const found = kept.get(key)
      kept.delete(key)
      return found?.pool
    },
    pools: () => Array.from(kept.values(), ({ pool }) => pool),
    get size() {
      return kept.size
    },
  }
}
