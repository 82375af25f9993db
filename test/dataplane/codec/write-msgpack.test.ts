import { decode } from '@msgpack/msgpack'
import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { readMsgpack } from '../../../dataplane/codec/read-msgpack.ts'
import { ValueMeter } from '../../../dataplane/memory/value-meter.ts'
import { writeMsgpack } from '../../../dataplane/codec/write-msgpack.ts'
import { ExpressionError } from '../../../language/expression/errors.ts'
import type { Value } from '../../../language/expression/value.ts'
import { anyValue } from '../../support/any-value.ts'

const hexOf = (value: unknown): string => writeMsgpack(value).toString('hex')
const plain = (hex: string): string => hex.replaceAll(' ', '')
const utf8Hex = (text: string): string => Buffer.from(text).toString('hex')

const nested = (depth: number, wrap: (value: unknown) => unknown): unknown => {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = wrap(value)
  return value
}

it('a value that names another one many times is written to a bounded number of bytes', () => {
  const text = 'x'.repeat(2 ** 20)
  const many = (count: number) => Array.from({ length: count }, () => text)
  expect(writeMsgpack(many(31)).length).toBeGreaterThan(31 * 2 ** 20)
  expect(() => writeMsgpack(many(200))).toThrow(ExpressionError)
})

describe('values and their bytes (msgpack specification, Formats)', () => {
  it.each<[unknown, string]>([
    [null, 'c0'],
    [false, 'c2'],
    [true, 'c3'],
    [0, '00'],
    [-0, '00'],
    [1, '01'],
    [127, '7f'],
    [128, 'cc 80'],
    [255, 'cc ff'],
    [256, 'cd 0100'],
    [65_535, 'cd ffff'],
    [65_536, 'ce 00010000'],
    [2_147_483_647, 'ce 7fffffff'],
    [2_147_483_648, 'ce 80000000'],
    [4_294_967_295, 'ce ffffffff'],
    [-1, 'ff'],
    [-32, 'e0'],
    [-33, 'd0 df'],
    [-128, 'd0 80'],
    [-129, 'd1 ff7f'],
    [-32_768, 'd1 8000'],
    [-32_769, 'd2 ffff7fff'],
    [-2_147_483_648, 'd2 80000000'],
  ])('%p is %s', (value, hex) => {
    expect(hexOf(value)).toBe(plain(hex))
  })

  it.each<[number, string]>([
    [9_007_199_254_740_994, '4340000000000001'],
    [-9_007_199_254_740_994, 'c340000000000001'],
    [1e21, '444b1ae4d6e2ef50'],
    [4_294_967_296.5, '41f0000000080000'],
    [0.5, '3fe0000000000000'],
    [1.1, '3ff199999999999a'],
    [-4.1, 'c010666666666666'],
    [5e-324, '0000000000000001'],
    [1.797_693_134_862_315_7e308, '7fefffffffffffff'],
    [Infinity, '7ff0000000000000'],
    [-Infinity, 'fff0000000000000'],
    [NaN, '7ff8000000000000'],
  ])('the number %p is a double', (value, hex) => {
    expect(hexOf(value)).toBe(`cb${hex}`)
  })

  it.each<[number, string]>([
    [4_294_967_296, '0000000100000000'],
    [-2_147_483_649, 'ffffffff7fffffff'],
    [1_700_000_000_000, '0000018bcfe56800'],
    [9_007_199_254_740_991, '001fffffffffffff'],
    [9_007_199_254_740_992, '0020000000000000'],
    [-9_007_199_254_740_992, 'ffe0000000000000'],
  ])('%p is an integer of 64 bits, wherever it stands', (value, hex) => {
    expect(hexOf(value)).toBe(`d3${hex}`)
    expect(hexOf([value])).toBe(`91d3${hex}`)
    expect(hexOf({ a: { b: value } })).toBe(`81a16181a162d3${hex}`)
  })

  it.each<[string, number, string]>([
    ['a', 0, 'a0'],
    ['a', 1, 'a1'],
    ['a', 31, 'bf'],
    ['a', 32, 'd9 20'],
    ['a', 47, 'd9 2f'],
    ['a', 48, 'd9 30'],
    ['a', 255, 'd9 ff'],
    ['a', 256, 'da 0100'],
    ['a', 4095, 'da 0fff'],
    ['a', 4096, 'da 1000'],
    ['a', 65_535, 'da ffff'],
    ['a', 65_536, 'db 00010000'],
    ['\u0000', 1, 'a1'],
    ['\u007F', 31, 'bf'],
    ['\u0080', 15, 'be'],
    ['é', 16, 'd9 20'],
    ['é', 31, 'd9 3e'],
    ['\u07FF', 127, 'd9 fe'],
    ['é', 128, 'da 0100'],
    ['é', 32_767, 'da fffe'],
    ['é', 32_768, 'db 00010000'],
    ['\u0800', 10, 'be'],
    ['€', 11, 'd9 21'],
    ['\uFFFF', 85, 'd9 ff'],
    ['€', 86, 'da 0102'],
    ['€', 21_845, 'da ffff'],
    ['€', 21_846, 'db 00010002'],
    ['😀', 7, 'bc'],
    ['😀', 8, 'd9 20'],
    ['😀', 63, 'd9 fc'],
    ['😀', 64, 'da 0100'],
    ['😀', 16_384, 'db 00010000'],
    ['aé€😀', 3, 'be'],
    ['aé€😀', 7000, 'db 00011170'],
  ])('%j, %d times, begins with %s', (unit, count, head) => {
    const text = unit.repeat(count)
    expect(hexOf(text)).toBe(plain(head) + utf8Hex(text))
    expect(hexOf({ [text]: [text, 1] })).toBe(
      `81${plain(head)}${utf8Hex(text)}92${plain(head)}${utf8Hex(text)}01`,
    )
  })

  it.each<[number, string]>([
    [0, 'c4 00'],
    [1, 'c4 01'],
    [255, 'c4 ff'],
    [256, 'c5 0100'],
    [65_535, 'c5 ffff'],
    [65_536, 'c6 00010000'],
  ])('%d bytes begin with %s', (length, head) => {
    const bytes = new Uint8Array(length).fill(7)
    expect(hexOf(bytes)).toBe(plain(head) + '07'.repeat(length))
    expect(hexOf([Buffer.from(bytes), null])).toBe(`92${plain(head)}${'07'.repeat(length)}c0`)
  })

  it('a part of a buffer is that part', () => {
    expect(hexOf(Buffer.from('abcd').subarray(1, 3))).toBe('c4026263')
  })

  it.each<[number, string]>([
    [0, '90'],
    [15, '9f'],
    [16, 'dc 0010'],
    [65_535, 'dc ffff'],
    [65_536, 'dd 00010000'],
  ])('a list of %d begins with %s', (length, head) => {
    expect(hexOf(new Array(length).fill(false))).toBe(plain(head) + 'c2'.repeat(length))
  })

  it.each<[number, string]>([
    [0, '80'],
    [15, '8f'],
    [16, 'de 0010'],
    [65_535, 'de ffff'],
    [65_536, 'df 00010000'],
  ])('a map of %d begins with %s', (size, head) => {
    const keys = Array.from({ length: size }, (_, index) => `k${100_000 + index}`)
    const map = Object.fromEntries(keys.map((key) => [key, null]))
    const members = keys.map((key) => `a7${utf8Hex(key)}c0`).join('')
    expect(hexOf(map)).toBe(plain(head) + members)
  })

  it('keys stay in order, reserved words among them', () => {
    const map: unknown = JSON.parse('{"b":1,"__proto__":2,"a":3,"constructor":4,"toJSON":5}')
    expect(hexOf(map)).toBe(
      plain(
        `85 a1 ${utf8Hex('b')} 01 a9 ${utf8Hex('__proto__')} 02 a1 ${utf8Hex('a')} 03
         ab ${utf8Hex('constructor')} 04 a6 ${utf8Hex('toJSON')} 05`.replaceAll('\n', ''),
      ),
    )
  })

  it('a map without prototype is a map', () => {
    expect(hexOf(Object.assign(Object.create(null) as object, { a: 1 }))).toBe('81a16101')
  })

  it.each([512, 1024])('nesting of %d is written', (depth) => {
    expect(hexOf(nested(depth, (value) => [value]))).toBe(`${'91'.repeat(depth)}01`)
    expect(hexOf(nested(depth, (a) => ({ a })))).toBe(`${'81a161'.repeat(depth)}01`)
  })
})

