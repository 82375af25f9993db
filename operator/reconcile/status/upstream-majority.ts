// Decides whether more than half of the gateways of the shared pool report a failure of a document's upstreams, and which
// failure most of them report. So no single gateway, which may lie or have lost its network, speaks for all.

import { type UpstreamState, UPSTREAMS_GOOD } from './data-plane-state.ts'
import type { Tally } from './tally.ts'

export interface Majority {
  /** The most frequent one. */
  readonly failure: Exclude<UpstreamState, typeof UPSTREAMS_GOOD>
  /** Gateways that report any failure. */
  readonly count: number
  /** Gateways that the document is for. */
  readonly total: number
}

export const majorityOf = (states: Tally<UpstreamState>): Majority | undefined => {
  const { total } = states
  const count = total - states.count(UPSTREAMS_GOOD)
  if (2 * count <= total) return undefined
  let failure: Majority['failure'] | undefined
  for (const state of states.values()) {
    if (state === UPSTREAMS_GOOD) continue
    const isMore = failure === undefined || states.count(state) > states.count(failure)
    // Ties are broken by name, so that messages do not depend on the order in which gateways answered.
    const isFirst =
      failure !== undefined && states.count(state) === states.count(failure) && state < failure
    if (isMore || isFirst) failure = state
  }
  return failure && { failure, count, total }
}
