import { describe, expect, it, jest } from '@jest/globals'
import fc from 'fast-check'
import { decodeBody, decodeForm } from '../../../dataplane/codec/codec.ts'
import { mediaKind } from '../../../language/routes/media-kind.ts'
import { createUnboundedMemory } from '../../../dataplane/memory/memory-budget.ts'
import { writeMsgpack } from '../../../dataplane/codec/write-msgpack.ts'
import { GatewayError } from '../../../dataplane/gateway-error.ts'
import type { Value } from '../../../language/expression/value.ts'

const decode = (contentType: string, bytes: Buffer | string) =>
  decodeBody(contentType, Buffer.from(bytes as string), createUnboundedMemory().open())

/** The message of the refusal. */
const refusal = (contentType: string, bytes: Buffer | string): string => {
  try {
    decode(contentType, bytes)
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'svc.error.invalid_data')
      return error.message
    throw error
  }
  throw new Error('it was decoded')
}

describe('mediaKind', () => {
  it.each([
    ['application/json', 'json'],
    ['APPLICATION/JSON ; charset=utf-8', 'json'],
    ['application/problem+json', 'json'],
    ['application/msgpack', 'msgpack'],
    ['application/x-msgpack;x=1', 'msgpack'],
    ['application/x-www-form-urlencoded', 'form'],
    ['text/plain', 'other'],
    ['', 'other'],
    [';', 'other'],
    ['constructor', 'other'],
  ])('%p is %s', (contentType, kind) => {
    expect(mediaKind(contentType)).toBe(kind)
  })
})

describe('JSON', () => {
  it.each<[string, Value]>([
    ['{"a":[1,null]}', { a: [1, null] }],
    ['"x"', 'x'],
    [' 7 ', 7],
    ['9007199254740993', 9007199254740992],
    ['\uFEFF1', 1],
  ])('%j', (json, value) => {
    expect(decode('application/json', json)).toEqual(value)
  })

  it('a reserved word is a plain key', () => {
    const value = decode('application/json', '{"__proto__":{"a":1}}') as Record<string, Value>
    expect(Object.hasOwn(value, '__proto__')).toBe(true)
    expect(value['a']).toBeUndefined()
  })

  it.each<[string, Buffer | string]>([
    ['nothing', ''],
    ['broken', '{"a"'],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['too deep', '['.repeat(600) + ']'.repeat(600)],
    ['too deep, by a level', `${'['.repeat(513)}"${'x'.repeat(3000)}"${']'.repeat(513)}`],
    ['too deep, by maps', '{"a":'.repeat(600) + '1' + '}'.repeat(600)],
    ['hopelessly deep', '['.repeat(90_000)],
    ['a number beyond doubles', '{"v":[1e400]}'],
    ['a number of many digits', `[${'9'.repeat(400)}]`],
  ])('%s is refused', (_, json) => {
    expect(refusal('application/json', json)).toMatch(/^the body is /)
  })

  const WIDE = ' '.repeat(70_000)

  it.each<[string, Buffer | string, string]>([
    ['broken', `{"a"${WIDE}`, 'the body is not valid JSON'],
    ['no UTF-8', Buffer.from(`"\xff"${WIDE}`, 'latin1'), 'the body is not valid JSON'],
    ['too deep', `${'['.repeat(513)}${WIDE}${']'.repeat(513)}`, 'the body is nested too deeply'],
    ['a number beyond doubles', `[1e400${WIDE}]`, 'the body is unreadable: a number is too large'],
  ])('that is decoded in pieces is refused: %s', (_, json, message) => {
    expect(refusal('application/json', json)).toBe(message)
  })

  it('long and shallow is no matter', () => {
    const list = Array.from({ length: 5000 }, () => [{ a: [1], b: null, c: 'text' }])
    expect(decode('application/json', JSON.stringify(list))).toEqual(list)
  })
})

