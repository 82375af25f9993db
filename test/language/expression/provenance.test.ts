// Whose text a template gives: the document's own, or what somebody else has a say in.

import { describe, expect, it } from '@jest/globals'
import { isOfDocument } from '../../../language/expression/provenance.ts'
import {
  type ExpressionFunction,
  functionNamed,
  functionNames,
} from '../../../language/expression/functions/functions.ts'
import { isList, isMap, type Value, type ValueMap } from '../../../language/expression/value.ts'
import { folded } from './scope-of.ts'

const variables: ValueMap = {
  name: 'a.b',
  names: { first: 'a.b', second: 'c.d' },
  list: ['a.b', 'c.d'],
  id: '{{request.bindings.id}}',
  mixed: { first: 'a.b', second: '{{request.body}}' },
  late: 'a.{{security.authid}}',
  realm: 'x.{{security.realm_uri}}',
}

describe('isOfDocument', () => {
  it.each<[Value, boolean]>([
    ['plain', true],
    [{ a: ['b.c', 1] }, true],
    ['{{variables.name}}', true],
    ['{{status_codes}}', true],
    ['{{security.realm_uri}}', true],
    ['{{security.type}} {{security.authmethod}}', true],
    ['{{variables.realm}}', true],
    ['{{variables.names |> get({{request.bindings.id}})}}', true],
    ['{{variables.names |> get({{request.bindings.id}}, first)}}', true],
    ['{{variables.names |> with([{{request.body.x}}])}}', true],
    ['{{variables.names |> without([{{request.body.x}}])}}', true],
    ['{{variables.list |> nth({{request.query_params.n}})}}', true],
    ['{{variables.list |> random({{request.query_params.n}}) |> head}}', true],

    ['{{request.bindings.id}}', false],
    ['{{request.host}}', false],
    ['{{request}}', false],
    ['{{action.result.args}}', false],
    ['{{security}}', false],
    ['{{security.authid}}', false],
    ['{{security.client_id}}', false],
    ['{{security.groups |> head}}', false],
    ['{{security.meta.type}}', false],
    ['{{variables.id}}', false],
    ['{{variables.late}}', false],
    ['{{variables.mixed |> get({{security.type}})}}', false],
    ['{{variables.names |> get({{request.bindings.id}}, {{request.body.x}})}}', false],
    ['{{variables.names |> put(x, {{request.body}})}}', false],
    ['{{variables.names |> put({{request.body.x}}, y)}}', false],
    ['{{variables.names |> merge(_, {{request.body}})}}', false],
    ['{{request.body |> base64:decode}}', false],
    ['{{variables.name |> lower |> replace(A, B) |> split(B) |> join(x)}}', true],
    ['{{request.bindings.id |> lower |> trim}}', false],
    ['{{variables.name |> split({{request.bindings.id}}) |> head}}', false],
    ['{{variables.list |> join({{request.bindings.id}})}}', false],
    ['{{variables.name |> replace({{request.bindings.id}}, x)}}', false],
    ['{{variables.name |> replace(a, {{request.bindings.id}})}}', false],
    ['{{variables.name |> strip_prefix({{request.bindings.id}})}}', false],
    [{ a: ['{{request.id}}'] }, false],
  ])('%j: %s', (value, expected) => {
    expect(isOfDocument(folded(value, { variables, status_codes: { 'a.b': 400 } }).template)).toBe(
      expected,
    )
  })
})

describe('a function whose argument a client may give', () => {
  const INPUTS: readonly Value[] = [
    'order.created',
    ['order.created', 'order', '.'],
    { order: 'order.created', created: 'x.order' },
    [{ order: 'order.created' }],
  ]
  const ARGUMENTS: readonly Value[] = ['order', '.', 'created', '', 0, 1, -1, 2, ['order'], '_']

  const textsIn = (value: Value): readonly Value[] => {
    if (isList(value)) return value.flatMap(textsIn)
    if (isMap(value)) return Object.entries(value).flatMap(([key, item]) => [key, ...textsIn(item)])
    return typeof value === 'string' ? [value] : []
  }

  const apply = (
    { apply: run }: ExpressionFunction,
    input: Value,
    args: readonly Value[],
  ): Value => {
    try {
      return run(input, args, { budget: 10_000, random: () => 0 })
    } catch {
      return null
    }
  }

  /** Texts that it makes of the document's own, and that the document does not have. */
  const madeBy = (definition: ExpressionFunction): readonly Value[] =>
    INPUTS.flatMap((input) =>
      ARGUMENTS.flatMap((_, at) => {
        const count = Math.max(definition.least, 1)
        const args = [...ARGUMENTS, ...ARGUMENTS].slice(at, at + count)
        const own = new Set(textsIn(input))
        return textsIn(apply(definition, input, args)).filter((text) => !own.has(text))
      }),
    )

  const definitions = functionNames().flatMap((name) => functionNamed(name) ?? [])

  it('gives whole texts of its input alone', () => {
    const trusted = definitions.filter(({ clientArguments }) => clientArguments > 0)
    expect(trusted.map(({ name }) => name)).toEqual(['nth', 'random', 'get', 'with', 'without'])
    expect(trusted.filter((each) => madeBy(each).length > 0)).toEqual([])
  })

  it.each(['split', 'replace', 'strip_prefix', 'join'])(
    'is not %s, which makes new ones',
    (name) => {
      expect(
        definitions.find((each) => each.name === name && madeBy(each).length > 0),
      ).toBeDefined()
    },
  )
})
