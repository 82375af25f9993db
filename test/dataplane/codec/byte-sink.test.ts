// The sink is tested by the encoders that write to it: what one message leaves behind for the next one.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { ValueMeter } from '../../../dataplane/memory/value-meter.ts'
import { readMsgpack } from '../../../dataplane/codec/read-msgpack.ts'
import { readCbor } from '../../../dataplane/wamp/transport/serializers/read-cbor.ts'
import { writeCbor } from '../../../dataplane/wamp/transport/serializers/write-cbor.ts'
import { writeMsgpack } from '../../../dataplane/codec/write-msgpack.ts'
import type { Value } from '../../../language/expression/value.ts'
import { anyValue } from '../../support/any-value.ts'

const SLAB_BYTES = 65_536

describe.each([
  { name: 'msgpack', write: writeMsgpack, decode: readMsgpack },
  { name: 'CBOR', write: writeCbor, decode: readCbor },
])('$name', ({ write, decode }) => {
  const read = (bytes: Buffer, maxDepth: number) => decode(bytes, maxDepth, new ValueMeter())

  it('what was written stays, whatever is written after it', () => {
    fc.assert(
      fc.property(fc.array(anyValue, { minLength: 2, maxLength: 30 }), (values) => {
        const results = values.map((value) => write(value))
        expect(results.map((bytes) => read(bytes, 512))).toEqual(values)
      }),
    )
  })

  it('is the same wherever in a slab it begins', () => {
    const texts = ['x'.repeat(300), 'é'.repeat(20), '€'.repeat(40), '€'.repeat(700)]
    const value = { texts, list: [1, 2.5], bytes: Buffer.alloc(99) }
    const expected = write(value).toString('hex')
    const others = new Set<string>()
    for (let round = 0; round < 1000; round++) {
      write('y'.repeat(round % 97))
      others.add(write(value).toString('hex'))
    }
    expect([...others]).toEqual([expected])
  })

  it.each([3000, 30_000, 60_000, 70_000, 300_000])(
    'a message of some %d bytes is whole',
    (size) => {
      const records = Array.from({ length: size / 20 }, (_, index) => ({ index, text: 'record' }))
      for (let round = 0; round < 20; round++) {
        const message = [round, records, 'end']
        // As texts: to compare so many values one by one takes a hundred times as long.
        expect(JSON.stringify(read(write(message), 512))).toBe(JSON.stringify(message))
      }
    },
  )

  it('a large message leaves nothing behind but its own result', () => {
    const large = write('x'.repeat(3_000_000))
    const small = Array.from({ length: 100 }, () => write({ a: 1 }))
    expect(large.length).toBe(3_000_005)
    expect(large.buffer.byteLength).toBeLessThan(2 * large.length)
    expect(small.map(({ buffer }) => buffer.byteLength)).toEqual(Array(100).fill(SLAB_BYTES))
  })

  it('small messages stay around a large one', () => {
    const small = (from: number) =>
      Array.from({ length: 20_000 }, (_, index) => write([from + index]))
    const results = [...small(0), write('x'.repeat(100_000)), ...small(50_000)]
    const firstItems = results.map((bytes) => (read(bytes, 512) as readonly Value[])[0])
    expect(firstItems.slice(0, 20_000)).toEqual(Array.from({ length: 20_000 }, (_, index) => index))
  })

  it('many small messages share their slabs', () => {
    const slabs = new Set(Array.from({ length: 1000 }, () => write('x'.repeat(95)).buffer))
    expect(slabs.size).toBeLessThanOrEqual(3)
  })

  it('a message may be written within another one', () => {
    const inner: string[] = []
    const map = {
      before: 'x'.repeat(100),
      get within() {
        inner.push(write({ large: 'y'.repeat(40_000), small: 1 }).toString('hex'))
        inner.push(write({ small: 1 }).toString('hex'))
        return 2
      },
      after: 'z'.repeat(100),
    }
    const plain = { before: 'x'.repeat(100), within: 2, after: 'z'.repeat(100) }
    const results = Array.from({ length: 5 }, () => [write(map), write(plain)])
    expect(results.flat().map((bytes) => read(bytes, 512))).toEqual(Array(10).fill(plain))
    expect(new Set(inner).size).toBe(2)
    expect(inner[1]).toBe(write({ small: 1 }).toString('hex'))
  })

  it('a message that fails harms no other one', () => {
    const before = write({ a: 'before' })
    for (let round = 0; round < 3; round++)
      expect(() => write({ a: 'x'.repeat(100), b: () => 1 })).toThrow(TypeError)
    const after = write({ a: 'after' })
    expect([before, after].map((bytes) => read(bytes, 512))).toEqual([
      { a: 'before' },
      { a: 'after' },
    ])
  })

  // Room is made by the beginning of a huge text, and for a length of two bytes less than it may take.
  it.each<[string, string]>([
    ['plain', ''],
    ['plain at the beginning, then characters of two bytes', 'é'],
    ['plain at the beginning, then characters of three bytes', '€'],
    ['plain at the beginning, then characters of four bytes', '😀'],
  ])('a huge text is whole: %s', (_, unit) => {
    const lengths = fc.tuple(fc.integer({ min: 4000, max: 66_000 }), fc.nat({ max: 7000 }))
    fc.assert(
      fc.property(lengths, ([plainLength, others]) => {
        const text = 'a'.repeat(plainLength) + unit.repeat(others)
        expect(read(write([text, 1]), 512)).toEqual([text, 1])
      }),
    )
  })

  it('a huge text that fills the room made for it has its length before it', () => {
    for (let length = 62_410; length < 62_420; length++) {
      for (let others = 3118; others < 3126; others++) {
        const text = 'a'.repeat(length - others) + 'é'.repeat(others)
        expect(read(write(text), 512) === text).toBe(true)
      }
    }
  })
})
