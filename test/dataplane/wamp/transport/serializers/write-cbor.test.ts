import { describe, expect, it } from '@jest/globals'
import { decode } from 'cborg'
import fc from 'fast-check'
import { readCbor } from '../../../../../dataplane/wamp/transport/serializers/read-cbor.ts'
import { ValueMeter } from '../../../../../dataplane/memory/value-meter.ts'
import { writeCbor } from '../../../../../dataplane/wamp/transport/serializers/write-cbor.ts'
import { anyValue } from '../../../../support/any-value.ts'

const hexOf = (value: unknown): string => writeCbor(value).toString('hex')
const plain = (hex: string): string => hex.replaceAll(' ', '')
const utf8Hex = (text: string): string => Buffer.from(text).toString('hex')

const nested = (depth: number, wrap: (value: unknown) => unknown): unknown => {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = wrap(value)
  return value
}

describe('values and their bytes', () => {
  // RFC 8949, appendix A, but for floats shorter than 64 bits, tags and indefinite lengths.
  it.each<[unknown, string]>([
    [0, '00'],
    [1, '01'],
    [10, '0a'],
    [23, '17'],
    [24, '1818'],
    [25, '1819'],
    [100, '1864'],
    [1000, '1903e8'],
    [1_000_000, '1a000f4240'],
    [1_000_000_000_000n, '1b000000e8d4a51000'],
    [18_446_744_073_709_551_615n, '1bffffffffffffffff'],
    [-18_446_744_073_709_551_616n, '3bffffffffffffffff'],
    [-1, '20'],
    [-10, '29'],
    [-100, '3863'],
    [-1000, '3903e7'],
    [1.1, 'fb3ff199999999999a'],
    [1e300, 'fb7e37e43c8800759c'],
    [-4.1, 'fbc010666666666666'],
    [Infinity, 'fb7ff0000000000000'],
    [NaN, 'fb7ff8000000000000'],
    [-Infinity, 'fbfff0000000000000'],
    [false, 'f4'],
    [true, 'f5'],
    [null, 'f6'],
    [Uint8Array.of(), '40'],
    [Uint8Array.of(1, 2, 3, 4), '4401020304'],
    ['', '60'],
    ['a', '6161'],
    ['IETF', '6449455446'],
    ['"\\', '62225c'],
    ['ü', '62c3bc'],
    ['水', '63e6b0b4'],
    ['𐅑', '64f0908591'],
    [[], '80'],
    [[1, 2, 3], '83010203'],
    [[1, [2, 3], [4, 5]], '8301820203820405'],
    [
      Array.from({ length: 25 }, (_, index) => index + 1),
      '98190102030405060708090a0b0c0d0e0f101112131415161718181819',
    ],
    [{}, 'a0'],
    [{ a: 1, b: [2, 3] }, 'a26161016162820203'],
    [['a', { b: 'c' }], '826161a161626163'],
    [{ a: 'A', b: 'B', c: 'C', d: 'D', e: 'E' }, 'a56161614161626142616361436164614461656145'],
  ])('%p is %s', (value, hex) => {
    expect(hexOf(value)).toBe(hex)
  })

  it.each<[unknown, string]>([
    [-0, '00'],
    [255, '18ff'],
    [256, '190100'],
    [65_535, '19ffff'],
    [65_536, '1a00010000'],
    [2_147_483_647, '1a7fffffff'],
    [2_147_483_648, '1a80000000'],
    [4_294_967_295, '1affffffff'],
    [-24, '37'],
    [-25, '3818'],
    [-256, '38ff'],
    [-257, '390100'],
    [-65_536, '39ffff'],
    [-65_537, '3a00010000'],
    [-2_147_483_648, '3a7fffffff'],
    [-4_294_967_296, '3affffffff'],
    [4_294_967_296, 'fb41f0000000000000'],
    [-4_294_967_297, 'fbc1f0000000100000'],
    [0.5, 'fb3fe0000000000000'],
    [5e-324, 'fb0000000000000001'],
    [0n, '1b0000000000000000'],
    [-1n, '3b0000000000000000'],
    [9_007_199_254_740_992n, '1b0020000000000000'],
    [-9_007_199_254_740_992n, '3b001fffffffffffff'],
  ])('at the bounds, %p is %s', (value, hex) => {
    expect(hexOf([value])).toBe(`81${hex}`)
  })

  it.each<[string, number, string]>([
    ['a', 23, '77'],
    ['a', 24, '7818'],
    ['a', 47, '782f'],
    ['a', 48, '7830'],
    ['a', 255, '78ff'],
    ['a', 256, '790100'],
    ['a', 4095, '790fff'],
    ['a', 4096, '791000'],
    ['a', 65_535, '79ffff'],
    ['a', 65_536, '7a00010000'],
    ['\u0080', 11, '76'],
    ['é', 12, '7818'],
    ['\u07FF', 127, '78fe'],
    ['é', 128, '790100'],
    ['é', 32_767, '79fffe'],
    ['é', 32_768, '7a00010000'],
    ['\u0800', 7, '75'],
    ['€', 8, '7818'],
    ['\uFFFF', 85, '78ff'],
    ['€', 86, '790102'],
    ['€', 21_845, '79ffff'],
    ['€', 21_846, '7a00010002'],
    ['😀', 5, '74'],
    ['😀', 6, '7818'],
    ['😀', 64, '790100'],
    ['😀', 16_384, '7a00010000'],
  ])('%j, %d times, begins with %s', (unit, count, head) => {
    const text = unit.repeat(count)
    expect(hexOf(text)).toBe(head + utf8Hex(text))
    expect(hexOf({ [text]: [text, 1] })).toBe(
      `a1${head}${utf8Hex(text)}82${head}${utf8Hex(text)}01`,
    )
  })

  it.each<[number, string]>([
    [23, '57'],
    [24, '5818'],
    [255, '58ff'],
    [256, '590100'],
    [65_535, '59ffff'],
    [65_536, '5a00010000'],
  ])('%d bytes begin with %s', (length, head) => {
    const bytes = new Uint8Array(length).fill(7)
    expect(hexOf(bytes)).toBe(head + '07'.repeat(length))
    expect(hexOf([Buffer.from(bytes), null])).toBe(`82${head}${'07'.repeat(length)}f6`)
  })

  it('a part of a buffer is that part', () => {
    expect(hexOf(Buffer.from('abcd').subarray(1, 3))).toBe('426263')
  })

  it.each<[number, string]>([
    [23, '97'],
    [24, '9818'],
    [255, '98ff'],
    [256, '990100'],
    [65_535, '99ffff'],
    [65_536, '9a00010000'],
  ])('a list of %d begins with %s', (length, head) => {
    expect(hexOf(new Array(length).fill(false))).toBe(head + 'f4'.repeat(length))
  })

  it.each<[number, string]>([
    [23, 'b7'],
    [24, 'b818'],
    [255, 'b8ff'],
    [256, 'b90100'],
    [65_535, 'b9ffff'],
    [65_536, 'ba00010000'],
  ])('a map of %d begins with %s', (size, head) => {
    const keys = Array.from({ length: size }, (_, index) => `k${100_000 + index}`)
    const map = Object.fromEntries(keys.map((key) => [key, null]))
    expect(hexOf(map)).toBe(head + keys.map((key) => `67${utf8Hex(key)}f6`).join(''))
  })

  it('keys stay in order, reserved words among them', () => {
    const map: unknown = JSON.parse('{"b":1,"__proto__":2,"a":3,"constructor":4,"toJSON":5}')
    const members = [
      ['61', 'b', '01'],
      ['69', '__proto__', '02'],
      ['61', 'a', '03'],
      ['6b', 'constructor', '04'],
      ['66', 'toJSON', '05'],
    ] as const
    expect(hexOf(map)).toBe(
      `a5${members.map(([head, key, value]) => head + utf8Hex(key) + value).join('')}`,
    )
  })

  it('a map without prototype is a map', () => {
    expect(hexOf(Object.assign(Object.create(null) as object, { a: 1 }))).toBe('a1616101')
  })

  it.each([512, 1024])('nesting of %d is written', (depth) => {
    expect(hexOf(nested(depth, (value) => [value]))).toBe(`${'81'.repeat(depth)}01`)
    expect(hexOf(nested(depth, (a) => ({ a })))).toBe(`${'a16161'.repeat(depth)}01`)
  })
})

