// `pool_size` (behaviour §2): how many connections a version uses at once per upstream origin. Who
// comes too late waits in line, bounded in length and time. It opens no connection itself.

/** Waits for a slot. Exactly one of the two is called, once, unless the ticket is withdrawn. */
export interface Ticket {
  onGranted(): void
  onRefused(): void
}

export interface Limiter {
  /** `granted` and every `onGranted` are paid back with one `release`. */
  acquire(ticket: Ticket, waitMs: number): 'granted' | 'waiting' | 'full'
  /** A ticket that waits no longer: neither granted nor refused any more. */
  withdraw(ticket: Ticket): void
  release(): void
}

/** One per loaded version: its limiters, by origin. */
export interface PoolScope {
  limiterOf(origin: string): Limiter
  /** Origins in use. An origin that nobody uses is forgotten, for data may choose hosts. */
  readonly size: number
}

const MAX_WAITING = 1000

/**
 * @param poolSize connections at once per origin
 * @param maxWaiting requests that may stand in line per origin
 * @example
 * const scope = createPoolScope(200)
 * const limiter = scope.limiterOf('http://orders:8080')
 */
export const createPoolScope = (poolSize: number, maxWaiting = MAX_WAITING): PoolScope => {
  const limiters = new Map<string, Limiter>()
  return {
    limiterOf(origin) {
      const known = limiters.get(origin)
      if (known !== undefined) return known
      const limiter = createLimiter(poolSize, maxWaiting, () => limiters.delete(origin))
      limiters.set(origin, limiter)
      return limiter
    },
    get size() {
      return limiters.size
    },
  }
}

const createLimiter = (poolSize: number, maxWaiting: number, onIdle: () => void): Limiter => {
  // Insertion order is the line; deletion from the middle is cheap.
  const waiting = new Map<Ticket, NodeJS.Timeout>()
  let running = 0

  const leave = (ticket: Ticket): boolean => {
    clearTimeout(waiting.get(ticket))
    return waiting.delete(ticket)
  }

  return {
    acquire(ticket, waitMs) {
      if (running < poolSize) {
        running++
        return 'granted'
      }
      if (waiting.size >= maxWaiting) return 'full'
      const timer = setTimeout(() => {
        if (leave(ticket)) ticket.onRefused()
      }, waitMs)
      waiting.set(ticket, timer)
      return 'waiting'
    },
    withdraw: leave,
    release() {
      const [next] = waiting.keys()
      if (next !== undefined) {
        leave(next)
        next.onGranted()
        return
      }
      running--
      if (running === 0) onIdle()
    },
  }
}