describe('msgpack', () => {
  const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')

  it.each<[string, string, unknown]>([
    ['nil', 'c0', null],
    ['true', 'c3', true],
    ['false', 'c2', false],
    ['positive fixint', '7f', 127],
    ['negative fixint', 'e0', -32],
    ['uint 8', 'cc ff', 255],
    ['uint 16', 'cd ffff', 65_535],
    ['uint 32', 'ce ffffffff', 4_294_967_295],
    ['uint 64', 'cf 0020000000000001', 9_007_199_254_740_992],
    ['int 8', 'd0 80', -128],
    ['int 16', 'd1 8000', -32_768],
    ['int 32', 'd2 80000000', -2_147_483_648],
    ['int 64', 'd3 ffffffffffffffff', -1],
    ['float 32', 'ca 3f800000', 1],
    ['float 64', 'cb 3ff8000000000000', 1.5],
    ['fixstr', 'a3 616263', 'abc'],
    ['empty text', 'a0', ''],
    ['str 8', 'd9 02 c3a9', 'é'],
    ['str 16', 'da 0001 61', 'a'],
    ['str 32', 'db 00000001 61', 'a'],
    ['a replacement character of its own', 'a3 efbfbd', '\uFFFD'],
    ['bin 8', 'c4 02 00ff', Uint8Array.of(0, 255)],
    ['bin 16', 'c5 0001 07', Uint8Array.of(7)],
    ['bin 32', 'c6 00000000', new Uint8Array()],
    ['fixarray', '92 01 90', [1, []]],
    ['array 16', 'dc 0001 01', [1]],
    ['array 32', 'dd 00000001 01', [1]],
    ['fixmap', '81 a161 01', { a: 1 }],
    ['map 16', 'de 0001 a161 01', { a: 1 }],
    ['map 32', 'df 00000001 a161 01', { a: 1 }],
    ['the last of two equal keys', '82 a161 01 a161 02', { a: 2 }],
  ])('%s', (_, bytes, value) => {
    expect(decode('application/msgpack', hex(bytes))).toEqual(value)
  })

  it('a reserved word is a plain key', () => {
    const bytes = writeMsgpack(JSON.parse('{"__proto__":{"a":1},"constructor":2}') as Value)
    const value = decode('application/msgpack', bytes) as Record<string, Value>
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor'])
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  })

  it.each([
    ['nothing', '', 'ends within'],
    ['more than one value', '01 02', 'bytes after its msgpack value'],
    ['a cut number', 'ce 0000', 'ends within'],
    ['a cut text', 'a5 6161', 'ends within'],
    ['a text of 4 GiB', 'db ffffffff', 'ends within'],
    ['bytes of 4 GiB', 'c6 ffffffff', 'ends within'],
    ['a list of 4 G', 'dd ffffffff', 'ends within'],
    ['a map of 4 G', 'df ffffffff', 'ends within'],
    ['a list of lists of 64 K', 'dc ffff dc ffff dc ffff', 'ends within'],
    ['a number as key', '81 01 02', 'keys must be strings'],
    ['a list as key', '81 90 02', 'keys must be strings'],
    ['NaN', 'cb 7ff8000000000000', 'NaN or infinite'],
    ['infinity in a map', '81 a161 cb 7ff0000000000000', 'NaN or infinite'],
    ['infinity in four bytes', 'ca ff800000', 'NaN or infinite'],
    ['no UTF-8', 'a2 c328', 'not UTF-8'],
    ['no UTF-8 in a key', '81 a1ff 01', 'not UTF-8'],
    ['what is never used', 'c1', 'extension types'],
    ['a date', 'd6 ff 00000001', 'extension types'],
    ['typed arrays', 'c7 03 74 014142', 'extension types'],
    ['big integers', 'c7 02 42 0102', 'extension types'],
    ['undefined', 'd4 00 00', 'extension types'],
    ['records', 'd4 72 40 91 a161 01', 'extension types'],
    ['too deep', '91'.repeat(600) + '01', 'too deeply'],
    ['hopelessly deep', '91'.repeat(1_000_000), 'too deeply'],
  ])('%s is refused', (_, bytes, message) => {
    expect(refusal('application/msgpack', hex(bytes))).toContain(message)
  })

  it('gives back what was encoded', () => {
    const { value } = fc.letrec<{ value: Value }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.string({ unit: 'grapheme' }),
        fc.integer(),
        // -0 comes back as 0, as it does from JSON.
        fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value')),
        fc.dictionary(fc.string(), tie('value')),
      ),
    }))
    fc.assert(
      fc.property(value, (before) => {
        expect(decode('application/msgpack', writeMsgpack(before))).toEqual(before)
      }),
    )
  })

  it('never throws anything but a refusal', () => {
    const isSound = (bytes: Uint8Array): boolean => {
      try {
        decodeBody('application/msgpack', Buffer.from(bytes), createUnboundedMemory().open())
        return true
      } catch (error) {
        return error instanceof GatewayError
      }
    }
    expect(() => {
      fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }), isSound), { numRuns: 2000 })
    }).not.toThrow()
  })
})

describe('forms', () => {
  it.each<[string, Value]>([
    ['', {}],
    ['a=1&b=&c', { a: '1', b: '', c: '' }],
    ['a=1&a=2', { a: '2' }],
    ['a=x+y%20z', { a: 'x y z' }],
    ['?a=1&?b', { '?a': '1', '?b': '' }],
    ['a=%ff', { a: '\uFFFD' }],
    ['a=%', { a: '%' }],
    ['constructor=1', { constructor: '1' }],
  ])('%j', (text, value) => {
    expect(decode('application/x-www-form-urlencoded', text)).toEqual(value)
  })

  it.each([
    ['a&b&&c=1&d', '&a=&b=&&c=1&d='],
    ['?', '&?='],
    ['?&?', '&?=&?='],
  ])('names alone are read in linear time: Node gets %j as %j', (text, passed) => {
    const Parser = URLSearchParams
    const expected = Object.fromEntries(new Parser(`&${text}`))
    const parser = jest.spyOn(globalThis, 'URLSearchParams')
    parser.mockImplementation((init) => new Parser(init))
    const map = decodeForm(text)
    expect(parser).toHaveBeenCalledWith(passed)
    parser.mockRestore()
    expect(map).toEqual(expected)
  })

  it('a reserved word is a plain key', () => {
    expect(Object.keys(decodeForm('__proto__=1'))).toEqual(['__proto__'])
  })
})

describe('other types', () => {
  it('are text, or refused', () => {
    expect(decode('text/plain', 'x é')).toBe('x é')
    expect(decode('text/plain; charset=latin1', Buffer.from([0xe9]))).toBe('é')
    expect(() => decode('text/plain', Buffer.from([0xff]))).toThrow(
      expect.objectContaining({ code: 'svc.error.unsupported_media_type' }),
    )
    expect(() => decode('text/plain; charset=utf-16', Buffer.from([0x61]))).toThrow(
      expect.objectContaining({ code: 'svc.error.unsupported_media_type' }),
    )
  })
})
