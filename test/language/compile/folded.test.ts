import { describe, expect, it } from '@jest/globals'
import { INVALID } from '../../../language/expression/fold.ts'
import { constant, type Template } from '../../../language/expression/template.ts'
import type { Value } from '../../../language/expression/value.ts'
import { createDiagnostics, type Diagnostics } from '../../../language/compile/diagnostics.ts'
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
const outcome = (reader: (diagnostics: Diagnostics) => unknown) => {
  const diagnostics = createDiagnostics()
  const value = reader(diagnostics)
  return value === undefined
    ? diagnostics.problems.map(({ code, path }) => `${code} ${path}`)
    : value
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
    [INVALID, []],
  ])('known at load: %j → %j', (value, expected) => {
    const range = { minimum: 1, maximum: 10 }
    expect(
      outcome((diagnostics) => readInteger(toTemplate(value), '/x', range, diagnostics)),
    ).toEqual(expected)
  })

  it.each<[Value | Template, unknown]>([
    ['7', constant(7)],
    [-1, VALUE],
    [read, read],
    [text, text],
    [pipe, pipe],
    [list, TYPE],
    [map, TYPE],
    [INVALID, []],
  ])('or waiting: %j → %j', (value, expected) => {
    const range = { minimum: 0 }
    expect(
      outcome((diagnostics) => readIntegerOrWait(toTemplate(value), '/x', range, diagnostics)),
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
    [INVALID, [], []],
  ])('%j → known %j, or waiting %j', (value, known, waiting) => {
    const template = toTemplate(value)
    expect(outcome((diagnostics) => readText(template, '/x', diagnostics))).toEqual(known)
    expect(outcome((diagnostics) => readTextOrWait(template, '/x', diagnostics))).toEqual(waiting)
  })

  it.each<[Value | Template, unknown]>([
    ['a', 'a'],
    ['c', VALUE],
    ['constructor', VALUE],
    [read, VALUE],
    [1, TYPE],
    [INVALID, []],
  ])('one of a, b: %j → %j', (value, expected) => {
    expect(
      outcome((diagnostics) => readOneOf(toTemplate(value), '/x', ['a', 'b'], diagnostics)),
    ).toEqual(expected)
  })

  it.each<[Value | Template, unknown]>([
    [
      ['a', 'b', 'a'],
      ['a', 'b', 'a'],
    ],
    [[], []],
    ['a', TYPE],
    [list, TYPE],
    [INVALID, []],
  ])('lists of a, b: %j → %j', (value, expected) => {
    expect(
      outcome((diagnostics) => readTexts(toTemplate(value), '/x', ['a', 'b'], diagnostics)),
    ).toEqual(expected)
  })

  it('report every element that is none', () => {
    const diagnostics = createDiagnostics()
    expect(readTexts(constant(['a', 'c', 1]), '/x', ['a'], diagnostics)).toBeUndefined()
    expect(diagnostics.problems.map(({ code, path }) => [code, path])).toEqual([
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
    [INVALID, [], []],
  ])('%j → map %j, list %j', (value, asMap, asList) => {
    const template = toTemplate(value)
    expect(outcome((diagnostics) => readShape(template, '/x', 'map', diagnostics))).toEqual(asMap)
    expect(outcome((diagnostics) => readShape(template, '/x', 'list', diagnostics))).toEqual(asList)
  })
})

describe('toFoldedMap', () => {
  it('has own keys only; a faulty member is there and yet absent', () => {
    const template: Template = {
      kind: 'map',
      entries: [
        ['a', read],
        ['b', INVALID],
        ['__proto__', read],
      ],
    }
    const folded = toFoldedMap(template, '/x', createDiagnostics())
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
    [INVALID, []],
  ])('%j is none', (value, expected) => {
    expect(outcome((diagnostics) => toFoldedMap(toTemplate(value), '/x', diagnostics))).toEqual(
      expected,
    )
  })
})
