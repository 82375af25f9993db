import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { Value } from '../../../../../language/expression/value.ts'
import { cbor } from '../../../../../dataplane/wamp/transport/serializers/cbor.ts'
import {
  readCbor,
  readCborHead,
} from '../../../../../dataplane/wamp/transport/serializers/read-cbor.ts'
import { ValueMeter } from '../../../../../dataplane/memory/value-meter.ts'
import { MessageError } from '../../../../../dataplane/wamp/protocol/message-error.ts'
import { DecodeError } from '../../../../../dataplane/decode-error.ts'

const bytesOf = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex')

const read = (hex: string) => readCbor(bytesOf(hex), 512, new ValueMeter())

const errorOf = (hex: string): MessageError => {
  try {
    cbor.decode(bytesOf(hex))
  } catch (error) {
    if (error instanceof MessageError) return error
    throw error
  }
  throw new Error('it was decoded')
}

describe('reading CBOR', () => {
  // RFC 8949, appendix A, as far as there are values for it.
  it.each<[string, Value]>([
    ['00', 0],
    ['17', 23],
    ['1818', 24],
    ['1903e8', 1000],
    ['1a000f4240', 1_000_000],
    ['1b000000e8d4a51000', 1_000_000_000_000],
    ['1bffffffffffffffff', 2 ** 64],
    ['c249010000000000000000', 2 ** 64],
    ['3bffffffffffffffff', -(2 ** 64)],
    ['c349010000000000000000', -(2 ** 64) - 1],
    ['20', -1],
    ['3863', -100],
    ['3903e7', -1000],
    ['f90000', 0],
    ['f98000', -0],
    ['f93c00', 1],
    ['fb3ff199999999999a', 1.1],
    ['f93e00', 1.5],
    ['f97bff', 65_504],
    ['fa47c35000', 100_000],
    ['fa7f7fffff', 3.4028234663852886e38],
    ['fb7e37e43c8800759c', 1e300],
    ['f90001', 5.960464477539063e-8],
    ['f90400', 0.00006103515625],
    ['f9c400', -4],
    ['f4', false],
    ['f5', true],
    ['f6', null],
    ['f7', null],
    ['40', Uint8Array.of()],
    ['4401020304', Uint8Array.of(1, 2, 3, 4)],
    ['60', ''],
    ['6449455446', 'IETF'],
    ['62225c', '"\\'],
    ['62c3bc', 'ü'],
    ['64f0908591', '𐅑'],
    ['63efbfbd', '\uFFFD'],
    ['80', []],
    ['8301820203820405', [1, [2, 3], [4, 5]]],
    [
      '98190102030405060708090a0b0c0d0e0f101112131415161718181819',
      Array.from({ length: 25 }, (_, index) => index + 1),
    ],
    ['a0', {}],
    ['a26161016162820203', { a: 1, b: [2, 3] }],
    ['a2616101616102', { a: 2 }],
    ['5f42010243030405ff', Uint8Array.of(1, 2, 3, 4, 5)],
    ['5fff', Uint8Array.of()],
    ['7f657374726561646d696e67ff', 'streaming'],
    ['9fff', []],
    ['9f018202039f0405ffff', [1, [2, 3], [4, 5]]],
    ['bf61610161629f0203ffff', { a: 1, b: [2, 3] }],
    ['bf6346756ef563416d7421ff', { Fun: true, Amt: -2 }],
    ['a17f61616162ff01', { ab: 1 }],
    ['5900010a', Uint8Array.of(10)],
    ['7a0000000161', 'a'],
    ['9b000000000000000101', [1]],
  ])('%s', (hex, value) => {
    expect(read(hex)).toEqual(value)
  })

  it.each([
    ['nothing', '', 'ends within'],
    ['more than one value', '0102', 'something follows'],
    ['a cut number', '1903', 'ends within'],
    ['a cut half float', 'f9 00', 'ends within'],
    ['a cut float', 'fb 0000', 'ends within'],
    ['a cut text', '65 6161', 'ends within'],
    ['an endless list', '9f 01', 'ends within'],
    ['an endless text', '7f 6161', 'ends within'],
    ['a list of 2^64', '9b ffffffffffffffff', 'ends within'],
    ['a map of 4 G', 'ba ffffffff', 'ends within'],
    ['bytes of 4 GiB', '5a ffffffff', 'ends within'],
    ['a text of 2^64', '7b ffffffffffffffff', 'ends within'],
    ['a chunk of 4 GiB', '5f 5a ffffffff', 'ends within'],
    ['a chunk of another type', '5f 6161 ff', 'another type'],
    ['a chunk without end', '5f 5f ff ff', 'reserved'],
    ['a break alone', 'ff', 'simple'],
    ['a break within a list', '81 ff', 'simple'],
    ['a map that breaks after a key', 'bf 6161 ff', 'simple'],
    ['a reserved length', '1c', 'reserved'],
    ['an integer without end', '1f', 'reserved'],
    ['a simple value', 'e0', 'simple'],
    ['a simple value in two bytes', 'f8 ff', 'simple'],
    ['a number as key', 'a1 01 02', 'keys must be texts'],
    ['bytes as key', 'a1 4161 02', 'keys must be texts'],
    ['a date', 'c0 6161', 'tags'],
    ['a tag without end', 'df 00', 'reserved'],
    ['a bignum of text', 'c2 6161', 'bignum'],
    ['infinity in two bytes', 'f9 7c00', 'NaN or infinite'],
    ['NaN in two bytes', 'f9 7e00', 'NaN or infinite'],
    ['infinity in four bytes', 'fa ff800000', 'NaN or infinite'],
    ['NaN in eight bytes, in a list', '81 fb 7ff8000000000000', 'NaN or infinite'],
    ['a bignum beyond doubles', `c2 5901f4 ${'ff'.repeat(500)}`, 'NaN or infinite'],
    ['no UTF-8', '62 c328', 'UTF-8'],
    ['no UTF-8 in a key', 'a1 61ff 01', 'UTF-8'],
    ['a character cut by a chunk', '7f 61c3 61bc ff', 'UTF-8'],
    ['too deep', `${'81'.repeat(600)}01`, 'too deeply'],
    ['too deep, by maps', `${'a16161'.repeat(600)}01`, 'too deeply'],
    ['too deep, by tags', 'c2'.repeat(600), 'too deeply'],
    ['hopelessly deep', '9f'.repeat(1_000_000), 'too deeply'],
  ])('%s is refused', (_, hex, message) => {
    expect(() => read(hex)).toThrow(
      expect.objectContaining({
        name: 'DecodeError',
        code: 'malformed',
        message: expect.stringContaining(message),
      }),
    )
  })

  it('keeps nothing of the bytes', () => {
    const bytes = bytesOf('43010203')
    const value = readCbor(bytes, 10, new ValueMeter())
    bytes.fill(0)
    expect(value).toEqual(Uint8Array.of(1, 2, 3))
  })

  it('a reserved word is a plain key', () => {
    const value = read('a2 695f5f70726f746f5f5f a16161 01 6b636f6e7374727563746f72 02') as object
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor'])
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  })

  it('never throws anything but a refusal', () => {
    const isSound = (bytes: Uint8Array): boolean => {
      try {
        readCbor(Buffer.from(bytes), 512, new ValueMeter())
        return true
      } catch (error) {
        return error instanceof DecodeError
      }
    }
    expect(() => {
      fc.assert(fc.property(fc.uint8Array({ maxLength: 60 }), isSound), { numRuns: 5000 })
    }).not.toThrow()
  })
})

