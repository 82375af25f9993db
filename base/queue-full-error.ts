// Defines the error for a task that may not even wait, because the queue is full.

/** So many wait that nobody else may: to be tried again later. */
export class QueueFullError extends Error {
  /** @param waiting how many do */
  constructor(waiting: number) {
    super(`${waiting} are waiting already`)
    this.name = 'QueueFullError'
  }
}
