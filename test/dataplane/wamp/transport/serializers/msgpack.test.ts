import { describe, expect, it } from '@jest/globals'
import type { Value } from '../../../../../language/expression/value.ts'
import { readMsgpackHead } from '../../../../../dataplane/codec/read-msgpack.ts'
import { msgpack } from '../../../../../dataplane/wamp/transport/serializers/msgpack.ts'
import { ValueMeter } from '../../../../../dataplane/memory/value-meter.ts'
import { MessageError } from '../../../../../dataplane/wamp/protocol/message-error.ts'

const bytesOf = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex')

const errorOf = (hex: string): MessageError => {
  try {
    msgpack.decode(bytesOf(hex))
  } catch (error) {
    if (error instanceof MessageError) return error
    throw error
  }
  throw new Error('it was decoded')
}

describe('msgpack', () => {
  it.each<[Value, string]>([
    // Integers all, so that routers know an id when they see one.
    [4_294_967_296, 'd3 0000000100000000'],
    [9_007_199_254_740_992, 'd3 0020000000000000'],
    [-2_147_483_649, 'd3 ffffffff7fffffff'],
    [2 ** 54, 'cb 4350000000000000'],
    [1.5, 'cb 3ff8000000000000'],
    [Uint8Array.of(1, 2), 'c4 02 0102'],
    [{ a: 1 }, '81 a161 01'],
  ])('%p is %s', (value, hex) => {
    expect(msgpack.encode([1, value])).toEqual(Buffer.concat([bytesOf('92 01'), bytesOf(hex)]))
  })

  it.each<[string, string, Value[]]>([
    ['an extension type', '94 32 07 80 d6ff00000001', [50, 7, {}]],
    ['an extension type within', '95 32 07 80 92 01 d40000 80', [50, 7, {}]],
    ['a number as key', '95 32 07 80 90 81 0102', [50, 7, {}, []]],
    ['no UTF-8', '94 32 07 80 91 a2c328', [50, 7, {}]],
    ['too deep', `94 32 07 80 ${'91'.repeat(600)} 01`, [50, 7, {}]],
    ['a cut message', '94 32 07 80 92 01', [50, 7, {}]],
    ['something behind it', '92 32 07 01', [50, 7]],
    ['array 16', 'dc0003 32 07 c1', [50, 7]],
    ['array 32', 'dd00000003 32 07 c1', [50, 7]],
  ])('%s: the head is read', (_, hex, head) => {
    expect(errorOf(hex).head).toEqual(head)
  })

  it.each([
    ['nothing', ''],
    ['a type alone', '92 32 c1'],
    ['a map', '81 32 c1'],
    ['a text first', '93 a132 07 c1'],
    ['a list of 4 G', 'dd ffffffff'],
  ])('%s: nothing can be said of it', (_, hex) => {
    expect(errorOf(hex).head).toBeUndefined()
  })

  it('a head is read of a whole list too', () => {
    expect(readMsgpackHead(bytesOf('92 01 80'), 10, new ValueMeter())).toEqual([1, {}])
  })
})
