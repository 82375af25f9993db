// The runner's own msgpack is checked against known bytes and against an independent implementation.

import { describe, expect, it } from '@jest/globals'
import { decode, encode } from '@msgpack/msgpack'
import type { Json } from './json.ts'
import { decodeMsgpack, encodeMsgpack } from './msgpack.ts'

describe('there and back', () => {
  it.each<[Json, string]>([
    [null, 'c0'],
    [false, 'c2'],
    [true, 'c3'],
    [0, '00'],
    [127, '7f'],
    [128, 'ce00000080'],
    [4294967296, 'd30000000100000000'],
    [-1, 'ff'],
    [-33, 'd3ffffffffffffffdf'],
    [2.5, 'cb4004000000000000'],
    ['ž', 'a2c5be'],
    ['x'.repeat(32), `db00000020${'78'.repeat(32)}`],
    [[1, -1], '9201ff'],
    [{ a: [1, -1] }, '81a1619201ff'],
  ])('%j', (value, hex) => {
    expect(encodeMsgpack(value).toString('hex')).toBe(hex)
    expect(decodeMsgpack(Buffer.from(hex, 'hex'))).toEqual(value)
    expect(decode(encodeMsgpack(value))).toEqual(value)
  })

  it.each<[Json]>([
    [{ long: 'x'.repeat(300), list: Array.from({ length: 20 }, (_, i) => i * 40 - 100) }],
    [Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`k${i}`, i / 3]))],
    [[70000, -70000, -129, 255, 'y'.repeat(70000)]],
  ])('what another encoder writes %#', (value) => {
    expect(decodeMsgpack(Buffer.from(encode(value)))).toEqual(value)
  })
})

it.each([
  ['nothing', ''],
  ['a text cut short', 'a361'],
  ['bytes left over', '0000'],
  ['an extension type', 'd40100'],
  ['text that is no UTF-8', 'a1ff'],
])('%s is refused', (_, hex) => {
  expect(() => decodeMsgpack(Buffer.from(hex, 'hex'))).toThrow()
})
