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

interface IdlePool {
  readonly pool: OriginPool
  readonly sinceMs: number
}

/** @param onGone called with pools that are dropped */
export const createIdlePools = (
  now: () => number,
  onGone: (pool: OriginPool) => void,
): IdlePools => {
  const idle = new Map<string, IdlePool>()

  const dropOld = (): void => {
    for (const [key, { pool, sinceMs }] of idle) {
      if (idle.size <= MOST_POOLS && now() - sinceMs < KEPT_MS) return
      idle.delete(key)
      onGone(pool)
    }
  }

  return {
    put(key, pool) {
      const { addresses, health } = pool
      const isBlank = addresses.set.size === 0 || (addresses.isLiteral && health.isBlank)
      if (isBlank) onGone(pool)
      else idle.set(key, { pool, sinceMs: now() })
      dropOld()
    },
    take(key) {
      dropOld()
      const found = idle.get(key)
      idle.delete(key)
      return found?.pool
    },
    pools: () => Array.from(idle.values(), ({ pool }) => pool),
    get size() {
      return idle.size
    },
  }
}
