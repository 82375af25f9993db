// Runs one task after the other, in the order in which they came. Beyond its bound a task is rejected at once.

import { QueueFullError } from './queue-full-error.ts'

/** @example const writes = new SerialQueue(); await writes.run(() => file.appendFile(line)) */
export class SerialQueue {
  readonly #maxTasks: number
  #tasks = 0
  #last: Promise<unknown> = Promise.resolve()

  /** @param maxTasks includes the one that runs */
  constructor(maxTasks = Infinity) {
    this.#maxTasks = maxTasks
  }

  /**
   * No task begins within the call.
   * @throws QueueFullError, and what the task rejects with; later tasks run nevertheless
   */
  run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#tasks >= this.#maxTasks) return Promise.reject(new QueueFullError(this.#tasks))
    this.#tasks += 1
    const result = this.#last.then(task).finally(() => {
      this.#tasks -= 1
    })
    this.#last = result.catch(() => undefined)
    return result
  }

  /** Resolves when everything that was handed in so far has ended. */
  async idle(): Promise<void> {
    await this.#last
  }
}
