// Evaluates the times and counts of a forward or a WAMP call for each request, and validates them.

import type { CallLimits } from '../../language/compile/compiled.ts'
import { ExpressionError } from '../../language/expression/errors.ts'
import { type EvaluationContext, evaluator } from '../../language/expression/run.ts'
import type { Template } from '../../language/expression/template.ts'
import type { Value } from '../../language/expression/value.ts'

export interface CallTimes {
  readonly connectTimeoutMs: number
  /** Per attempt: up to the response headers, then for the longest pause between chunks. */
  readonly timeoutMs: number
  readonly retries: number
  readonly retryTimeoutMs: number
}

/**
 * @param callTimeoutMs the realm's, used if the operation sets no `timeout`
 * @returns a reader that throws ExpressionError for anything but a count of milliseconds or attempts
 */
export const prepareLimits = (
  limits: CallLimits,
  callTimeoutMs: () => number,
): ((context: EvaluationContext) => CallTimes) => {
  const timeout = limits.timeout && prepareNumber('timeout', limits.timeout)
  const connectTimeout = prepareNumber('connect_timeout', limits.connectTimeout)
  const retries = prepareNumber('retries', limits.retries)
  const retryTimeout = prepareNumber('retry_timeout', limits.retryTimeout)
  return (context) => ({
    timeoutMs: timeout === undefined ? callTimeoutMs() : timeout(context),
    connectTimeoutMs: connectTimeout(context),
    retries: retries(context),
    retryTimeoutMs: retryTimeout(context),
  })
}

const prepareNumber = (
  name: string,
  template: Template,
): ((context: EvaluationContext) => number) => {
  if (template.kind === 'constant' && typeof template.value === 'number') {
    const known = toCount(name, template.value, template)
    return () => known
  }
  const run = evaluator(template)
  return (context) => toCount(name, run(context), template)
}

/** Times beyond the bound of the platform's timers count as infinite. */
const LONGEST = 2 ** 31 - 1

const toCount = (name: string, value: Value, template: Template): number => {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
  if (typeof number === 'number' && number >= 0) return Math.min(Math.trunc(number), LONGEST)
  throw new ExpressionError(`${name}: a whole number, 0 or more, is expected`, {
    template,
  })
}
