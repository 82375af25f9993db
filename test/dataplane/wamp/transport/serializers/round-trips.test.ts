import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { Value } from '../../../../../language/expression/value.ts'
import type {
  SerializerName,
  WampMessage,
} from '../../../../../dataplane/wamp/protocol/messages.ts'
import { SERIALIZERS } from '../../../../../dataplane/wamp/transport/serializers/by-name.ts'
import { MessageError } from '../../../../../dataplane/wamp/protocol/message-error.ts'

const NAMES = Object.keys(SERIALIZERS) as SerializerName[]

const encoded = (name: SerializerName, message: WampMessage): Buffer =>
  Buffer.from(SERIALIZERS[name].encode(message) as string)

const throughAndBack = (name: SerializerName, message: WampMessage): WampMessage =>
  SERIALIZERS[name].decode(encoded(name, message))

const nested = (depth: number): Value => {
  let value: Value = 1
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

describe.each(NAMES)('%s', (name) => {
  it('is what the table calls it', () => {
    expect(SERIALIZERS[name].name).toBe(name)
    expect(typeof SERIALIZERS[name].encode([1]) === 'string').toBe(SERIALIZERS[name].isText)
  })

  it.each<[string, Value]>([
    ['null', null],
    ['booleans', [true, false]],
    ['small integers', [0, 1, -1, 23, 24, 127, 128, 255, 256, -32, -33, -128, -129]],
    ['integers of 16 bits', [32_767, 32_768, 65_535, 65_536, -32_768, -32_769]],
    ['integers of 32 bits', [2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, -(2 ** 31)]],
    ['integers of 53 bits', [2 ** 32, 2 ** 53 - 1, 2 ** 53, -(2 ** 31) - 1, -(2 ** 53)]],
    ['larger numbers', [2 ** 54, 2 ** 64, -(2 ** 70), 1e300]],
    ['fractions', [0.1, -1.5, Number.MIN_VALUE, Number.MAX_VALUE, 5e-324]],
    ['texts', ['', 'a', 'é', '€', '😀', '\uFFFD', 'a\u0000b', '"\\\n', 'x'.repeat(70_000)]],
    ['what is like base64', ['AAAA', '\u0001AAAA']],
    ['bytes', [Uint8Array.of(), Uint8Array.of(0, 255, 128), new Uint8Array(70_000).fill(7)]],
    ['lists', [[], [[]], Array.from({ length: 70_000 }, (_, index) => index)]],
    ['maps', { a: {}, b: { c: [1, { d: null }] }, '': 1, 'x\u0000': 2 }],
    ['bytes in maps', { a: { b: Uint8Array.of(1) }, c: 1 }],
    ['depth', nested(510)],
  ])('%s', (_, value) => {
    const message = [50, 1, {}, [value], { value }]
    expect(throughAndBack(name, message)).toEqual(message)
  })

  it('a Buffer comes back as plain bytes', () => {
    const [, back] = throughAndBack(name, [50, Buffer.from('abc')])
    expect(back?.constructor).toBe(Uint8Array)
    expect(back).toEqual(new Uint8Array(Buffer.from('abc')))
  })

  it('reserved words are plain keys, also where bytes are replaced', () => {
    const kwargs = JSON.parse(
      '{"__proto__":{"a":1},"constructor":2,"toString":3,"hasOwnProperty":4}',
    ) as Record<string, Value>
    kwargs['bytes'] = Uint8Array.of(1, 2)
    const [, , back] = throughAndBack(name, [50, 1, kwargs])
    expect(Object.keys(back as object)).toEqual(Object.keys(kwargs))
    expect(Object.getPrototypeOf(back)).toBe(Object.prototype)
    expect((back as Record<string, Value>)['a']).toBeUndefined()
    expect(({} as Record<string, Value>)['a']).toBeUndefined()
  })

  it('a map without prototype is a map', () => {
    const map = Object.assign(Object.create(null) as object, { a: 5e9, b: Uint8Array.of(1) })
    expect(throughAndBack(name, [50, map])).toEqual([50, { ...map }])
  })

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['undefined in a list', [1, undefined]],
    ['a hole in a list', Object.assign(new Array<number>(2), { 1: 1 })],
    ['undefined in a map', { a: { b: undefined } }],
    ['a BigInt', 1n],
    ['a function', () => 1],
    ['a symbol', Symbol('x')],
    ['a lone surrogate', 'a\uD800b'],
    ['a lone surrogate in a key', { '\uDC00': 1 }],
    ['too deep', nested(600)],
    ['hopelessly deep', nested(100_000)],
  ])('%s is refused before anything is written', (_, value) => {
    expect(() => encoded(name, [48, 1, {}, 'a.b', [value as Value]])).toThrow(
      expect.objectContaining({ name: 'MessageError', code: 'unencodable' }),
    )
  })

  it('a circle is refused', () => {
    const circle: Value[] = []
    circle.push(circle)
    expect(() => encoded(name, [48, circle])).toThrow(
      expect.objectContaining({ name: 'MessageError', code: 'unencodable' }),
    )
  })

  it('leaves the message as it was', () => {
    const kwargs = { bytes: Uint8Array.of(1), id: 5e9, list: [Uint8Array.of(2)] }
    const message = [48, 1, {}, 'a.b', [], kwargs]
    const before = structuredClone(message)
    encoded(name, message)
    expect(message).toEqual(before)
  })

  it('gives back what was encoded', () => {
    const { value } = fc.letrec<{ value: Value }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.string({ unit: 'grapheme' }).filter((text) => text.charCodeAt(0) !== 0),
        fc.integer(),
        fc.maxSafeInteger(),
        // -0 comes back as 0, as it does from JSON.
        fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
        fc.boolean(),
        fc.constant(null),
        fc.uint8Array(),
        fc.array(tie('value')),
        fc.dictionary(fc.string(), tie('value')),
      ),
    }))
    fc.assert(
      fc.property(fc.nat(), value, (type, before) => {
        expect(throughAndBack(name, [type, before])).toEqual([type, before])
      }),
    )
  })

  it.each<[string, WampMessage | Value]>([
    ['a map', { a: 1 }],
    ['an empty list', []],
    ['a text first', ['48', 1]],
    ['a fraction first', [1.5, 1]],
    ['null', null],
    ['a number', 7],
  ])('%s is no message', (_, value) => {
    expect(() => throughAndBack(name, value as WampMessage)).toThrow(
      expect.objectContaining({ code: 'undecodable', head: undefined }),
    )
  })

  it('never throws anything but a refusal, whatever comes', () => {
    const isSound = (bytes: Uint8Array): boolean => {
      try {
        SERIALIZERS[name].decode(Buffer.from(bytes))
        return true
      } catch (error) {
        return error instanceof MessageError
      }
    }
    expect(() => {
      fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }), isSound), { numRuns: 2000 })
    }).not.toThrow()
  })

  it('a broken message is read as far as it goes, or not at all', () => {
    const message: WampMessage = [50, 4711, { a: [1, 'é'] }, ['x', 1.5], { b: Uint8Array.of(1) }]
    const whole = encoded(name, message)
    const damaged = fc.tuple(fc.nat({ max: whole.length - 1 }), fc.nat({ max: 255 }))
    const isSound = ([at, byte]: [number, number], isCut: boolean): boolean => {
      const bytes = isCut ? whole.subarray(0, at) : Buffer.from(whole)
      if (!isCut) bytes[at] = byte
      try {
        SERIALIZERS[name].decode(bytes)
        return true
      } catch (error) {
        if (!(error instanceof MessageError)) return false
        return error.head === undefined || Number.isInteger(error.head[0])
      }
    }
    expect(() => {
      fc.assert(fc.property(damaged, fc.boolean(), isSound), { numRuns: 500 })
    }).not.toThrow()
  })
})
