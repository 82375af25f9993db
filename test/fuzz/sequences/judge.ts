// Decides whether a request of a sequence may have ended as it did.

import type { UpstreamError } from '../../../dataplane/upstream/upstream.ts'
import type { Caller } from './caller.ts'
import type { RequestPlan } from './plan.ts'
import type { ResponsePlan } from './plan-response.ts'
import type { Served } from './scripted-upstream.ts'

export interface Evidence {
  /** undefined: the upstream saw nothing of it. */
  readonly served: Served | undefined
  /** It may have been sent on a connection that was being closed. */
  readonly mayHaveMetClosing: boolean
}

/** @returns what is wrong with it */
export const judge = (caller: Caller, evidence: Evidence): string | undefined => {
  const { result } = caller
  if (result === undefined) return 'never ended'
  return result === 'end' ? judgeEnd(caller, evidence) : judgeError(caller, result, evidence)
}

const judgeEnd = ({ plan, bytes }: Caller, { served }: Evidence): string | undefined => {
  const { response } = plan
  if (served === undefined) return 'succeeded without an upstream'
  if (!response.isWhole) return 'succeeded with a response that is not whole'
  if (!served.isAnswered) return 'succeeded before all of the response was sent'
  if (bytes !== response.body.length) return `succeeded with ${bytes} of its bytes`
  return undefined
}

const judgeError = (
  caller: Caller,
  error: UpstreamError,
  evidence: Evidence,
): string | undefined => {
  const { plan, isAborted } = caller
  const { code } = error
  if (isAborted) return code === 'aborted' ? undefined : `was aborted, and failed with ${code}`
  if (code === 'refused' && evidence.served !== undefined)
    return 'was sent, and failed as if it was not'
  if (code === 'timeout' && plan.response.stalls) return undefined
  if (code !== 'reset' && code !== 'malformed') return `failed with ${code}`
  return mayFail(plan, evidence) ? undefined : judgeBreak(plan.response, code)
}

/** Whatever its response is. */
const mayFail = ({ caller }: RequestPlan, { served, mayHaveMetClosing }: Evidence): boolean => {
  const isReused = served?.isFirst !== true
  const hasMetClosing = isReused && (mayHaveMetClosing || served?.hazard !== undefined)
  return caller.body.fault !== 'none' || hasMetClosing
}

const judgeBreak = (
  { isWhole, mayBeLost, isMalformed }: ResponsePlan,
  code: 'reset' | 'malformed',
): string | undefined => {
  if (isWhole && !mayBeLost) return `failed with ${code}, for no reason`
  return code === 'malformed' && !isMalformed ? 'was called malformed, and is not' : undefined
}
