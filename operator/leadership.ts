// Defines how the operator learns that its leader term begins and ends. In a cluster a Lease decides; without one, an
// operator always leads.

import type { EpochSource } from './epoch.ts'

export interface LeadershipEvents {
  /** Our leader term begins. Called again for each term, never twice without an `onLose` between. */
  readonly onLead: (epochSource: EpochSource) => void
  /** Our leader term is over: nothing may be sent or written from now on, also what is under way. */
  readonly onLose: () => void
}

export interface Leadership {
  start(events: LeadershipEvents): Promise<void>
  /** Releases leadership, so that another replica begins at once. Call it when nothing is under way any more. */
  stop(): Promise<void>
}

/** For an operator that has no rivals, or can't know of them. */
export const alwaysLeading = (epochSource: EpochSource): Leadership => ({
  start: ({ onLead }) => {
    onLead(epochSource)
    return Promise.resolve()
  },
  stop: () => Promise.resolve(),
})
