// Limits how many connections a version uses at once per upstream origin (`pool_size`, behaviour §2). Requests beyond
// that wait in a queue, bounded in length and time, in which clients take turns. It opens no connection itself.

import { createWaitingLine, type Waiting, type WaitingLine } from './waiting-line.ts'

/** Waits for a slot. Exactly one of the two is called, once, unless the ticket is withdrawn. Neither throws. */
export interface Ticket extends Waiting {
  onGranted(): void
  onRefused(): void
}

/** Every slot that was acquired or granted is given back with one `release`. */
export interface Limiter {
  /** False: all slots are in use. */
  tryAcquire(from: Waiting['from']): boolean
  /** For at most so long. False: the line is full, and the ticket hears no more. */
  enqueue(ticket: Ticket, waitMs: number): boolean
  /** A ticket that waits no longer: neither granted nor refused any more. */
  withdraw(ticket: Ticket): void
  /** Gives back a slot that this client had. */
  release(from: Waiting['from']): void
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
      const limiter = new OriginLimiter(poolSize, maxWaiting, () => limiters.delete(origin))
      limiters.set(origin, limiter)
      return limiter
    },
    isBusy: (origin) => limiters.get(origin)?.isBusy ?? false,
    get size() {
      return limiters.size
    },
  }
}

class OriginLimiter implements Limiter {
  readonly #poolSize: number
  readonly #maxWaiting: number
  readonly #onIdle: () => void
  /** Made when the first has to wait. */
  #line: WaitingLine<Ticket> | undefined
  /** Slots by client, as far as clients are known. */
  readonly #held = new Map<string, number>()
  #running = 0

  constructor(poolSize: number, maxWaiting: number, onIdle: () => void) {
    this.#poolSize = poolSize
    this.#maxWaiting = maxWaiting
    this.#onIdle = onIdle
  }

  get isBusy(): boolean {
    return this.#running * 2 >= this.#poolSize
  }

  tryAcquire(from: Waiting['from']): boolean {
    if (this.#running >= this.#poolSize) return false
    this.#running++
    this.#hold(from)
    return true
  }

  enqueue(ticket: Ticket, waitMs: number): boolean {
    const line = (this.#line ??= createWaitingLine())
    if (!this.#makeRoom(line, ticket)) return false
    const timer = setTimeout(() => {
      if (line.remove(ticket)) ticket.onRefused()
    }, waitMs)
    line.add(ticket, timer)
    return true
  }

  withdraw(ticket: Ticket): void {
    this.#line?.remove(ticket)
  }

  release(from: Waiting['from']): void {
    this.#letGo(from)
    const next = this.#line?.take((ticket) => this.#hasShareLeft(ticket))
    if (next !== undefined) {
      this.#hold(next.from)
      next.onGranted()
      return
    }
    this.#running--
    if (this.#running === 0) this.#onIdle()
  }

  #hold(from: Waiting['from']): void {
    if (from !== undefined) this.#held.set(from, (this.#held.get(from) ?? 0) + 1)
  }

  #letGo(from: Waiting['from']): void {
    if (from === undefined) return
    const left = (this.#held.get(from) ?? 1) - 1
    if (left === 0) this.#held.delete(from)
    else this.#held.set(from, left)
  }

  /** While others wait, nobody is granted more than half of the slots. */
  #hasShareLeft({ from }: Ticket): boolean {
    return from === undefined || (this.#held.get(from) ?? 0) < Math.ceil(this.#poolSize / 2)
  }

  /** False: the line is full, or half full of this client alone while others wait. */
  #makeRoom(line: WaitingLine<Ticket>, ticket: Ticket): boolean {
    const own = line.countOf(ticket)
    if (own >= this.#maxWaiting / 2 && line.size > own) return false
    if (line.size < this.#maxWaiting) return true
    // Whoever has most of the line gives way to whoever has less of it.
    const longest = line.longest()
    const last = longest.at(-1)
    if (last === undefined || longest.length <= own + 1) return false
    line.remove(last)
    last.onRefused()
    return true
  }
}
