// Defines the epoch that every call of the leader carries, and what happens when a data plane knows a higher one.

export interface EpochSource {
  epoch(): number
  /**
   * A data plane knows `reported`, which is higher. True: our epoch is above it now, go on. False: another operator has
   * taken over.
   */
  challenge(reported: number): Promise<boolean>
}

/** An epoch this far ahead of our clock is not a time of start: the clock of that machine was wrong. */
const IMPOSSIBLE_MS = 5 * 60_000

/**
 * Without a Lease the epoch is the time of the start: the operator that was started last wins. It is raised only above
 * an epoch that lies in the future; otherwise a machine whose clock was once wrong would lock out all others for that
 * long.
 */
export const startEpoch = (now: () => number): EpochSource => {
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