describe('what is no value of the language', () => {
  it.each<[string, unknown, string]>([
    ['alone is null', undefined, 'c0'],
    ['in a list is null', [undefined, 1], '92 c0 01'],
    ['in a hole of a list is null', Object.assign(new Array<number>(2), { 1: 1 }), '92 c0 01'],
    ['in a map is left out', { a: undefined, b: 1, c: undefined }, '81 a162 01'],
    ['in all of a map leaves an empty one', { a: undefined }, '80'],
    [
      'in inner and outer maps is left out',
      { a: { b: undefined, c: 1 }, d: undefined },
      '81 a161 81 a163 01',
    ],
  ])('undefined %s', (_, value, hex) => {
    expect(hexOf(value)).toBe(plain(hex))
  })

  it('undefined is left out of a map whose count gets shorter by it', () => {
    const members = Array.from({ length: 15 }, (_, index) => [`${index + 10}`, index])
    const map: unknown = Object.fromEntries([...members, ['none', undefined]])
    expect(hexOf(map)).toBe(hexOf(Object.fromEntries(members)))
  })

  it.each<[string, string, string]>([
    ['in a text', 'a\uD800b', 'a5 61 efbfbd 62'],
    ['at its end', 'ab\uDBFF', 'a5 6162 efbfbd'],
    ['the second half', '\uDC00a', 'a4 efbfbd 61'],
    ['beside a whole pair', '\uD83D\uD83D\uDE00', 'a7 efbfbd f09f9880'],
    ['in a longer text', `${'a'.repeat(60)}\uD800`, `d9 3f ${'61'.repeat(60)} efbfbd`],
    ['in a huge text', `${'a'.repeat(5000)}\uD800`, `da 138b ${'61'.repeat(5000)} efbfbd`],
  ])('half a surrogate pair %s is U+FFFD', (_, text, hex) => {
    expect(hexOf(text)).toBe(plain(hex))
  })

  it.each<[string, unknown, string]>([
    ['a function', { a: () => 1 }, 'TypeError'],
    ['a symbol', [Symbol('a')], 'TypeError'],
    ['a BigInt', 1n, 'TypeError'],
  ])('%s is refused', (_, value, name) => {
    expect(() => writeMsgpack(value)).toThrow(expect.objectContaining({ name }))
  })
})

describe('any value', () => {
  it('is given back by the strict reader', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        expect(readMsgpack(writeMsgpack(value), 512, new ValueMeter())).toEqual(value)
      }),
      { numRuns: 500 },
    )
  })

  it('is read alike by an independent implementation', () => {
    const hasNoProto = (value: Value): boolean => !JSON.stringify(value).includes('__proto__')
    fc.assert(
      // It refuses that key.
      fc.property(anyValue.filter(hasNoProto), (value) => {
        expect(decode(new Uint8Array(writeMsgpack(value)))).toEqual(value)
      }),
      { numRuns: 500 },
    )
  })
})
