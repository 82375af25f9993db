// The pattern language of the cases, row by row.

import { describe, expect, it } from '@jest/globals'
import type { Json } from './json.ts'
import { mismatches, patternOf } from './match.ts'

const exactly = { at: 'body', subset: false }
const atLeast = { at: 'body', subset: true }

describe('a pattern that fits', () => {
  it.each<[string, Json, Json]>([
    ['an equal text', 'a', 'a'],
    ['an equal number, whatever its spelling', 1, 1.0],
    ['null', null, null],
    ['@any', '@any', null],
    ['@string', '@string', ''],
    ['@integer', '@integer', -3],
    ['@number', '@number', 0.5],
    ['@list', '@list', []],
    ['@map', '@map', {}],
    ['a regular expression', '~^a.c$', 'a\nc'],
    ['one that ignores case', '~(?i)^CLOSE$', 'close'],
    ['one that sees lines', '~(?m)^# TYPE ', 'x\n# TYPE y'],
    ['one on a number', '~^1[0-9]{3}$', 1234],
    ['one on a map, written with blanks', '~"a": 1, "b"', { a: 1, b: [2] }],
    ['a map in any order', { a: 1, b: [2, { c: '@any' }] }, { b: [2, { c: 3 }], a: 1 }],
    ['an absent key', { a: '@absent' }, {}],
    [
      'own keys named like prototype members',
      JSON.parse('{"__proto__":1,"constructor":2}') as Json,
      JSON.parse('{"constructor":2,"__proto__":1}') as Json,
    ],
    ['some elements of a list', { '@some': [{ a: 1 }] }, [0, { a: 1, b: 2 }]],
    ['one of several', { '@one_of': ['x', { a: '@map' }] }, { a: {} }],
  ])('%s', (_, want, got) => {
    expect(mismatches(want, got, exactly)).toEqual([])
  })
})

describe('a pattern that does not fit', () => {
  it.each<[string, Json, Json, string]>([
    ['another text', 'a', 'b', 'body: expected a, got b'],
    ['true is not 1', 1, true, 'body: expected 1, got true'],
    ['null is not 0', null, 0, 'body: expected null, got 0'],
    ['a number as text', 1, '1', 'body: expected 1, got 1'],
    ['@integer', '@integer', 1.5, 'body: expected a value of kind @integer, got 1.5'],
    ['@map', '@map', [], 'body: expected a value of kind @map, got []'],
    ['a regular expression', '~^a$', 'ab', 'body: expected to match /^a$/, got ab'],
    ['a missing key', { a: 1 }, {}, 'body/a: missing, expected 1'],
    [
      'a key of the prototype',
      { constructor: '@any' },
      {},
      'body/constructor: missing, expected @any',
    ],
    ['a key too many', {}, { a: 1 }, 'body/a: unexpected, got 1'],
    [
      'a key that must be absent',
      { a: '@absent' },
      { a: null },
      'body/a: expected to be absent, got null',
    ],
    ['no map', { a: 1 }, [1], 'body: expected a map {"a": 1}, got [1]'],
    ['a longer list', [1], [1, 2], 'body: expected [1], got [1, 2]'],
    ['an item', [1, { a: 1 }], [1, { a: 2 }], 'body/1/a: expected 1, got 2'],
    ['no such element', { '@some': [1, 2] }, [1], 'body: no element is like 2 in [1]'],
    ['no list', { '@some': [1] }, {}, 'body: expected a list, got {}'],
    ['none of several', { '@one_of': [1, 2] }, 3, 'body: expected one of [1, 2], got 3'],
  ])('%s', (_, want, got, fault) => {
    expect(mismatches(want, got, exactly)).toEqual([fault])
  })

  it('names every fault, and where', () => {
    expect(mismatches({ a: 1, b: { c: 2 } }, { a: 0, b: { c: 0 } }, exactly)).toEqual([
      'body/a: expected 1, got 0',
      'body/b/c: expected 2, got 0',
    ])
  })
})

it('maps may hold more where that is allowed, on every level', () => {
  expect(mismatches({ a: { b: 1 } }, { a: { b: 1, c: 2 }, d: 3 }, atLeast)).toEqual([])
})

it('long values are cut', () => {
  expect(mismatches('a', 'x'.repeat(1000), exactly)).toEqual([
    `body: expected a, got ${'x'.repeat(160)}… (1000 characters)`,
  ])
})

it.each([
  ['^[45]', '404', true],
  ['^[45]', '204', false],
  ['(?im)^b', 'a\nB', true],
])('the pattern %s on %j: %s', (source, text, fits) => {
  expect(patternOf(source).test(text)).toBe(fits)
})
