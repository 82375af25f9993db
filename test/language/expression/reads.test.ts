// What a template reads of the context, cut to what can be filled in or left out.

import { describe, expect, it } from '@jest/globals'
import { readsOf, someRead } from '../../../language/expression/reads.ts'
import type { Value } from '../../../language/expression/value.ts'
import { folded } from './scope-of.ts'

describe('readsOf', () => {
  it.each<[Value, string[]]>([
    ['plain', []],
    [{ a: [1] }, []],
    ['{{variables.v}}', []],
    ['{{request}}', ['request']],
    ['{{request.body.a.b}}', ['request.body']],
    ['{{security.meta.a}}', ['security.meta']],
    ['{{action}}', ['action']],
    ['{{action.result}}', ['action.result']],
    ['{{action.result.body.x.y}}', ['action.result.body']],
    ['{{action.result.arguments |> head}}', ['action.result.args']],
    [
      { a: ['{{request.path}}', 'x {{request.id}} {{security.authid}}'], b: '{{request.path}}' },
      ['request.id', 'request.path', 'security.authid'],
    ],
    [
      '{{request.body |> get({{request.headers.a}}, {{action.error.args}}) |> merge(_, {{request}})}}',
      ['action.error.args', 'request', 'request.body', 'request.headers'],
    ],
    ['{{request.body |> with([{{request.id}}])}}', ['request.body', 'request.id']],
  ])('%j: %j', (value, expected) => {
    expect(readsOf(folded(value, { variables: { v: 1 } }).template)).toEqual(expected)
  })

  it('status codes that wait are read as a whole', () => {
    expect(readsOf({ kind: 'read', root: 'status_codes', keys: ['a.b'] })).toEqual(['status_codes'])
  })
})

describe('someRead', () => {
  it.each<[Value, string]>([
    ['plain', ''],
    [{ a: [1, 'x'] }, ''],
    ['{{request.id}}', 'request'],
    [['a', 'b {{action.result}}'], 'action'],
    [{ a: { b: '{{security.authid |> string}}' } }, 'security'],
    ['{{request.body |> merge(_, {{action.error}})}}', 'request action'],
    ['{{request.body |> with([{{security.authid}}])}}', 'request security'],
  ])('%j: %s', (value, expected) => {
    const { template } = folded(value)
    const roots = (['request', 'action', 'security', 'status_codes'] as const).filter((root) =>
      someRead(template, (read) => read === root),
    )
    expect(roots.join(' ')).toBe(expected)
  })
})
