// Which operator of several may act: told when our turn begins and when it ends. A Lease decides in a cluster;
// alone, one always leads.

import type { Tenure } from './tenure.ts'

export interface LeadershipEvents {
  /** Our turn begins. Called again for each turn, never twice without an `onLose` between. */
  readonly onLead: (tenure: Tenure) => void
  /** Our turn is over: nothing may be sent or written from now on, also what is under way. */
  readonly onLose: () => void
}

export interface Leadership {
  start(events: LeadershipEvents): Promise<void>
  /** Gives the turn back, so that another begins at once. Call it when nothing is under way any more. */
  stop(): Promise<void>
}

/** For an operator that has no rivals, or can't know of them. */
export const alwaysLeading = (tenure: Tenure): Leadership => ({
  start: ({ onLead }) => {
    onLead(tenure)
    return Promise.resolve()
  },
  stop: () => Promise.resolve(),
})
