// Which operator may write: the epoch that every call carries, and what happens when a data plane knows a
// higher one.

export interface Tenure {
  epoch(): number
  /**
   * A data plane knows `reported`, which is higher. True: our epoch is above it now, go on. False: another
   * operator has taken over.
   */
  challenge(reported: number): Promise<boolean>
}

/** A start this far ahead of our clock was no start: the clock of the machine that said so was wrong. */
const IMPOSSIBLE_MS = 5 * 60_000

/**
 * Without a Lease the epoch is the time of the start: the operator that was started last wins. It is raised
 * only above an epoch that lies in the future, or a machine whose clock was once wrong would lock everybody
 * out for as long.
 */
export const startTenure = (now: () => number): Tenure => {
  let epoch = now()
  return {
    epoch: () => epoch,
    challenge: (reported) => {
      if (reported <= now() + IMPOSSIBLE_MS) return Promise.resolve(false)
      epoch = Math.max(epoch, reported + 1)
      return Promise.resolve(true)
    },
  }
}
