// Runs work once the event loop has looked at every socket that had something to read when the work came up.

export interface Deferred {
  onPolled(): void
}

/**
 * A connection that was idle may have been closed, or sent bytes that no request asked for, which are seen with the
 * next poll at the latest: a request that is sent before would be lost, or take them for its response. One immediate
 * serves all that wait.
 */
export const createAfterPoll = (): ((deferred: Deferred) => void) => {
  let waiting: Deferred[] = []
  const flush = (): void => {
    const now = waiting
    waiting = []
    for (const each of now) each.onPolled()
  }
  return (deferred) => {
    if (waiting.push(deferred) === 1) setImmediate(flush)
  }
}
