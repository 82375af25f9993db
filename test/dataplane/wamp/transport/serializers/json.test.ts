import { describe, expect, it } from '@jest/globals'
import type { Value } from '../../../../../language/expression/value.ts'
import { json } from '../../../../../dataplane/wamp/transport/serializers/json.ts'
import { readJsonHead } from '../../../../../dataplane/wamp/transport/serializers/json-head.ts'
import { MessageError } from '../../../../../dataplane/wamp/protocol/message-error.ts'

const decode = (text: string) => json.decode(Buffer.from(text))

const errorOf = (bytes: string | Buffer): MessageError => {
  try {
    json.decode(Buffer.from(bytes as string))
  } catch (error) {
    if (error instanceof MessageError) return error
    throw error
  }
  throw new Error('it was decoded')
}

describe('JSON', () => {
  it('is compact, bytes by the convention of WAMP', () => {
    expect(json.encode([48, 1, {}, 'a.b', [Uint8Array.of(0, 255), 'é']])).toBe(
      String.raw`[48,1,{},"a.b",["\u0000AP8=","é"]]`,
    )
  })

  it.each<[string, Value]>([
    [String.raw`"\u0000AP8="`, Uint8Array.of(0, 255)],
    [String.raw`"\u0000"`, Uint8Array.of()],
    [String.raw`"\u0000AAAA"`, Uint8Array.of(0, 0, 0)],
    // Not base64: text stays text.
    [String.raw`"\u0000AP8"`, '\0AP8'],
    [String.raw`"\u0000A==="`, '\0A==='],
    [String.raw`"\u0000AP-_"`, '\0AP-_'],
    [String.raw`"\u0000a b="`, '\0a b='],
    [String.raw`"\u0000AAAA\n"`, '\0AAAA\n'],
    [String.raw`"a\u0000AAAA"`, 'a\0AAAA'],
    [String.raw`"\\u0000AAAA"`, String.raw`\u0000AAAA`],
    [String.raw`{"\u0000AAAA":1}`, { '\0AAAA': 1 }],
  ])('%s', (text, value) => {
    expect(decode(`[50,${text}]`)).toEqual([50, value])
  })

  it('bytes under a reserved word', () => {
    const [, map] = decode(String.raw`[50,{"__proto__":"\u0000AAAA"}]`)
    expect(Object.entries(map as object)).toEqual([['__proto__', new Uint8Array(3)]])
  })

  it.each<[string, Value]>([
    ['a text that begins with U+0000', '\0AAAA'],
    ['a text that is U+0000', '\0'],
    ['NaN', NaN],
    ['infinity', -Infinity],
  ])('%s is refused', (_, value) => {
    expect(() => json.encode([48, 1, {}, 'a.b', [value]])).toThrow(
      expect.objectContaining({ name: 'MessageError', code: 'unencodable' }),
    )
  })

  it.each<[string, string, Value[]]>([
    ['NaN, as Python writes it', '[50,7,{},[NaN]]', [50, 7, {}]],
    [
      'a fault in the last element',
      '[50,7,{"a":[",]"]},["x"],{"a":}]',
      [50, 7, { a: [',]'] }, ['x']],
    ],
    ['a number beyond doubles', '[50,7,{"a":1},[1e400],{}]', [50, 7, { a: 1 }]],
    ['blanks', ' \n[ 50 , 7 , {} , ?]', [50, 7, {}]],
    ['a cut message', String.raw`[8,48,7,{},"a\"b`, [8, 48, 7, {}]],
    ['something behind the list', '[50,7] x', [50, 7]],
    ['bytes before the fault', String.raw`[50,7,["\u0000AAAA"],NaN]`, [50, 7, [new Uint8Array(3)]]],
    ['too deep', `[50,7,{},${'['.repeat(600)}${']'.repeat(600)},1]`, [50, 7, {}]],
    ['too deep, by maps', `[50,7,{},[${'{"a":'.repeat(600)}1${'}'.repeat(600)}]]`, [50, 7, {}]],
    ['hopelessly deep', `[50,7,${'['.repeat(1_000_000)}`, [50, 7]],
  ])('%s: the head is read', (_, text, head) => {
    expect(errorOf(text).head).toEqual(head)
  })

  it.each<[string, string | Buffer]>([
    ['nothing', ''],
    ['no JSON', 'x'],
    ['a type alone', '[50,NaN]'],
    ['a request id that is cut off', '[50,1'],
    ['a text first', '["50",7,NaN]'],
    ['a map that is broken', '{"a":1,'],
    ['no UTF-8', Buffer.concat([Buffer.from('[50,7,"'), Buffer.of(0xff), Buffer.from('"]')])],
    ['a byte order mark', '\uFEFF[50,7]'],
    ['a list that is deep itself', '['.repeat(600) + ']'.repeat(600)],
  ])('%s: nothing can be said of it', (_, text) => {
    expect(errorOf(text).head).toBeUndefined()
  })

  it('quotes nothing', () => {
    expect(errorOf('[50,7,{"password":"secret"},NaN]').message).not.toContain('secret')
  })
})

describe('readJsonHead', () => {
  it.each<[string, Value[]]>([
    ['', []],
    ['[', []],
    ['[]', []],
    ['[1', []],
    ['[50,1', [50]],
    ['[1,', [1]],
    ['[1,]', [1]],
    ['[1}', [1]],
    ['["', []],
    ['["\\', []],
    ['{"a":1}', []],
    ['x[1]', []],
    ['[[1,2],{"a":"]"},"[",3]', [[1, 2], { a: ']' }, '[', 3]],
  ])('%s', (text, head) => {
    expect(readJsonHead(Buffer.from(text))).toEqual(head)
  })
})
