// How cases vary and grow documents.

import { describe, expect, it } from '@jest/globals'
import { documentOf, grow, valueAt } from './documents.ts'
import type { Json, JsonMap } from './json.ts'
import { CaseError } from './placeholders.ts'

const documents: JsonMap = { base: { id: 'x', 'a/b~': [1, 2, { c: 3 }], m: { n: null } } }

describe('documentOf', () => {
  it.each<[string, object, Json]>([
    ['a document as it stands', { document: { a: 1 } }, { a: 1 }],
    ['a named one', { from: 'base' }, documents['base'] ?? null],
    [
      'a value set',
      { from: 'base', set: { '/id': 42 } },
      { id: 42, 'a/b~': [1, 2, { c: 3 }], m: { n: null } },
    ],
    [
      'a value added',
      { from: 'base', remove: ['/a~1b~0', '/m'], set: { '/new': [] } },
      { id: 'x', new: [] },
    ],
    [
      'an item set',
      { from: 'base', remove: ['/m'], set: { '/a~1b~0/2/c': 4 } },
      { id: 'x', 'a/b~': [1, 2, { c: 4 }] },
    ],
    [
      'an item added at the end',
      { from: 'base', remove: ['/m'], set: { '/a~1b~0/-': 9 } },
      { id: 'x', 'a/b~': [1, 2, { c: 3 }, 9] },
    ],
    [
      'an item removed',
      { from: 'base', remove: ['/a~1b~0/0', '/m'] },
      { id: 'x', 'a/b~': [2, { c: 3 }] },
    ],
    [
      'a key named __proto__',
      { from: 'base', remove: ['/a~1b~0', '/m'], set: { '/__proto__': 1 } },
      JSON.parse('{"id":"x","__proto__":1}') as Json,
    ],
  ])('%s', (_, spec, document) => {
    expect(documentOf(spec, documents)).toStrictEqual(document)
  })

  it('leaves the named document as it was', () => {
    const before = JSON.stringify(documents)
    documentOf({ from: 'base', remove: ['/id'], set: { '/m/n': 1 } }, documents)
    expect(JSON.stringify(documents)).toBe(before)
  })

  it.each([
    ['no such name', { from: 'constructor' }],
    ['nothing to remove', { from: 'base', remove: ['/nope'] }],
    ['a pointer through nothing', { from: 'base', set: { '/nope/x': 1 } }],
    ['a pointer past a text', { from: 'base', set: { '/id/x': 1 } }],
    ['an item that is not there', { from: 'base', remove: ['/a~1b~0/7'] }],
  ])('%s is an error of the case', (_, spec) => {
    expect(() => documentOf(spec, documents)).toThrow(CaseError)
  })
})

describe('grow', () => {
  it.each<[string, Json, Json]>([
    ['a long text', { '@times': ['ab', 3] }, 'ababab'],
    ['a long text with ends', { '@times': ['ab', 2, '<', '>'] }, '<abab>'],
    ['deep maps', { '@nest': ['k', 3, 1] }, { k: { k: { k: 1 } } }],
    ['deep lists', { '@nest': ['', 2, 'x'] }, [['x']]],
    ['many paths', { '@paths': [2, { get: {} }] }, { '/p0': { get: {} }, '/p1': { get: {} } }],
    ['inside other values', [{ a: { '@times': ['x', 2] } }], [{ a: 'xx' }]],
    [
      'beside another key it is no generator',
      { '@times': ['x', 2], a: 1 },
      { '@times': ['x', 2], a: 1 },
    ],
    ['other keys of one', { constructor: ['x', 2] }, { constructor: ['x', 2] }],
  ])('%s', (_, value, grown) => {
    expect(grow(value)).toEqual(grown)
  })

  it('refuses a generator without its list', () => {
    expect(() => grow({ '@times': 'x' })).toThrow(CaseError)
  })
})

it.each<[string, Json | undefined]>([
  ['/a/0/b~1c', 1],
  ['/a/1', undefined],
  ['/toString', undefined],
  ['', { a: [{ 'b/c': 1 }] }],
])('the value at %j', (pointer, value) => {
  expect(valueAt({ a: [{ 'b/c': 1 }] }, pointer)).toStrictEqual(value)
})