describe('CBOR', () => {
  it.each<[Value, string]>([
    [4_294_967_296, '1b 0000000100000000'],
    [9_007_199_254_740_992, '1b 0020000000000000'],
    [-4_294_967_297, '3b 0000000100000000'],
    [1.5, 'fb 3ff8000000000000'],
    [Uint8Array.of(1, 2), '42 0102'],
    [{ a: 1 }, 'a1 6161 01'],
  ])('%p is %s', (value, hex) => {
    expect(cbor.encode([1, value])).toEqual(Buffer.concat([bytesOf('82 01'), bytesOf(hex)]))
  })

  it.each<[string, string, Value[]]>([
    ['a tag', '84 1832 07 a0 c06161', [50, 7, {}]],
    ['a number as key', '85 1832 07 a0 80 a10102', [50, 7, {}, []]],
    ['too deep', `84 1832 07 a0 ${'81'.repeat(600)}01`, [50, 7, {}]],
    ['a list without end', '9f 1832 07 a0 e0 ff', [50, 7, {}]],
    ['a cut message', '84 1832 07 a0 81', [50, 7, {}]],
    ['something behind it', '82 1832 07 01', [50, 7]],
  ])('%s: the head is read', (_, hex, head) => {
    expect(errorOf(hex).head).toEqual(head)
  })

  it.each([
    ['nothing', ''],
    ['a type alone', '82 1832 e0'],
    ['a map', 'a1 1832 e0'],
    ['a text first', '83 6132 07 e0'],
    ['a list of 4 G', '9a ffffffff'],
  ])('%s: nothing can be said of it', (_, hex) => {
    expect(errorOf(hex).head).toBeUndefined()
  })

  it('a head is read of a whole list too', () => {
    expect(readCborHead(bytesOf('82 01 a0'), 10, new ValueMeter())).toEqual([1, {}])
  })
})
