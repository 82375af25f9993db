import { describe, expect, it } from '@jest/globals'
import { FAULT } from '../../../language/expression/fold.ts'
import { constant, type Template } from '../../../language/expression/template.ts'
import type { Value } from '../../../language/expression/value.ts'
import { createFindings, type Findings } from '../../../language/compile/findings.ts'
import {
  readInteger,
  readIntegerOrWait,
  readOneOf,
  readShape,
  readText,
  readTextOrWait,
  readTexts,
  toFoldedMap,
} from '../../../language/compile/folded.ts'

const read: Template = { kind: 'read', root: 'request', keys: ['id'] }
const pipe: Template = { kind: 'pipe', input: read, calls: [], source: '' }
const text: Template = { kind: 'text', parts: ['a', read] }
const list: Template = { kind: 'list', items: [read] }
const map: Template = { kind: 'map', entries: [['a', read]] }

/** What a reader makes of a template, or the codes of what it reports. */
const outcome = (reader: (findings: Findings) => unknown) => {
  const findings = createFindings()
  const value = reader(findings)
  return value === undefined ? findings.problems.map(({ code, path }) => `${code} ${path}`) : value
}

const refused = (code: string) => [`${code} /x`]
const TYPE = refused('invalid_datatype')
const VALUE = refused('invalid_value')

const toTemplate = (value: Value | Template): Template =>
  typeof value === 'object' && value !== null && 'kind' in value
    ? (value as Template)
    : constant(value)

describe('integers', () => {
  it.each<[Value | Template, unknown]>([
    [7, 7],
    ['7', 7],
    ['-3', VALUE],
    [0, VALUE],
    [11, VALUE],
    [1.5, VALUE],
    ['1.5', TYPE],
    ['', TYPE],
    [true, TYPE],
    [null, TYPE],
    [[1], TYPE],
    [Infinity, TYPE],
    [read, VALUE],
    [FAULT, []],
  ])('known at load: %j → %j', (value, expected) => {
    const range = { minimum: 1, maximum: 10 }
    expect(outcome((findings) => readInteger(toTemplate(value), '/x', range, findings))).toEqual(
      expected,
    )
  })

  it.each<[Value | Template, unknown]>([
    ['7', constant(7)],
    [-1, VALUE],
    [read, read],
    [text, text],
    [pipe, pipe],
    [list, TYPE],
    [map, TYPE],
    [FAULT, []],
  ])('or waiting: %j → %j', (value, expected) => {
    const range = { minimum: 0 }
    expect(
      outcome((findings) => readIntegerOrWait(toTemplate(value), '/x', range, findings)),
    ).toEqual(expected)
  })
})

describe('texts', () => {
  it.each<[Value | Template, unknown, unknown]>([
    ['a', 'a', constant('a')],
    ['', '', constant('')],
    [7, TYPE, TYPE],
    [null, TYPE, TYPE],
    [read, VALUE, read],
    [text, VALUE, text],
    [list, VALUE, TYPE],
    [map, VALUE, TYPE],
    [FAULT, [], []],
  ])('%j → known %j, or waiting %j', (value, known, waiting) => {
    const template = toTemplate(value)
    expect(outcome((findings) => readText(template, '/x', findings))).toEqual(known)
    expect(outcome((findings) => readTextOrWait(template, '/x', findings))).toEqual(waiting)
  })

  it.each<[Value | Template, unknown]>([
    ['a', 'a'],
    ['c', VALUE],
    ['constructor', VALUE],
    [read, VALUE],
    [1, TYPE],
    [FAULT, []],
  ])('one of a, b: %j → %j', (value, expected) => {
    expect(outcome((findings) => readOneOf(toTemplate(value), '/x', ['a', 'b'], findings))).toEqual(
      expected,
    )
  })

  it.each<[Value | Template, unknown]>([
    [
      ['a', 'b', 'a'],
      ['a', 'b', 'a'],
    ],
    [[], []],
    ['a', TYPE],
    [list, TYPE],
    [FAULT, []],
  ])('lists of a, b: %j → %j', (value, expected) => {
    expect(outcome((findings) => readTexts(toTemplate(value), '/x', ['a', 'b'], findings))).toEqual(
      expected,
    )
  })

  it('report every element that is none', () => {
    const findings = createFindings()
    readTexts(constant(['a', 'c', 1]), '/x', ['a'], findings)
    expect(findings.problems.map(({ code, path }) => [code, path])).toEqual([
      ['invalid_value', '/x/1'],
      ['invalid_datatype', '/x/2'],
    ])
    expect(outcome((some) => readTexts<string>(constant(['any']), '/x', undefined, some))).toEqual([
      'any',
    ])
  })
})

describe('shapes', () => {
  it.each<[Value | Template, unknown, unknown]>([
    [{ a: 1 }, constant({ a: 1 }), TYPE],
    [[1], TYPE, constant([1])],
    ['a', TYPE, TYPE],
    [null, TYPE, TYPE],
    [map, map, TYPE],
    [list, TYPE, list],
    [text, TYPE, TYPE],
    [read, read, read],
    [pipe, pipe, pipe],
    [FAULT, [], []],
  ])('%j → map %j, list %j', (value, asMap, asList) => {
    const template = toTemplate(value)
    expect(outcome((findings) => readShape(template, '/x', 'map', findings))).toEqual(asMap)
    expect(outcome((findings) => readShape(template, '/x', 'list', findings))).toEqual(asList)
  })
})

describe('toFoldedMap', () => {
  it('has own keys only; a faulty member is there and yet absent', () => {
    const template: Template = {
      kind: 'map',
      entries: [
        ['a', read],
        ['b', FAULT],
        ['__proto__', read],
      ],
    }
    const folded = toFoldedMap(template, '/x', createFindings())
    expect(folded?.keys).toEqual(['a', 'b', '__proto__'])
    expect(folded?.get('a')).toBe(read)
    expect(folded?.get('__proto__')).toBe(read)
    for (const key of ['b', 'constructor', 'toString']) expect(folded?.get(key)).toBeUndefined()
  })

  it.each<[Value | Template, unknown]>([
    [[1], TYPE],
    ['a', TYPE],
    [read, TYPE],
    [list, TYPE],
    [FAULT, []],
  ])('%j is none', (value, expected) => {
    expect(outcome((findings) => toFoldedMap(toTemplate(value), '/x', findings))).toEqual(expected)
  })
})
