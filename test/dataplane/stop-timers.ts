// Stops the timers of a test file: time-outs, deadlines, heartbeats and sweeps of the code under test pass as the
// file says, while real sockets, promises and immediates run on.

import { jest } from '@jest/globals'

/**
 * For the whole file, before anything starts a timer: who stopped them only for a while would leave some for ever.
 * The time-outs of Node's own servers and sockets are not among them.
 *
 * @example
 * stopTimers()
 * …
 * jest.advanceTimersByTime(1000)
 */
export const stopTimers = (): void => {
  jest.useFakeTimers({
    doNotFake: [
      'Date',
      'hrtime',
      'nextTick',
      'performance',
      'queueMicrotask',
      'setImmediate',
      'clearImmediate',
    ],
  })
}
