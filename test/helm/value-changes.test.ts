// The changes between two values are told where they are, and make the one of the other, whatever the values are.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { applyChanges, type Changes, findChanges, sortKeys } from './value-changes.ts'

const CASES: readonly (readonly [what: string, before: unknown, after: unknown, Changes])[] = [
  ['nothing', { a: [1, { b: null }] }, { a: [1, { b: null }] }, {}],
  ['nothing of a text', 'a', 'a', {}],
  ['a value', { a: { b: 1 } }, { a: { b: '1' } }, { '/a/b': { before: 1, after: '1' } }],
  ['the whole', [1], 'x', { '': { before: [1], after: 'x' } }],
  ['a key that comes', {}, { a: null }, { '/a': { after: null } }],
  ['a key that goes', { a: null, b: 1 }, { b: 1 }, { '/a': { before: null } }],
  [
    'keys in order',
    { b: 1, c: 1 },
    { c: 2, a: 2 },
    { '/a': { after: 2 }, '/b': { before: 1 }, '/c': { before: 1, after: 2 } },
  ],
  [
    'a map that comes, key by key',
    {},
    { a: { b: 1, c: { d: 2 } } },
    { '/a/b': { after: 1 }, '/a/c/d': { after: 2 } },
  ],
  ['an empty map that comes', {}, { a: {} }, { '/a': { after: {} } }],
  ['a map that goes, whole', { a: { b: 1 } }, {}, { '/a': { before: { b: 1 } } }],
  ['a map that gets empty', { a: { b: 1 } }, { a: {} }, { '/a/b': { before: 1 } }],
  ['a key with a slash', {}, { 'a/b~': 1 }, { '/a~1b~0': { after: 1 } }],
  ['a key that all maps inherit', {}, { constructor: 1 }, { '/constructor': { after: 1 } }],
  [
    'a named element',
    { list: [{ name: 'a', port: 1 }, { name: 'b' }] },
    { list: [{ name: 'a', port: 2 }] },
    { '/list/a/port': { before: 1, after: 2 }, '/list/b': { before: { name: 'b' } } },
  ],
  ['an alert', [{ alert: 'A', for: 1 }], [{ alert: 'A' }], { '/A/for': { before: 1 } }],
  [
    'flags, with their places',
    ['--a=1', '--b', '--c'],
    ['--x', '--a=2', '--y=1', '--z', '--c', '--end', '--last'],
    {
      '/--a': { before: '--a=1', after: '--a=2' },
      '/--b': { before: '--b' },
      '/--x': { after: '--x', behind: '' },
      '/--y': { after: '--y=1', behind: '--a' },
      '/--z': { after: '--z', behind: '--y' },
      '/--end': { after: '--end' },
      '/--last': { after: '--last' },
    },
  ],
  [
    'elements that change places',
    ['--a', '--b'],
    ['--b', '--a'],
    { '/0': { before: ['--a'] }, '/2': { after: ['--a'] } },
  ],
  ['a flag that is there twice', ['--a=1'], ['--a=1', '--a=2'], { '/1': { after: ['--a=2'] } }],
  [
    'names that read as indexes',
    [{ name: '0' }],
    [{ name: '1' }, { name: '0' }],
    { '/0': { after: [{ name: '1' }] } },
  ],
  [
    'runs of elements without names',
    [1, 2, 3, 4],
    [2, 5, 6, 4, 7],
    { '/0': { before: [1] }, '/2': { before: [3], after: [5, 6] }, '/4': { after: [7] } },
  ],
  [
    'maps without names, as many as before',
    [{ port: 1 }, { port: 2 }],
    [{ port: 1 }, { port: 3 }],
    { '/1/port': { before: 2, after: 3 } },
  ],
  [
    'lines of a text',
    { a: ['x', 'one\ntwo\nthree\n'] },
    { a: ['x', 'one\n2\n\nthree\n'] },
    { '/a/1': { before: ['one\ntwo\nthree\n'], after: ['one\n2\n\nthree\n'] } },
  ],
  [
    'lines of a text, where others stay texts of lines',
    { a: ['one\ntwo\nthree\n'] },
    { a: ['one\n2\n\nthree\n'] },
    { '/a/0/1': { before: 'two', after: '2\n' } },
  ],
  ['a line that is empty', 'a\nb', 'a\n\nb', { '/1': { after: '' } }],
  ['a text that gets lines', 'a', 'a\nb', { '': { before: 'a', after: 'a\nb' } }],
]

describe('changes', () => {
  it.each(CASES)('%s: are found, and applied', (_what, before, after, changes) => {
    expect(Object.entries(findChanges(before, after))).toStrictEqual(Object.entries(changes))
    expect(applyChanges(before, changes)).toStrictEqual(after)
  })

  it.each([
    ['another value', { a: 1 }, { '/a': { before: 2, after: 3 } }],
    ['a map that has the key', { a: 1 }, { '/a': { after: 3 } }],
    ['a map without the key', {}, { '/a': { before: 1 } }],
    ['a text instead of a map', { a: 'b' }, { '/a/b': { after: 1 } }],
    ['a list of other elements', [1, 2], { '/1': { before: [1] } }],
    ['a text of other lines', 'a\nb', { '/1': { before: 'c' } }],
    ['a list without the name', [{ name: 'a' }], { '/b/x': { before: 1 } }],
  ])('are refused by %s', (_what, value, changes: Changes) => {
    expect(() => applyChanges(value, changes)).toThrow(/^(there is|nothing can change)/)
  })

  it('make any value of any other', () => {
    const name = fc.constantFrom('a', 'b', 'c', '0', 'a/b', '')
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(null, true, 0, 1, '', 'a', '--a=1', '--a=2', '--b', '--c=1', '0'),
        fc.array(fc.constantFrom('a', 'b', ''), { maxLength: 5 }).map((lines) => lines.join('\n')),
        fc.array(fc.constantFrom('--a=1', '--a=2', '--b', '--c', '--d'), { maxLength: 5 }),
        fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
        fc.array(fc.record({ name, a: tie('value') }, { noNullPrototype: true }), { maxLength: 4 }),
        fc.array(tie('value'), { maxLength: 4 }),
      ),
    }))
    fc.assert(
      fc.property(value, value, (before, after) => {
        expect(applyChanges(before, findChanges(before, after))).toStrictEqual(after)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('sorted keys', () => {
  it('are in order at every depth; lists stay as they are', () => {
    const sorted = sortKeys({ b: [{ d: 1, c: 2 }, 1], a: null })
    expect(JSON.stringify(sorted)).toBe('{"a":null,"b":[{"c":2,"d":1},1]}')
  })
})
