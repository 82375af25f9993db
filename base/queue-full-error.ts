// Defines the error for a task that may not even wait, because the queue is full.

import { CodedError } from './coded-error.ts'

/** As many wait as may: to be tried again later. */
export class QueueFullError extends CodedError<'queue_full'> {
  /** @param waiting how many do */
  constructor(waiting: number) {
    super('queue_full', `${waiting} are waiting already`)
  }
}