describe('what is no value of the language', () => {
  it.each<[string, unknown, string]>([
    ['alone is null', undefined, 'f6'],
    ['in a list is null', [undefined, 1], '82 f6 01'],
    ['in a map is left out', { a: undefined, b: 1, c: undefined }, 'a1 6162 01'],
    [
      'in inner and outer maps is left out',
      { a: { b: undefined, c: 1 }, d: undefined },
      'a1 6161 a1 6163 01',
    ],
  ])('undefined %s', (_, value, hex) => {
    expect(hexOf(value)).toBe(plain(hex))
  })

  it('undefined is left out of a map whose count gets shorter by it', () => {
    const members = Array.from({ length: 23 }, (_, index) => [`${index + 10}`, index])
    const map: unknown = Object.fromEntries([...members, ['none', undefined]])
    expect(hexOf(map)).toBe(hexOf(Object.fromEntries(members)))
  })

  it('half a surrogate pair is U+FFFD', () => {
    expect(hexOf('a\uD800b')).toBe('6561efbfbd62')
  })

  it.each<[string, unknown, string]>([
    ['a function', { a: () => 1 }, 'TypeError'],
    ['a symbol', [Symbol('a')], 'TypeError'],
    ['a BigInt of more than 64 bits', 2n ** 64n, 'RangeError'],
    ['a lower BigInt', -(2n ** 64n) - 1n, 'RangeError'],
  ])('%s is refused', (_, value, name) => {
    expect(() => writeCbor(value)).toThrow(expect.objectContaining({ name }))
  })
})

describe('any value', () => {
  it('is given back by the strict reader', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        expect(readCbor(writeCbor(value), 512, new ValueMeter())).toEqual(value)
      }),
      { numRuns: 500 },
    )
  })

  it('is read alike by an independent implementation', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        expect(decode(writeCbor(value))).toEqual(value)
      }),
      { numRuns: 500 },
    )
  })
})
