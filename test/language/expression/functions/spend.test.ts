// What functions and templates take of the work that a request may be: units as `spend.ts` has measured them.

import { describe, expect, it } from '@jest/globals'
import { WORK } from '../../../../language/expression/functions/spend.ts'
import { keysOf } from '../../../../language/expression/keys.ts'
import { type EvaluationContext, evaluator } from '../../../../language/expression/run.ts'
import type { Value, ValueMap } from '../../../../language/expression/value.ts'
import { contextOf, folded } from '../scope-of.ts'

/** As a body of JSON brings it: keys are not listed so far. */
const mapOf = (count: number, name = 'key'): ValueMap =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${name}${index}`, index]))

/** Units that a template takes, 1.5 ns each. */
const workOf = (source: string, x: Value, given: Partial<EvaluationContext> = {}): number => {
  const { template } = folded(source)
  const context = contextOf({ request: { x }, work: WORK, ...given })
  evaluator(template)(context)
  return WORK - (context.work ?? WORK)
}

const records = (count: number): Value =>
  Array.from({ length: count }, (_, id) => ({
    id,
    name: `name ${id}`,
    price: id * 1.5,
    isInStock: true,
    text: 'about this one '.repeat(8),
  }))

describe('work is counted, whatever the value', () => {
  const text = '0'.repeat(2000)
  const base64 = Buffer.from(text).toString('base64')
  const list = Array.from(text)

  it.each<[pipe: string, input: () => Value, units: number]>([
    ['size', () => mapOf(2000), 320_000],
    ['size', () => mapOf(1000), 8000],
    ['with([a])', () => mapOf(2000), 320_000],
    ['without([a])', () => mapOf(2000), 720_000],
    ['put(a, b)', () => mapOf(2000), 720_000],
    ['put(a, b)', () => mapOf(100), 3200],
    ['merge({{request.x}})', () => mapOf(2000), 1_120_000],
    ['merge({{request.x}}, _)', () => mapOf(2000), 1_120_000],
    ['get({{request.x}}, a)', () => text, 0],
    ['min', () => list, 16_000],
    ['max', () => [text, 1], 2000],
    ['tail', () => list, 16_000],
    ['random(2000)', () => list, 48_000],
    ['integer', () => text, 8000],
    ['float', () => text, 8000],
    ['string', () => mapOf(2000), 800_000],
    ['string', () => mapOf(100), 800],
    ['json:encode', () => mapOf(2000), 800_000],
    ['json:encode', () => text, 2000],
    ['json:encode', () => '\u0001'.repeat(2000), 12_000],
    ['json:encode', () => '"'.repeat(6000), 12_000],
    ['json:encode', () => ['"'.repeat(6000)], 12_000],
    ['json:encode', () => ['\ud800'.repeat(2000)], 58_000],
    ['json:encode', () => ['\ud800'], 24],
    ['json:encode', () => list, 16_000],
    ['json:encode', () => Array.from({ length: 100 }, () => []), 6400],
    ['json:encode', () => Array.from({ length: 100 }, () => ({})), 6400],
    ['lower', () => text, 16_000],
    ['trim', () => ' '.repeat(2000) + text, 16_000],
    ['strip_prefix(abc)', () => text, 3],
    ['replace(1, 2)', () => text, 16_000],
    ['replace(0, 1)', () => text, 144_000],
    ['split(1)', () => text, 16_000],
    ['split(0)', () => text, 144_000],
    ["join(',')", () => list, 36_000],
    ['base64:encode', () => text, 2000],
    ['base64:decode', () => base64, base64.length * 4],
    ['json:decode', () => `[${text.replaceAll('0', '0,')}0]`, 64_000],
    ['json:decode', () => `[${'[],'.repeat(2000)}0]`, 328_000],
    ['json:decode', () => `{${'"abc":1,'.repeat(2000)}"":0}`, 512_000],
    ['json:decode', () => `{${'"abc":1,'.repeat(100)}"":0}`, 8800],
    ['json:decode', () => `{${String.raw`"\n":1,`.repeat(2000)}"":0}`, 1_520_000],
  ])('%s takes %#', (pipe, input, units) => {
    const source = pipe.startsWith('get') ? `{{security |> ${pipe}}}` : `{{request.x |> ${pipe}}}`
    const taken = workOf(source, input())
    expect(taken).toBeGreaterThan(units)
    expect(taken).toBeLessThanOrEqual(1.2 * units + 5000)
    expect(workOf(source, input())).toBe(taken)
    expect(() => workOf(source, input(), { work: taken - 1 })).toThrow('too much work')
  })

  it.each<[string, Value, number]>([
    ['{{request.x}}', mapOf(2000), 0],
    ['a {{request.x}}', mapOf(2000), 800_000],
    ['a {{request.x}}', mapOf(100), 800],
    ['a {{request.x |> get(a, b)}}', {}, 64],
  ])('%s', (source, x, units) => {
    const taken = workOf(source, x)
    expect(taken).toBeGreaterThanOrEqual(units)
    expect(taken).toBeLessThanOrEqual(1.2 * units + 5000)
  })

  it.each([
    ['size', '{{request.x |> size}}'],
    ['size of what was put into', '{{request.x |> put(a, b) |> size}}'],
    ['size of what was merged', '{{request.x |> merge({{request.x}}) |> size}}'],
    ['size of what is left', '{{request.x |> without([a]) |> size}}'],
  ])('the keys of a value are listed once: %s', (_, source) => {
    const x = mapOf(2000)
    workOf('{{request.x |> size}}', x)
    const first = workOf(source.replace(' |> size}}', '}}'), x)
    expect(workOf(source, x) - first).toBeLessThan(100)
  })

  it.each([
    ['texts', 'key'],
    ['numbers, which are sorted', ''],
    ['both', '0x'],
  ])('and what is known of them is as it would be listed: %s', (_, name) => {
    for (const source of [
      '{{request.x |> put(5a, 1)}}',
      '{{request.x |> put(b, 1) |> put(a, 1)}}',
      '{{request.x |> put(7, 1) |> merge({{request.y}}) |> without([b])}}',
      '{{request.x |> with([key5, 5])}}',
    ]) {
      const { template } = folded(source)
      const y = { b: 1, ...mapOf(1500, 'y'), ...mapOf(20, name) }
      const made = evaluator(template)(contextOf({ request: { x: mapOf(2000, name), y } }))
      const keys = keysOf(made as ValueMap, contextOf())
      expect(keys).toEqual(Object.keys(made as ValueMap))
    }
  })

  it('a request does no more than it may, however its work is spread', () => {
    const { template } = folded(`{{request.x${' |> put(a, b) |> without([a])'.repeat(40)}}}`)
    const context = contextOf({ request: { x: mapOf(100_000) } })
    expect(() => evaluator(template)(context)).toThrow('too much work')
    const { template: texts } = folded(Array.from({ length: 40 }, () => 'a {{request.x}}'))
    const other = contextOf({ request: { x: mapOf(20_000) }, budget: Infinity })
    expect(() => evaluator(texts)(other)).toThrow('too much work')
  })

  it('and then nothing is applied any more, however little it takes', () => {
    const { template } = folded('{{request.x |> size}}')
    const context = contextOf({ request: { x: {} }, work: -1 })
    expect(() => evaluator(template)(context)).toThrow('too much work')
  })

  it('nor at load, for a whole document', () => {
    const sizes = Array.from({ length: 30 }, () => '{{variables.x |> put(a, b) |> size}}')
    const { messages } = folded(sizes, { variables: { x: mapOf(100_000) } })
    expect(messages[0]).toContain('put failed: this is too much work')
    expect(messages).toHaveLength(1)
  })

  it.each<[string, () => Value]>([
    ['a body of 1 MB, put into twice, merged and written', () => ({ rows: records(5000) })],
    ['a flat map of 20,000 keys, put into twice, merged and written', () => mapOf(20_000)],
  ])('what is ordinary is not too much: %s', (_, input) => {
    const x = input()
    const { template } = folded([
      '{{request.x |> put(a, 1) |> put(b, 2)}}',
      '{{request.x |> merge({{request.x}}) |> size}}',
      'all of it: {{request.x}}',
    ])
    expect(evaluator(template)(contextOf({ request: { x } }))).toHaveLength(3)
  })

  it('8 MiB of text are written', () => {
    const x = records(20_000)
    const { template } = folded('{{request.x}} {{request.x}}')
    const context = contextOf({ request: { x } })
    expect(evaluator(template)(context)).toHaveLength(2 * JSON.stringify(x).length + 1)
  })
})
