import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { decodeBody } from '../../../dataplane/codec/codec.ts'
import { GatewayError } from '../../../dataplane/gateway-error.ts'
import { MemoryBudget } from '../../../dataplane/memory/memory-budget.ts'
import { countJson, ValueMeter } from '../../../dataplane/memory/value-meter.ts'
import { SERIALIZERS } from '../../../dataplane/wamp/transport/serializers/by-name.ts'
import { writeMsgpack } from '../../../dataplane/codec/write-msgpack.ts'
import { isList, isMap, type Value } from '../../../language/expression/value.ts'
import { MessageError } from '../../../dataplane/wamp/protocol/message-error.ts'
import { DecodeError } from '../../../dataplane/decode-error.ts'

/** Counts without limits. */
class Counter extends ValueMeter {
  containers = 0
  values = 0

  override count(containers: number, values: number): void {
    this.containers += containers
    this.values += values
  }
}

interface Count {
  readonly containers: number
  readonly values: number
}

/** Lists and maps, and what is in them: keys and values. */
const countOf = (value: Value): Count => {
  const children = isList(value) ? value : isMap(value) ? Object.entries(value).flat() : undefined
  if (children === undefined) return { containers: 0, values: 0 }
  return children.map(countOf).reduce(
    (sum, each) => ({
      containers: sum.containers + each.containers,
      values: sum.values + each.values,
    }),
    { containers: 1, values: children.length },
  )
}

const PADDING = ' '.repeat(3000)

describe('countJson', () => {
  it('counts every list and map, and at least every value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const meter = new Counter()
        // Long enough to be counted.
        countJson(Buffer.from(PADDING + JSON.stringify(value)), meter)
        const expected = countOf(value as Value)
        expect(meter.containers).toBe(expected.containers)
        expect(meter.values).toBeGreaterThanOrEqual(expected.values)
        // An empty list or map counts as one with a value.
        expect(meter.values).toBeLessThanOrEqual(expected.values + 2 * expected.containers)
      }),
    )
  })

  it.each([
    ['brackets and commas in a text', '["[{,:", 1]', 1],
    ['an escaped quote', String.raw`["\"[[[", 1]`, 1],
    ['an escaped backslash at the end of a text', String.raw`["\\", [], []]`, 3],
    ['a text that never ends', '["[[[[', 1],
    ['what is no JSON', '[[[[', 4],
  ])('%s', (_, text, containers) => {
    const meter = new Counter()
    countJson(Buffer.from(PADDING + text), meter)
    expect(meter.containers).toBe(containers)
  })

  it('does not read to the end what is too much already', () => {
    const bytes = Buffer.alloc(20_000_000, '[')
    const meter = new Counter()
    let calls = 0
    meter.count = () => {
      if (++calls === 3) throw new DecodeError('too_many_values', '')
    }
    expect(() => {
      countJson(bytes, meter)
    }).toThrow(DecodeError)
    expect(calls).toBe(3)
  })
})

const decode = (type: string, bytes: Buffer, size = Infinity): unknown => {
  const holding = new MemoryBudget({ size, maxBodyValues: 1000 }).open()
  try {
    return decodeBody(type, bytes, holding)
  } catch (error) {
    return error instanceof GatewayError ? error.code : error
  }
}

const JSON_TYPE = 'application/json'
const MSGPACK = 'application/msgpack'
const FORM = 'application/x-www-form-urlencoded'

const listOf = (count: number, value: Value): readonly Value[] =>
  Array.from({ length: count }, () => value)

const toText = (value: Value): Buffer => Buffer.from(JSON.stringify(value) + PADDING)

