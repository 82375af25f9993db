// Limits how many connections a version uses at once per upstream origin (`pool_size`, behaviour §2). Requests beyond
// that wait in a queue, bounded in length and time, in which clients take turns. It opens no connection itself.
//
// Beside the limiter of base/: it knows whose permits they are, and as every request passes it, it makes no promise.

import { FairQueue } from '../../base/fair-queue.ts'

/** Waits for a permit. Exactly one of the two is called, once, unless it is withdrawn. Neither throws. */
export interface Waiting {
  /**
   * The client that it is for. undefined: one of many behind a proxy, which cannot be told apart: it counts as a client
   * of its own.
   */
  readonly from: string | undefined
  onGranted(): void
  onRefused(): void
}

/** Every permit that was acquired or granted is given back with one `release`. */
export interface Limiter {
  /** False: all permits are in use. */
  tryAcquire(from: Waiting['from']): boolean
  /** Waits for at most so long. False: the queue is full, and it is not called back. */
  enqueue(waiting: Waiting, waitMs: number): boolean
  /** Stops waiting: it is neither granted nor rejected any more. */
  withdraw(waiting: Waiting): void
  /** Gives back a permit that this client had. */
  release(from: Waiting['from']): void
  /** At least half of the permits are in use. */
  readonly isBusy: boolean
}

/** One per loaded version: its limiters, by origin. */
export interface PoolScope {
  limiterOf(origin: string): Limiter
  /** At least half of the permits of this origin are in use. */
  isBusy(origin: string): boolean
  /** Origins in use. An origin that is not used is removed, as data may choose hosts. */
  readonly size: number
}

const MAX_WAITING = 1000

/**
 * @param poolSize connections at once per origin
 * @param maxWaiting requests that may wait per origin
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

/** A client that is not known is one for each that waits. */
type Client = string | Waiting

class OriginLimiter implements Limiter {
  readonly #poolSize: number
  readonly #maxWaiting: number
  readonly #onIdle: () => void
  /** Made when the first has to wait. */
  #queue: FairQueue<Waiting, Client> | undefined
  /** The timers that end the waiting. */
  readonly #timers = new Map<Waiting, NodeJS.Timeout>()
  /** Permits by client, as far as clients are known. */
  readonly #used = new Map<string, number>()
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
    this.#countUp(from)
    return true
  }

  enqueue(waiting: Waiting, waitMs: number): boolean {
    const queue = (this.#queue ??= new FairQueue())
    if (!this.#makeRoom(queue, waiting)) return false
    const timer = setTimeout(() => {
      this.#refuse(waiting)
    }, waitMs)
    this.#timers.set(waiting, timer)
    queue.push(clientOf(waiting), waiting)
    return true
  }

  withdraw(waiting: Waiting): void {
    if (this.#queue?.remove(clientOf(waiting), waiting) === true) this.#stopTimer(waiting)
  }

  release(from: Waiting['from']): void {
    this.#countDown(from)
    const next = this.#queue?.shift(this.#hasShareLeft)
    if (next !== undefined) {
      this.#stopTimer(next)
      this.#countUp(next.from)
      next.onGranted()
      return
    }
    this.#running--
    if (this.#running === 0) this.#onIdle()
  }

  #countUp(from: Waiting['from']): void {
    if (from !== undefined) this.#used.set(from, (this.#used.get(from) ?? 0) + 1)
  }

  #countDown(from: Waiting['from']): void {
    if (from === undefined) return
    const left = (this.#used.get(from) ?? 1) - 1
    if (left === 0) this.#used.delete(from)
    else this.#used.set(from, left)
  }

  #refuse(waiting: Waiting): void {
    this.withdraw(waiting)
    waiting.onRefused()
  }

  #stopTimer(waiting: Waiting): void {
    clearTimeout(this.#timers.get(waiting))
    this.#timers.delete(waiting)
  }

  /** While others wait, no client gets more than half of the permits. */
  readonly #hasShareLeft = (client: Client): boolean =>
    typeof client !== 'string' || (this.#used.get(client) ?? 0) < Math.ceil(this.#poolSize / 2)

  /** False: the queue is full, or half full of this client alone while others wait. */
  #makeRoom(queue: FairQueue<Waiting, Client>, waiting: Waiting): boolean {
    const own = queue.sizeOf(clientOf(waiting))
    if (own >= this.#maxWaiting / 2 && queue.size > own) return false
    if (queue.size < this.#maxWaiting) return true
    // The client with most of the queue gives way to one with less of it.
    const longest = queue.longest()
    if (longest === undefined || queue.sizeOf(longest) <= own + 1) return false
    const last = queue.newest(longest)
    if (last !== undefined) this.#refuse(last)
    return true
  }
}

const clientOf = (waiting: Waiting): Client => waiting.from ?? waiting
