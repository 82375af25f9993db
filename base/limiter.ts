// Bounds how much work runs at once (a semaphore): work takes a permit when it begins, or several if it weighs more, and
// gives them back when it ends. Without a free permit it is rejected, or waits.

import { QueueFullError } from './queue-full-error.ts'

export interface Acquisition {
  /** 1 if left out. Work that weighs more than all permits runs alone. */
  readonly weight?: number
  /**
   * At least 0, which is the default: lower values are admitted first. Called again whenever permits become free, as it
   * may change while waiting.
   */
  readonly urgency?: () => number
  /** Ends the wait with a rejection by its reason. */
  readonly signal?: AbortSignal
}

interface Waiting {
  readonly weight: number
  readonly urgency: () => number
  readonly admit: () => void
}

/**
 * Work that waits is admitted by urgency, then in the order of arrival; light work never overtakes heavier work before it.
 * @example
 * const limiter = new Limiter(16)
 * if (limiter.tryAcquire()) … limiter.release()
 * const response = await limiter.run(() => fetch(url))
 */
export class Limiter {
  readonly #permits: number
  readonly #maxWaiting: number
  readonly #waiting = new Set<Waiting>()
  #used = 0

  /** @param maxWaiting when so many wait, further work is rejected */
  constructor(permits: number, maxWaiting = Infinity) {
    this.#permits = permits
    this.#maxWaiting = maxWaiting
  }

  /** Permits in use. */
  get used(): number {
    return this.#used
  }

  /** Nothing can begin now, and no more may wait. */
  get isFull(): boolean {
    return this.#waiting.size >= this.#maxWaiting && !this.#hasRoomFor(1)
  }

  /**
   * Never waits, and never overtakes work that does. Call `release` once if it returns true.
   * @returns false: there are too few free permits, or it weighs more than all permits
   */
  tryAcquire(weight = 1): boolean {
    if (!this.#hasRoomFor(weight)) return false
    this.#used += weight
    return true
  }

  /** @throws Error if more is given back than was acquired, such as by giving back twice */
  release(weight = 1): void {
    if (weight > this.#used) throw new Error('more permits are given back than are in use')
    this.#used -= weight
    if (this.#waiting.size > 0) this.#admitWaiting()
  }

  /**
   * Resolves with a function that gives the permits back; calling it twice does no harm.
   * @throws QueueFullError, and the reason of the signal
   * @example const release = await limiter.acquire({ weight: body.length, signal })
   */
  async acquire(acquisition: Acquisition = {}): Promise<() => void> {
    const { weight = 1 } = acquisition
    acquisition.signal?.throwIfAborted()
    await this.#enter(weight, acquisition)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.release(weight)
    }
  }

  /**
   * Begins the task at once if a permit is free, otherwise when it is admitted.
   * @throws QueueFullError, and what the task rejects with
   */
  async run<T>(task: () => Promise<T>): Promise<T> {
    if (!this.tryAcquire()) await this.#enter(1, {})
    try {
      return await task()
    } finally {
      this.release()
    }
  }

  /** Resolves once the permits are counted. */
  #enter(weight: number, { urgency = mostUrgent, signal }: Acquisition): Promise<void> {
    if (this.#waiting.size === 0 && this.#fits(weight)) {
      this.#used += weight
      return Promise.resolve()
    }
    if (this.#waiting.size >= this.#maxWaiting)
      return Promise.reject(new QueueFullError(this.#waiting.size))
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        signal?.removeEventListener('abort', onAbort)
        this.#waiting.delete(waiting)
      }
      const onAbort = (): void => {
        leave()
        reject(signal?.reason as Error)
        // It may have blocked other work that fits.
        this.#admitWaiting()
      }
      const admit = (): void => {
        leave()
        this.#used += weight
        resolve()
      }
      const waiting = { weight, urgency, admit }
      signal?.addEventListener('abort', onAbort)
      this.#waiting.add(waiting)
    })
  }

  #hasRoomFor(weight: number): boolean {
    return this.#waiting.size === 0 && this.#used + weight <= this.#permits
  }

  /** Whether there are enough free permits, or none is in use: then heavier work runs alone instead of waiting for ever. */
  #fits(weight: number): boolean {
    return this.#used === 0 || this.#used + weight <= this.#permits
  }

  #admitWaiting(): void {
    for (;;) {
      const next = this.#next()
      if (next === undefined || !this.#fits(next.weight)) return
      next.admit()
    }
  }

  /** The most urgent one; of several the one that came first. */
  #next(): Waiting | undefined {
    let first: Waiting | undefined
    let least = Infinity
    for (const each of this.#waiting) {
      const urgency = each.urgency()
      // Nothing is more urgent, so the others need not be asked.
      if (urgency <= 0) return each
      if (urgency < least) [first, least] = [each, urgency]
    }
    return first
  }
}

const mostUrgent = (): number => 0
