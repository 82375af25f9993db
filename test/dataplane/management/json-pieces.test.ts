import { describe, expect, it } from '@jest/globals'
import { ManagementError } from '../../../dataplane/management/management-error.ts'
import { type JsonBounds, JsonPieces } from '../../../dataplane/management/json-pieces.ts'

const WIDE: JsonBounds = { maxBytes: { map: 1e6, list: 1e6 }, cutDepth: { list: 1, map: 3 } }

const read = (text: string | Uint8Array, chunkBytes: number, bounds = WIDE) => {
  const pieces = new JsonPieces(bounds)
  const bytes = Buffer.from(text as string)
  for (let at = 0; at < bytes.length; at += chunkBytes)
    pieces.push(bytes.subarray(at, at + chunkBytes))
  return pieces.finish()
}

const statusOf = (run: () => unknown): string => {
  try {
    run()
    return 'no fault'
  } catch (fault) {
    return fault instanceof ManagementError ? `${fault.status} ${fault.code}` : String(fault)
  }
}

const lists = [
  '[]',
  ' [ ]\n',
  '[1, "two", null, true]',
  '[{"a": [1, {"b": "]}"}]}, [1], [[2]], "x", {}]',
  '["\\\\", {"quote": "a\\"b{[", "end": "\\\\"}, {"\\\\\\"": 1}]',
  '[{"__proto__": {"a": 1}, "constructor": 2}]',
  '[{"ü": "😀"}, {"é": 1}]',
]

describe('a list', () => {
  const rows = lists.flatMap((text) => [1, 2, 3, 7, 1000].map((size) => [text, size] as const))

  it.each(rows)('%s in chunks of %d gives the same values piece by piece', (text, size) => {
    const json = read(text, size)
    const entries = json.parse() as readonly unknown[]
    const values = entries.map((entry) => json.lazy(entry)())
    expect(JSON.stringify(values)).toBe(JSON.stringify(JSON.parse(text)))
    expect(json.root).toBe('list')
  })
})

describe('a map', () => {
  it('is cut at its own depth', () => {
    const json = read(
      '{"specs": {"put": [{"id": "a"}, {"id": "b", "x": [[{}]]}], "delete": ["c"]}}',
      5,
    )
    const call = json.parse() as { readonly specs: { readonly put: readonly unknown[] } }
    expect(call).toEqual({ specs: { put: [[0], [1]], delete: ['c'] } })
    expect(call.specs.put.map((entry) => json.lazy(entry)())).toEqual([
      { id: 'a' },
      { id: 'b', x: [[{}]] },
    ])
  })

  it('is one value where nothing is cut', () => {
    const json = read('{"a": {"b": {"c": {"d": 1}}}}', 4, { ...WIDE, cutDepth: {} })
    expect(json.parse()).toEqual({ a: { b: { c: { d: 1 } } } })
  })

  it('may begin with a byte order mark', () => {
    const json = read(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('{"a": 1}')]), 2)
    expect([json.root, json.parse()]).toEqual(['map', { a: 1 }])
  })
})

describe('emptiness', () => {
  it.each([
    ['', true],
    [' \n\t', true],
    ['42', false],
    ['{}', false],
  ])('of %j is %s', (text, isEmpty) => {
    expect(read(text, 3).isEmpty).toBe(isEmpty)
  })
})

describe('what is refused', () => {
  const narrow: JsonBounds = { maxBytes: { map: 10, list: 20 }, cutDepth: {} }

  it.each([
    ['words', () => read('no json', 3).parse(), '400 svc.error.invalid_data'],
    ['an open map', () => read('{"a": 1', 3).parse(), '400 svc.error.invalid_data'],
    ['a closing bracket too many', () => read('[]]', 3), '400 svc.error.invalid_data'],
    ['two values', () => read('[1][2]', 3).parse(), '400 svc.error.invalid_data'],
    [
      'no UTF-8',
      () => read(Buffer.from([0x22, 0xff, 0x22]), 9).parse(),
      '400 svc.error.invalid_data',
    ],
    [
      'brackets that do not pair',
      () => {
        const json = read('[{"a": 1]]', 3)
        ;(json.parse() as unknown[]).forEach((entry) => json.lazy(entry)())
      },
      '400 svc.error.invalid_data',
    ],
    ['a nesting bomb', () => read('['.repeat(100_000), 65_536), '400 wamp.error.invalid_argument'],
    [
      'a map over its bound',
      () => read(`{"a": "${'x'.repeat(9)}"}`, 4, narrow),
      '413 svc.error.payload_too_large',
    ],
    [
      'a text over the bound of maps',
      () => read(`"${'x'.repeat(10)}"`, 4, narrow),
      '413 svc.error.payload_too_large',
    ],
    [
      'a list over its bound',
      () => read(`["${'x'.repeat(20)}"]`, 4, narrow),
      '413 svc.error.payload_too_large',
    ],
    ['a list within its bound', () => read('["xxxxxxxxxx"]', 4, narrow), 'no fault'],
  ])('%s', (_name, run, outcome) => {
    expect(statusOf(run)).toBe(outcome)
  })
})
