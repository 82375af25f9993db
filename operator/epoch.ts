// Defines the epoch that every call of the leader carries, and what happens when a data plane knows a higher one.

export interface EpochSource {
  /** @param dataPlane name of the one that is called */
  epoch(dataPlane: string): number
  /**
   * A data plane knows `reported`, which is higher. True: our epoch is above it now, go on. False: another operator has
   * taken over, or the epoch is none.
   */
  challenge(reported: number, dataPlane: string): Promise<boolean>
}

/**
 * Milliseconds since 1970 reach it in 140,000 years. A data plane that reports more is faulty, and adopting its value
 * would use up the numbers that later leaders need.
 */
const MAX_REPORTED_EPOCH = 2 ** 52

/** Whether an operator can have sent it. */
export const isPossibleEpoch = (reported: number): boolean => reported < MAX_REPORTED_EPOCH

/** An epoch this far ahead of our clock is not a time of start: the clock of that machine was wrong. */
const IMPOSSIBLE_MS = 5 * 60_000

/**
 * Without a Lease the epoch is the time of the start: the operator that was started last wins. It is raised only above
 * an epoch that lies in the future; otherwise a machine whose clock was once wrong would lock out all others for that
 * long. It is raised for the data plane that has reported it alone: otherwise one hostile data plane would spend the
 * numbers of all, which outlive this process in their snapshots.
 */
export const startEpoch = (now: () => number): EpochSource => {
  const startedAtMs = now()
  const raised = new Map<string, number>()
  return {
    epoch: (dataPlane) => raised.get(dataPlane) ?? startedAtMs,
    challenge: (reported, dataPlane) => {
      if (!isPossibleEpoch(reported) || reported <= now() + IMPOSSIBLE_MS)
        return Promise.resolve(false)
      raised.set(dataPlane, Math.max(raised.get(dataPlane) ?? 0, Math.floor(reported) + 1))
      return Promise.resolve(true)
    },
  }
}
