import { describe, expect, it } from '@jest/globals'
import { prepareStatic } from '../../../dataplane/actions/static.ts'
import type { CompiledOperation } from '../../../language/compile/compiled.ts'
import { ExpressionError } from '../../../language/expression/errors.ts'
import { compiledGet } from '../../language/documents.ts'
import { probeExchange } from './exchange-probe.ts'

const prepare = (action: object, response: object = {}) => {
  const operation: CompiledOperation = compiledGet({
    paths: { '/x': { get: { action: { type: 'static', ...action }, response } } },
  })
  if (operation.action.type !== 'static') throw new Error('this is no static action')
  return prepareStatic(operation, operation.action)
}

describe('prepareStatic', () => {
  it.each([
    ['a body', { body: '{{request.path}}' }, { headers: {}, body: '/p' }],
    ['headers', { headers: { a: '{{request.id}}' }, body: 7 }, { headers: { a: '7' }, body: 7 }],
    ['nothing', {}, { headers: {}, body: '' }],
  ])('%s is what a response reads of it', (_, action, result) => {
    const exchange = probeExchange({ path: '/p', id: '7' })
    prepare(action, { on_result: { body: '{{action.result}}' } })(exchange)
    expect(exchange.results).toEqual([result])
  })

  it('what no template reads is not evaluated', () => {
    const exchange = probeExchange()
    prepare({ body: '{{request.body.nope}}' }, { on_result: { body: 'own' } })(exchange)
    expect(exchange.results).toEqual([{}])
  })

  it('an expression that fails is thrown', () => {
    const perform = prepare(
      { body: '{{request.body.nope}}' },
      { on_result: { body: '{{action.result.body}}' } },
    )
    expect(() => {
      perform(probeExchange())
    }).toThrow(ExpressionError)
  })
})
