// Prepares the limits of an operation or a version: closures that give their numbers for a request, and the names of their
// buckets. What fails counts as 1, and never lets a request pass nor fails it.

import { hash } from 'node:crypto'
import { internData } from '../../../base/intern.ts'
import { oncePer } from '../../../base/once.ts'
import type { CompiledRateLimit, RateLimits } from '../../../language/compile/compiled.ts'
import { readsOf } from '../../../language/expression/reads.ts'
import { type EvaluationContext, evaluator } from '../../../language/expression/run.ts'
import type { Template } from '../../../language/expression/template.ts'
import type { Value } from '../../../language/expression/value.ts'
import { needsOf, type RequestNeeds } from '../request/view.ts'

/** Before it is known who calls, or after. */
export type LimitTime = 'early' | 'late'

export interface PreparedLimits extends Readonly<Record<LimitTime, readonly PreparedLimit[]>> {
  /** Those that need no caller. */
  readonly early: readonly PreparedLimit[]
  readonly late: readonly PreparedLimit[]
  readonly hasHeaders: boolean
  /** What they read of a request. */
  readonly needs: RequestNeeds
}

export interface PreparedLimit {
  readonly name: string
  readonly pointer: string
  /** Covers its place and all that it says: as long as it is unchanged its buckets are the same. */
  readonly digest: string
  readonly seconds: number
  readonly burst: number | undefined
  readonly requests: Count
  readonly cost: Count
  /** undefined: by the address of the client. */
  readonly by: ((context: EvaluationContext) => string) | undefined
}

/** A number that is known, or that each request gives. */
export type Count = number | ((context: EvaluationContext) => number)

/** One object for equal limits. */
export const prepareLimits = (rateLimits: RateLimits | undefined): PreparedLimits | undefined =>
  rateLimits && prepare(internData(rateLimits))

const prepare = oncePer(({ limits, hasHeaders }: RateLimits): PreparedLimits => {
  const of = (isEarly: boolean): readonly PreparedLimit[] =>
    limits.filter((limit) => limit.isEarly === isEarly).map(prepareLimit)
  const templates = limits.flatMap(({ requests, cost, by }) =>
    by === undefined ? [requests, cost] : [requests, cost, by],
  )
  return {
    early: of(true),
    late: of(false),
    hasHeaders,
    needs: needsOf(templates.flatMap(readsOf)),
  }
})

const prepareLimit = (limit: CompiledRateLimit): PreparedLimit => {
  const { name, pointer, seconds, burst, by } = limit
  return {
    name,
    pointer,
    digest: hash('sha256', JSON.stringify(limit), 'base64url'),
    seconds,
    burst,
    requests: prepareCount(limit.requests),
    cost: prepareCount(limit.cost),
    by: by && prepareKey(by),
  }
}

const prepareCount = (template: Template): Count => {
  if (template.kind === 'constant') return toCount(template.value)
  const run = evaluator(template)
  return (context) => {
    try {
      return toCount(run(context))
    } catch {
      return 1
    }
  }
}

const MOST = 1_000_000_000

const toCount = (value: Value): number => {
  const number = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value
  return Number.isInteger(number) && Number(number) >= 0 && Number(number) <= MOST
    ? Number(number)
    : 1
}

/** Empty: it has none. */
const prepareKey = (template: Template): ((context: EvaluationContext) => string) => {
  const run = evaluator(template)
  return (context) => {
    try {
      const value = run(context)
      return value === null || typeof value === 'object' ? '' : String(value)
    } catch {
      return ''
    }
  }
}
