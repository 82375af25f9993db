// Runs work once the event loop has asked the kernel, after the work came up, which sockets have something to read.

export interface Deferred {
  onPolled(): void
}

/**
 * A connection that was idle may have been closed, or sent bytes that no request asked for, which are seen with the
 * next poll at the latest: a request that is sent before would be lost, or take them for its response. Work mostly comes
 * up in the poll phase, and the immediates of that turn run before the kernel is asked again: so it waits for those of
 * the next turn. Two immediates serve all that comes up in one turn.
 */
export const createAfterPoll = (): ((deferred: Deferred) => void) => {
  let arriving: Deferred[] = []
  return (deferred) => {
    if (arriving.push(deferred) > 1) return
    setImmediate(() => {
      const polled = arriving
      arriving = []
      setImmediate(() => {
        for (const each of polled) each.onPolled()
      })
    })
  }
}
