// Decides whether more than half of the gateways of the shared pool report a failure of a document's upstreams, and which
// failure most of them report. So no single gateway, which may lie or have lost its network, speaks for all.

import { type UpstreamAnswer, UPSTREAMS_ANSWER } from './data-plane-answer.ts'
import type { Tally } from './tally.ts'

export interface Majority {
  /** The most frequent one. */
  readonly failure: Exclude<UpstreamAnswer, typeof UPSTREAMS_ANSWER>
  /** Gateways that report any failure. */
  readonly count: number
  /** Gateways that the document is for. */
  readonly total: number
}

export const majorityOf = (answers: Tally<UpstreamAnswer>): Majority | undefined => {
  const { total } = answers
  const count = total - answers.count(UPSTREAMS_ANSWER)
  if (2 * count <= total) return undefined
  let failure: Majority['failure'] | undefined
  for (const answer of answers.answers()) {
    if (answer === UPSTREAMS_ANSWER) continue
    const isMore = failure === undefined || answers.count(answer) > answers.count(failure)
    // Ties are broken by name, so that messages do not depend on the order in which gateways answered.
    const isFirst =
      failure !== undefined && answers.count(answer) === answers.count(failure) && answer < failure
    if (isMore || isFirst) failure = answer
  }
  return failure && { failure, count, total }
}