describe('a body may decode to 1000 values, 100 of them lists and maps', () => {
  it.each<[string, string, Buffer, Buffer]>([
    ['JSON values', JSON_TYPE, toText(listOf(900, 1)), toText(listOf(1100, 1))],
    [
      'JSON that is decoded in pieces',
      JSON_TYPE,
      Buffer.concat([toText(listOf(900, 1)), Buffer.alloc(70_000, ' ')]),
      Buffer.concat([toText(listOf(1100, 1)), Buffer.alloc(70_000, ' ')]),
    ],
    ['JSON lists', JSON_TYPE, toText(listOf(99, [])), toText(listOf(100, []))],
    ['JSON maps', JSON_TYPE, toText(listOf(99, {})), toText(listOf(100, {}))],
    ['msgpack values', MSGPACK, writeMsgpack(listOf(999, 1)), writeMsgpack(listOf(1000, 1))],
    ['msgpack maps', MSGPACK, writeMsgpack(listOf(99, {})), writeMsgpack(listOf(100, {}))],
    [
      'msgpack bytes',
      MSGPACK,
      writeMsgpack(listOf(99, new Uint8Array(1))),
      writeMsgpack(listOf(100, new Uint8Array(1))),
    ],
    [
      'keys of a msgpack map',
      MSGPACK,
      writeMsgpack(Object.fromEntries(listOf(499, 0).map((_, index) => [`k${index}`, 1]))),
      writeMsgpack(Object.fromEntries(listOf(500, 0).map((_, index) => [`k${index}`, 1]))),
    ],
    ['a form', FORM, Buffer.from('&a'.repeat(498)), Buffer.from('&a'.repeat(500))],
  ])('%s', (_, type, most, more) => {
    expect(typeof decode(type, most)).toBe('object')
    expect(decode(type, more)).toBe('svc.error.payload_too_large')
  })

  it('a length that was only announced counts', () => {
    // A list of 2^20 elements, of which the bytes for 1001 are there.
    const bytes = Buffer.concat([Buffer.from([0xdd, 0, 0, 4, 0]), Buffer.alloc(1024, 0xc0)])
    expect(decode(MSGPACK, bytes)).toBe('svc.error.payload_too_large')
  })
})

describe('where memory is at its end', () => {
  it.each([
    [JSON_TYPE, toText(listOf(900, 1))],
    [MSGPACK, writeMsgpack(listOf(900, 1))],
    ['text/plain', Buffer.alloc(20_000, 'x')],
    [FORM, Buffer.from('&a'.repeat(400))],
  ])('%s is refused for now', (type, bytes) => {
    expect(decode(type, bytes, 30_000)).toBe('svc.error.overloaded')
  })

  it('a small body is decoded', () => {
    expect(decode(JSON_TYPE, Buffer.from('{"a":1}'), 1000)).toEqual({ a: 1 })
  })
})

describe.each(['json', 'msgpack', 'cbor'] as const)('a WAMP message in %s', (name) => {
  const serializer = SERIALIZERS[name]
  const bytesOf = (value: Value): Buffer => {
    const encoded = serializer.encode([50, 7, {}, value])
    return typeof encoded === 'string' ? Buffer.from(encoded) : Buffer.from(encoded)
  }

  it.each<[string, Value]>([
    ['lists', listOf(100_000, [])],
    ['values', listOf(1_000_000, 1)],
    ['arrays of bytes', listOf(100_000, new Uint8Array(1))],
  ])('with too many %s fails the request that it answers', (_, value) => {
    const message = bytesOf(value)
    let fault: unknown
    try {
      serializer.decode(message)
    } catch (error) {
      fault = error
    }
    expect(fault).toBeInstanceOf(MessageError)
    expect((fault as MessageError).head?.slice(0, 2)).toEqual([50, 7])
    expect((fault as MessageError).message).toMatch(/^the body has more than/)
  })
})

it('chunks of a CBOR string count too', () => {
  const chunks = Buffer.alloc(100_001, 0x40)
  const bytes = Buffer.concat([Buffer.from([0x82, 1, 0x5f]), chunks, Buffer.from([0xff])])
  expect(() => SERIALIZERS.cbor.decode(bytes)).toThrow('the body has more than 100000')
})
