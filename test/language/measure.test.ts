import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { measure } from '../../language/measure.ts'

const MEBIBYTE = 1024 * 1024
const nested = (levels: number, inner: unknown = 'end'): unknown =>
  Array.from({ length: levels }).reduce<unknown>((held) => ({ k: held }), inner)
const faults = (document: unknown): readonly string[] =>
  measure(document).map(({ path, code }) => `${path} ${code}`)

const cycle = (): unknown => {
  const map: Record<string, unknown> = { a: [{}] }
  map['b'] = { back: map }
  return map
}
const branchingCycle = (): unknown => {
  const list: unknown[] = []
  list.push(list, list, [list])
  return list
}
/** 2^n texts out of n lists, as YAML anchors make them. */
const anchors = (levels: number, inner: unknown): unknown =>
  Array.from({ length: levels }).reduce<unknown>((held) => [held, held], inner)

describe('measure accepts', () => {
  it.each<[string, unknown]>([
    ['scalars', [1, -0, 1e300, true, false, null, '']],
    ['64 levels', nested(64)],
    ['maps without a prototype', Object.assign(Object.create(null) as object, { a: 1 })],
    ['an own __proto__', JSON.parse('{"__proto__": {"a": [1]}}')],
    ['shared parts that are no cycle', ((part) => [part, part, { part }])({ a: 1 })],
    ['a plain text over 64 KiB', { a: 'x'.repeat(100_000) }],
    ['an expression of 64 KiB', { a: `{{${'x'.repeat(65_536 - 4)}}}` }],
    ['a million texts less one level', anchors(19, 1)],
  ])('%s', (_name, document) => {
    expect(faults(document)).toEqual([])
  })
})

describe('measure rejects', () => {
  it.each<[string, unknown, ...string[]]>([
    ['undefined', undefined, ' invalid_datatype'],
    [
      'what is no JSON',
      { a: undefined, b: [1n, Symbol('s')], c: { d: () => 1 } },
      '/a invalid_datatype',
      '/b/0 invalid_datatype',
      '/b/1 invalid_datatype',
      '/c/d invalid_datatype',
    ],
    [
      'what looks like JSON',
      { a: new Date(0), b: new Map(), c: new Uint8Array(2), d: /x/, 'e/f': new URL('http://a') },
      '/a invalid_datatype',
      '/b invalid_datatype',
      '/c invalid_datatype',
      '/d invalid_datatype',
      '/e~1f invalid_datatype',
    ],
    [
      'numbers that JSON has not',
      [NaN, Infinity, -Infinity],
      '/0 invalid_datatype',
      '/1 invalid_datatype',
      '/2 invalid_datatype',
    ],
    ['a hole in a list', Array(1), '/0 invalid_datatype'],
    ['65 levels', nested(65), `${'/k'.repeat(64)} invalid_value`],
    ['100 000 levels', nested(100_000), `${'/k'.repeat(64)} invalid_value`],
    ['a cycle, where it closes', cycle(), '/b/back invalid_value'],
    [
      'a cycle of branches',
      branchingCycle(),
      '/0 invalid_value',
      '/1 invalid_value',
      '/2/0 invalid_value',
    ],
    [
      'a text of 64 KiB and one byte with an expression',
      { a: { b: `{{${'x'.repeat(65_536 - 3)}}}` } },
      '/a/b invalid_value',
    ],
    ['the same in bytes, not characters', [`{{${'ž'.repeat(33_000)}}}`], '/0 invalid_value'],
    ['a list with a length of four thousand million', Array(4_000_000_000), ' invalid_value'],
    ['what anchors blow up', anchors(62, 'lol'), ' invalid_value'],
    [
      'what anchors blow up out of nothing',
      // The text leaves a little room, so that it is soon seen that nothing has a size too.
      ['x'.repeat(4 * MEBIBYTE - 100_000), anchors(62, [])],
      ' invalid_value',
    ],
  ])('%s', (_name, document, ...expected) => {
    expect(faults(document)).toEqual(expected)
  })

  it('stops after 100 faults', () => {
    expect(measure(Array.from({ length: 500 }, () => undefined))).toHaveLength(100)
    expect(measure(anchors(40, NaN))).toHaveLength(100)
  })

  it.each(['x', '"', '\\', '\n', '\u0000', 'ž', '€', '😀'])(
    'a document of one byte more than 4 MiB, made of %j',
    (character) => {
      const room = 4 * MEBIBYTE - Buffer.byteLength(JSON.stringify({ filler: '', rest: '' }))
      const size = Buffer.byteLength(JSON.stringify(character)) - 2
      const filler = character.repeat(Math.floor(room / size))
      const document = (more: string): unknown => ({ filler, rest: 'x'.repeat(room % size) + more })
      expect(Buffer.byteLength(JSON.stringify(document('')))).toBe(4 * MEBIBYTE)
      expect(faults(document(''))).toEqual([])
      expect(faults(document('x'))).toEqual([' invalid_value'])
    },
  )

  it('counts structure as JSON text has it', () => {
    const rows = Array.from({ length: 5000 }, (_, i) => ({
      [`k${i}`]: [i, -i / 3, true, false, null, {}, []],
    }))
    const room = 4 * MEBIBYTE - Buffer.byteLength(JSON.stringify([rows, '']))
    expect(faults([rows, 'x'.repeat(room)])).toEqual([])
    expect(faults([rows, 'x'.repeat(room + 1)])).toEqual([' invalid_value'])
  })
})

describe('any JSON', () => {
  it('is accepted while it is small', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 10 }), (value) => {
        expect(measure(value)).toEqual([])
      }),
    )
  })

  it('and anything else does not make it throw', () => {
    fc.assert(
      fc.property(
        fc.anything({
          withBigInt: true,
          withDate: true,
          withMap: true,
          withNullPrototype: true,
          withTypedArray: true,
          withSparseArray: true,
        }),
        (value) => {
          expect(Array.isArray(measure(value))).toBe(true)
        },
      ),
    )
  })
})
