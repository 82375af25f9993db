// Runs tasks one at a time, in order. It never holds more than its bound: beyond it a task is rejected immediately.

export class QueueFullError extends Error {
  constructor(waiting: number) {
    super(`${waiting} changes are waiting already`)
    this.name = 'QueueFullError'
  }
}

export class SerialQueue {
  readonly #bound: number
  #length = 0
  #last: Promise<unknown> = Promise.resolve()

  /** `bound` counts the running task too. */
  constructor(bound: number) {
    this.#bound = bound
  }

  /** Rejects with `QueueFullError` when full, else with what the task rejects with. */
  run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#length >= this.#bound) return Promise.reject(new QueueFullError(this.#length))
    this.#length += 1
    const result = this.#last.then(task).finally(() => {
      this.#length -= 1
    })
    // A failed task does not fail the ones behind it.
    this.#last = result.catch(() => undefined)
    return result
  }

  /** Resolves when everything that was handed in so far has ended. */
  async idle(): Promise<void> {
    await this.#last
  }
}
