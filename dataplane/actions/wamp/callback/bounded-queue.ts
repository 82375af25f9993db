// Queues the tasks of a callback: a fixed number run at once and the others wait in order, bounded by their number
// and by the bytes that they hold. A task without room is rejected.

import { Limiter } from '../../../../base/limiter.ts'
import type { Holding } from '../../../memory/memory-budget.ts'

export interface QueueBounds {
  /** Tasks that run at once. */
  readonly atOnce: number
  readonly maxWaiting: number
  /** The most bytes of running and waiting work together. */
  readonly maxBytes: number
  /** Pays for what is held. */
  readonly memory: Holding
}

/** @example new BoundedQueue({ atOnce: 1, maxWaiting: 256, maxBytes: 2 ** 26, memory }) // one after the other, in order */
export class BoundedQueue {
  readonly #limiter: Limiter
  readonly #maxBytes: number
  readonly #memory: Holding
  #queuedBytes = 0

  constructor({ atOnce, maxWaiting, maxBytes, memory }: QueueBounds) {
    this.#limiter = new Limiter(atOnce, maxWaiting)
    this.#maxBytes = maxBytes
    this.#memory = memory
  }

  /**
   * undefined: there is no place left, and the task will not run.
   * @param bytes that it holds until it is done; a task that is alone may hold any number
   */
  run<T>(bytes: number, task: () => Promise<T>): Promise<T> | undefined {
    const limiter = this.#limiter
    if (limiter.isFull) return undefined
    if (limiter.used > 0 && this.#queuedBytes + bytes > this.#maxBytes) return undefined
    if (!this.#memory.reserve(bytes)) return undefined
    this.#queuedBytes += bytes
    return limiter.run(task).finally(() => {
      this.#queuedBytes -= bytes
      this.#memory.subtract(bytes)
    })
  }
}
