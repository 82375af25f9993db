// `pool_size` (behaviour §2): how many connections a version uses at once per upstream origin. Who
// comes too late waits in line, bounded in length and time, and clients take turns. It opens no connection itself.

import { createWaitingLine, type Waiting } from './waiting-line.ts'

/** Waits for a slot. Exactly one of the two is called, once, unless the ticket is withdrawn. */
export interface Ticket extends Waiting {
  onGranted(): void
  onRefused(): void
}

export interface Limiter {
  /** `granted` and every `onGranted` are paid back with one `release`. */
  acquire(ticket: Ticket, waitMs: number): 'granted' | 'waiting' | 'full'
  /** A ticket that waits no longer: neither granted nor refused any more. */
  withdraw(ticket: Ticket): void
  /** Gives back a slot that was granted to a ticket of this client. */
  release(holder: Waiting): void
  /** At least half of the slots are in use. */
  readonly isBusy: boolean
}

/** One per loaded version: its limiters, by origin. */
export interface PoolScope {
  limiterOf(origin: string): Limiter
  /** At least half of the slots of this origin are in use. */
  isBusy(origin: string): boolean
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
    isBusy: (origin) => limiters.get(origin)?.isBusy ?? false,
    get size() {
      return limiters.size
    },
  }
}

const createLimiter = (poolSize: number, maxWaiting: number, onIdle: () => void): Limiter => {
  const line = createWaitingLine<Ticket>()
  /** Slots by client, as far as clients are known. */
  const held = new Map<string, number>()
  let running = 0

  const hold = ({ from }: Waiting): void => {
    if (from !== undefined) held.set(from, (held.get(from) ?? 0) + 1)
  }

  const letGo = ({ from }: Waiting): void => {
    if (from === undefined) return
    const left = (held.get(from) ?? 1) - 1
    if (left === 0) held.delete(from)
    else held.set(from, left)
  }

  /** While others wait, nobody is granted more than half of the slots. */
  const hasShareLeft = ({ from }: Ticket): boolean =>
    from === undefined || (held.get(from) ?? 0) < Math.ceil(poolSize / 2)

  /** False: the line is full, or half full of this client alone while others wait. */
  const makeRoom = (ticket: Ticket): boolean => {
    const own = line.countOf(ticket)
    if (own >= maxWaiting / 2 && line.size > own) return false
    if (line.size < maxWaiting) return true
    // Whoever has most of the line gives way to whoever has less of it.
    const longest = line.longest()
    const last = longest.at(-1)
    if (last === undefined || longest.length <= own + 1) return false
    line.remove(last)
    last.onRefused()
    return true
  }

  return {
    acquire(ticket, waitMs) {
      if (running < poolSize) {
        running++
        hold(ticket)
        return 'granted'
      }
      if (!makeRoom(ticket)) return 'full'
      const timer = setTimeout(() => {
        if (line.remove(ticket)) ticket.onRefused()
      }, waitMs)
      line.add(ticket, timer)
      return 'waiting'
    },
    withdraw: (ticket) => {
      line.remove(ticket)
    },
    release(holder) {
      letGo(holder)
      const next = line.take(hasShareLeft)
      if (next !== undefined) {
        hold(next)
        next.onGranted()
        return
      }
      running--
      if (running === 0) onIdle()
    },
    get isBusy() {
      return running * 2 >= poolSize
    },
  }
}
