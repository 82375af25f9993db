import { describe, expect, it } from '@jest/globals'
import { prepareLimits } from '../../../dataplane/actions/call-limits.ts'
import { Context } from '../../../dataplane/context.ts'
import { ExpressionError } from '../../../language/expression/errors.ts'
import { constant, type Template } from '../../../language/expression/template.ts'
import type { Value } from '../../../language/expression/value.ts'
import { operationOf, read } from './forward/forward-fixture.ts'

const host = constant('http://h')

describe('prepareLimits', () => {
  it('takes what the operation sets, else the timeout of the realm', () => {
    const { limits } = operationOf({ action: { host }, limits: { retries: constant(3) } })
    expect(prepareLimits(limits, () => 777)(new Context())).toEqual({
      connectTimeoutMs: 5000,
      timeoutMs: 777,
      retries: 3,
      retryTimeoutMs: 5000,
    })
  })

  const timeoutOf = (timeout: Template, body: Value = null): number => {
    const { limits } = operationOf({ action: { host }, limits: { timeout } })
    const context = new Context()
    context.request.body = body
    return prepareLimits(limits, () => 777)(context).timeoutMs
  }

  it.each<[Value, number]>([
    [400, 400],
    [0, 0],
    ['250', 250],
    [12.9, 12],
    [1e12, 2 ** 31 - 1],
  ])('%j', (value, expected) => {
    expect(timeoutOf(constant(value))).toBe(expected)
    expect(timeoutOf(read('request.body'), value)).toBe(expected)
  })

  it.each<Value>([-1, 'soon', '', null, true, [], {}, '1e3', Number.NaN])(
    '%j is refused',
    (value) => {
      expect(() => timeoutOf(constant(value))).toThrow(ExpressionError)
      expect(() => timeoutOf(read('request.body'), value)).toThrow(ExpressionError)
    },
  )
})
