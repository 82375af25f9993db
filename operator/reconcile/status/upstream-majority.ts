// Decides whether more than half of the gateways of the shared pool report a failure of a document's upstreams, and which
// failure most of them report. So no single gateway, which may lie or have lost its network, speaks for all.

import { type UpstreamState, UPSTREAMS_GOOD } from './data-plane-state.ts'

export interface Majority {
  /** The most frequent one. */
  readonly failure: Exclude<UpstreamState, typeof UPSTREAMS_GOOD>
  /** Gateways that report any failure. */
  readonly count: number
  /** Gateways that the document is for. */
  readonly total: number
}

/** @param states how many gateways report each */
export const majorityOf = (states: ReadonlyMap<UpstreamState, number>): Majority | undefined => {
  const total = [...states.values()].reduce((sum, count) => sum + count, 0)
  const count = total - (states.get(UPSTREAMS_GOOD) ?? 0)
  if (2 * count <= total) return undefined
  let most: readonly [failure: Majority['failure'], times: number] | undefined
  for (const [state, times] of states) {
    if (state === UPSTREAMS_GOOD) continue
    // Ties are broken by name, so that messages do not depend on the order in which gateways answered.
    const isMore = most === undefined || times > most[1] || (times === most[1] && state < most[0])
    if (isMore) most = [state, times]
  }
  return most && { failure: most[0], count, total }
}
