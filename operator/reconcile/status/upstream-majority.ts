// Counts what gateways of the shared pool report of a document's upstreams, and decides once more than half of them
// have the same failure. So no single gateway, which may lie or have lost its network, speaks for all.

import { type UpstreamAnswer, UPSTREAMS_ANSWER } from './data-plane-answer.ts'
import type { Tally } from './tally.ts'

export interface Majority {
  /** What most of those say that have failure. */
  readonly failure: Exclude<UpstreamAnswer, typeof UPSTREAMS_ANSWER>
  /** Gateways with any failure, */
  readonly count: number
  /** of so many that the document is for. */
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
    // Whoever answered first says nothing: the words are not to change with it.
    const isFirst =
      failure !== undefined && answers.count(answer) === answers.count(failure) && answer < failure
    if (isMore || isFirst) failure = answer
  }
  return failure && { failure, count, total }
}
