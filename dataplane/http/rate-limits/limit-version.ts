// Counts requests for what a version serves beside its paths (`/ws`, and where programs and people log in) in the limits that
// its defaults have.

import { oncePer } from '../../../base/once.ts'
import type { ServedVersion } from '../../served.ts'
import type { Context } from '../../context.ts'
import type { IncomingRequest } from '../incoming-request.ts'
import { fillUnmatched } from '../request/view.ts'
import type { CheckResult } from '../steps/request-step.ts'
import { checkLimits, type LimitDeps, limitContext } from './check-limits.ts'
import { type LimitTime, type PreparedLimits, prepareLimits } from './prepare-limits.ts'

/** undefined: it has none. */
export const limitsOfVersion = (version: ServedVersion): PreparedLimits | undefined =>
  prepared(version).limits

const prepared = oncePer(({ loadParts }: ServedVersion) => ({
  limits: prepareLimits(loadParts?.().rateLimits),
}))

export interface LimitedByVersion {
  readonly incomingRequest: Omit<IncomingRequest, 'response'>
  readonly version: ServedVersion
  readonly limits: PreparedLimits
  readonly when: LimitTime
}

export const limitByVersion = (
  deps: LimitDeps,
  { incomingRequest, version, limits, when }: LimitedByVersion,
): CheckResult | Promise<CheckResult> => {
  const { request, head, scheme, id, client } = incomingRequest
  const context = (): Context =>
    limitContext(incomingRequest.identity, (view) => {
      // No path was matched, so nothing is bound.
      fillUnmatched(view, limits.needs, {
        request,
        head,
        scheme,
        id,
        client,
        method: (request.method ?? '').toLowerCase(),
        language: version.languages[0] ?? '',
      })
    })
  const { hasHeaders } = limits
  return checkLimits(deps, limits[when], { incomingRequest, version, hasHeaders, context })
}
