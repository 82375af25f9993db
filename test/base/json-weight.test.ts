import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  countInSteps,
  countMarks,
  findExcess,
  type JsonMarks,
  NO_MARKS,
} from '../../base/json-weight.ts'

/** What a regular expression counts, string by string; `next` is left to the table. */
const marksOf = (text: string): Omit<JsonMarks, 'next'> => {
  const marks = text.replace(/"(?:\\[^]|[^"\\])*(?:"|\\?$)/g, '').replace(/[^[{}\],:]/g, '')
  const depths = [0]
  for (const mark of marks.replace(/[,:]/g, ''))
    depths.push((depths.at(-1) ?? 0) + (mark === '[' || mark === '{' ? 1 : -1))
  return {
    containers: marks.replace(/[^[{]/g, '').length,
    commas: marks.replace(/[^,]/g, '').length,
    colons: marks.replace(/[^:]/g, '').length,
    depth: depths.at(-1) ?? 0,
    deepest: Math.max(...depths),
  }
}

const countChunks = (chunks: readonly Uint8Array[]): JsonMarks =>
  chunks.reduce<JsonMarks>(countMarks, NO_MARKS)

/** The bytes as chunks that end at each of `ends`, which may be beyond the end or twice the same. */
const cut = (bytes: Uint8Array, ends: readonly number[]): readonly Uint8Array[] => {
  const sorted = ends.toSorted((a, b) => a - b)
  return [0, ...sorted].map((start, index) => bytes.subarray(start, sorted[index]))
}

const LONG = 'x'.repeat(100)

describe('the marks of JSON text', () => {
  it.each<[string, string, Partial<JsonMarks>]>([
    ['nothing', '', {}],
    ['a number', '12', {}],
    ['lists', '[[1,2],[],3]', { containers: 3, commas: 3, deepest: 2 }],
    ['maps', '{"a":{},"b":1}', { containers: 2, commas: 1, colons: 2, deepest: 2 }],
    ['what is open', '[{"a":[', { containers: 3, colons: 1, depth: 3, deepest: 3 }],
    ['too much that is closed', ']}][', { containers: 1, depth: -2 }],
    ['marks in a string', '"[{,:]}"', {}],
    ['marks in a long string', `"${LONG}[{,:]}"`, {}],
    [
      'behind an escaped quote',
      String.raw`"\"[", [`,
      { containers: 1, commas: 1, depth: 1, deepest: 1 },
    ],
    [
      'behind an escaped quote of a long string',
      String.raw`"${LONG}\"[${LONG}\"[",`,
      { commas: 1 },
    ],
    ['behind an escaped backslash', String.raw`"\\",`, { commas: 1 }],
    ['behind an escaped backslash of a long string', String.raw`"${LONG}\\",`, { commas: 1 }],
    ['behind many backslashes', `"${'\\\\'.repeat(20)}",`, { commas: 1 }],
    ['a string that is open', '"[', { next: 'string' }],
    ['a long string that is open', `"${LONG}[`, { next: 'string' }],
    ['an open string with a backslash at its end', '"a\\\\\\', { next: 'escaped' }],
    ['a long one with a backslash at its end', `"${LONG}\\\\\\`, { next: 'escaped' }],
    ['a long one with two', `"${LONG}\\\\`, { next: 'string' }],
    ['a backslash outside of strings', String.raw`\"["[`, { containers: 1, depth: 1, deepest: 1 }],
  ])('%s, in one chunk, in two and byte by byte', (_name, text, expected) => {
    const bytes = Buffer.from(text)
    const places = [...bytes.keys()]
    for (const ends of [[], ...places.map((place) => [place]), places])
      expect(countChunks(cut(bytes, ends))).toEqual({ ...NO_MARKS, ...expected })
  })

  it('are the same wherever chunks end', () => {
    const marks = ['"', '\\', '[', ']', '{', '}', ',', ':']
    const longer = ['ů', '\\"', 'x'.repeat(20), LONG, '\\'.repeat(21)]
    const unit = fc.constantFrom(...marks, ...longer)
    const ends = fc.array(fc.nat({ max: 500 }), { maxLength: 20 })
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 60 }), ends, (text, someEnds) => {
        const bytes = Buffer.from(text)
        const counted = countMarks(NO_MARKS, bytes)
        expect(counted).toMatchObject(marksOf(text))
        expect(countChunks(cut(bytes, someEnds))).toEqual(counted)
      }),
    )
  })

  it('are counted in steps of 64 KiB', () => {
    const counts = [...countInSteps(Buffer.alloc(150_000, '['))]
    expect(counts.map(({ deepest }) => deepest)).toEqual([65_536, 131_072, 150_000])
  })
})

const excess = (text: string, maxDepth: number, maxValues: number) =>
  findExcess(Buffer.from(text), { maxDepth, maxValues })

describe('what JSON stands for, before it is parsed', () => {
  it.each<[string, number, number, ReturnType<typeof findExcess>]>([
    ['', 0, 1, undefined],
    ['1', 0, 1, undefined],
    ['1,', 0, 1, 'values'],
    ['[]', 0, 9, 'depth'],
    ['[[{}]]', 3, 9, undefined],
    ['[[{}]]', 2, 9, 'depth'],
    ['[{},{},{}]', 2, 9, undefined],
    ['[1,2,3,4]', 1, 5, undefined],
    ['[1,2,3,4]', 1, 4, 'values'],
    ['{"a":{},"b":[]}', 2, 5, undefined],
    ['{"a":{},"b":[]}', 2, 4, 'values'],
    ['"[[[[,,,,"', 0, 1, undefined],
    ['"\\"[[[[,,,"', 0, 1, undefined],
    ['["\\\\",[[[]]]]', 3, 99, 'depth'],
    ['"never closed [[[', 0, 1, undefined],
    [']]]][', 0, 9, undefined],
    ['\ufeff[[', 1, 9, 'depth'],
  ])('%s, %d deep, %d values: %s', (text, maxDepth, maxValues, expected) => {
    expect(excess(text, maxDepth, maxValues)).toBe(expected)
  })

  it('a lot of backslashes takes no longer than their number', () => {
    expect(excess(`["${'\\\\'.repeat(100_000)}", [[`, 2, 9)).toBe('depth')
  })

  const sizeOf = (value: unknown): { readonly depth: number; readonly values: number } => {
    if (typeof value !== 'object' || value === null) return { depth: 0, values: 1 }
    const sizes = Object.values(value).map(sizeOf)
    return {
      depth: 1 + Math.max(0, ...sizes.map(({ depth }) => depth)),
      values: 1 + sizes.reduce((sum, { values }) => sum + values, 0),
    }
  }

  it('never counts less than there is, nor more than twice as much', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.boolean(), (value, isWide) => {
        const text = JSON.stringify(value, null, isWide ? 2 : 0)
        const { depth, values } = sizeOf(JSON.parse(text))
        const half = Math.floor((values - 1) / 2)
        expect([
          excess(text, depth, 2 * values),
          depth === 0 || excess(text, depth - 1, 2 * values),
          values === 1 || excess(text, depth, half),
        ]).toEqual([undefined, depth === 0 || 'depth', values === 1 || 'values'])
      }),
    )
  })
})
