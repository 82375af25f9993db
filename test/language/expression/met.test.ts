// Expressions that a document repeats: what is kept of them, and that results do not show it.

import { describe, expect, it } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { fold, type FoldScope } from '../../../language/expression/fold.ts'
import { isFree } from '../../../language/expression/free.ts'
import { parse } from '../../../language/expression/syntax/parse.ts'
import type { Met } from '../../../language/expression/scope.ts'
import type { Template } from '../../../language/expression/template.ts'
import type { Value, ValueMap } from '../../../language/expression/value.ts'
import { MiB, scopeOf } from './scope-of.ts'

const cases = JSON.parse(readFileSync(new URL('cases.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly { readonly expression: string }[]
}

/** A scope over some variables that remembers, together with others of the same `met`. */
const remembering = (met: Map<string, Met>, variables: ValueMap, left = MiB): FoldScope => ({
  ...scopeOf({ variables }, () => undefined, left),
  met,
})

const foldIn = (
  value: Value,
  scope: FoldScope,
  pointer = '',
): { template: Template; faults: string[] } => {
  const faults: string[] = []
  const template = fold(value, pointer, scope, ({ path, message }) => {
    faults.push(`${path} ${message}`)
  })
  return { template, faults }
}

describe('isFree', () => {
  it.each<[string, boolean]>([
    ['plain', true],
    ['{{request.id}}', true],
    ['a {{request.id}} b {{action.result.args}} {{security}}', true],
    ['{{request.body |> get(a, {{request.id}}) |> with([a, {{request.path}}])}}', true],
    ['{{variables.v}}', false],
    ['{{ vari ables . v }}', false],
    ['{{defaults}}', false],
    ['{{status_codes}}', false],
    ['a {{request.id}} {{variables.v}}', false],
    ['{{request.body |> get(a, {{variables.v}})}}', false],
    ['{{request.body |> with([a, {{defaults.v}}])}}', false],
    ['{{request.body |> get(a, {{request.x |> get({{variables.v}})}})}}', false],
    ['{{constructor.x}}', false],
    ['{{__proto__}}', false],
  ])('%s: %s', (source, expected) => {
    const parsed = parse(source)
    expect(parsed.ok && isFree(parsed.ast)).toBe(expected)
  })
})

describe('what was met before', () => {
  it('is one template wherever it stands', () => {
    const met = new Map<string, Met>()
    const first = foldIn('a {{request.id}}', remembering(met, {}))
    const second = foldIn('a {{request.id}}', remembering(met, { x: 1 }))
    expect(second.template).toBe(first.template)
  })

  it('means what the scope knows where it stands', () => {
    const met = new Map<string, Met>()
    const source = ['{{variables.v}}', 'v {{variables.v}} of {{request.id}}']
    for (const v of [1, 2]) {
      const alone = foldIn(source, scopeOf({ variables: { v } }))
      expect(foldIn(source, remembering(met, { v }))).toEqual(alone)
    }
  })

  it.each([
    ['{{request.id'],
    ['{{request.id |> nothing}}'],
    ['{{nowhere.id}}'],
    ['{{variables.missing}}'],
    ['{{request.body |> get}}'],
  ])('is at fault each time: %s', (source) => {
    const scope = remembering(new Map(), {})
    const [first, second] = ['/a', '/b'].map((pointer) => foldIn({ x: source }, scope, pointer))
    expect(first?.faults).toEqual([expect.stringMatching(/^\/a\/x ./)])
    expect(second?.faults).toEqual(first?.faults.map((fault) => fault.replace('/a', '/b')))
  })

  it('pays each time for what it produces', () => {
    const scope = remembering(new Map(), { long: 'x'.repeat(500) }, 1200)
    const outcomes = Array.from({ length: 3 }, () => foldIn(['{{variables.long}}!'], scope))
    expect(outcomes.map(({ faults }) => faults.length)).toEqual([0, 0, 1])
    expect(scope.budget.left).toBeLessThan(0)
  })

  it('changes nothing for any expression of the conformance cases', () => {
    const variables = { v: 1, m: { k: ['a'] } }
    const met = new Map<string, Met>()
    const sources = cases.cases.map(({ expression }) => expression)
    expect(sources.length).toBeGreaterThan(50)
    for (const source of [...sources, ...sources])
      expect(foldIn({ a: [source] }, remembering(met, variables))).toEqual(
        foldIn({ a: [source] }, remembering(new Map(), variables)),
      )
  })
})
