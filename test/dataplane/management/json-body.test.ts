import { describe, expect, it } from '@jest/globals'
import { ManagementError } from '../../../dataplane/management/management-error.ts'
import {
  JsonBody,
  type JsonBounds,
  MAX_ENTRIES,
  toLazy,
} from '../../../dataplane/management/json-body.ts'

const WIDE: JsonBounds = { maxBytes: { map: 1e6, list: 1e6 }, lazyDepth: { list: 1, map: 3 } }

const read = async (text: string | Uint8Array, chunkBytes: number, bounds = WIDE) => {
  const body = new JsonBody(bounds)
  const bytes = Buffer.from(text as string)
  for (let at = 0; at < bytes.length; at += chunkBytes)
    body.push(bytes.subarray(at, at + chunkBytes))
  return body.read()
}

/** Of a list. */
const entriesOf = (value: unknown): unknown[] =>
  (value as unknown[]).map((entry) => toLazy(entry)())

const statusOf = async (run: () => Promise<unknown>): Promise<string> => {
  try {
    await run()
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

  it.each(rows)('%s in chunks of %d gives the same values one by one', async (text, size) => {
    const values = entriesOf(await read(text, size))
    expect(JSON.stringify(values)).toBe(JSON.stringify(JSON.parse(text)))
  })
})

describe('a map', () => {
  it('has lazy values at its own depth', async () => {
    const value = await read(
      '{"specs": {"put": [{"id": "a"}, {"id": "b", "x": [[{}]]}], "delete": ["c"]}}',
      5,
    )
    const { specs } = value as {
      readonly specs: { readonly put: unknown; readonly delete: unknown }
    }
    expect(specs.delete).toEqual(['c'])
    expect(entriesOf(specs.put)).toEqual([{ id: 'a' }, { id: 'b', x: [[{}]] }])
  })

  it('is one value where nothing is lazy', async () => {
    const value = { a: { b: { c: { d: 1 } } } }
    expect(await read(JSON.stringify(value), 4, { ...WIDE, lazyDepth: {} })).toEqual(value)
  })

  it('may begin with a byte order mark', async () => {
    const bytes = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('{"a": 1}')])
    expect(await read(bytes, 2)).toEqual({ a: 1 })
  })
})

describe('emptiness', () => {
  it.each([
    ['', undefined],
    [' \n\t', undefined],
    ['42', 42],
    ['{}', {}],
  ])('%j is %s', async (text, value) => {
    expect(await read(text, 3)).toEqual(value)
  })
})

describe('what is refused', () => {
  const narrow: JsonBounds = { maxBytes: { map: 10, list: 20 }, lazyDepth: {} }

  it.each([
    ['words', () => read('no json', 3), '400 svc.error.invalid_data'],
    ['an open map', () => read('{"a": 1', 3), '400 svc.error.invalid_data'],
    ['a closing bracket too many', () => read('[]]', 3), '400 svc.error.invalid_data'],
    ['two values', () => read('[1][2]', 3), '400 svc.error.invalid_data'],
    ['no UTF-8', () => read(Buffer.from([0x22, 0xff, 0x22]), 9), '400 svc.error.invalid_data'],
    [
      'brackets that do not pair',
      async () => entriesOf(await read('[{"a": 1]]', 3)),
      '400 svc.error.invalid_data',
    ],
    [
      'an entry that is no JSON',
      async () => entriesOf(await read('[{"a"}]', 3)),
      '400 svc.error.invalid_data',
    ],
    [
      'too many entries',
      () => read(`[${'[],'.repeat(MAX_ENTRIES)}[]]`, 1e6),
      '413 svc.error.payload_too_large',
    ],
    ['a nesting bomb', () => read('['.repeat(100_000), 65_536), '400 wamp.error.invalid_argument'],
    [
      'one level too many',
      () => read('['.repeat(257) + ']'.repeat(257), 65_536),
      '400 wamp.error.invalid_argument',
    ],
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
  ])('%s', async (_name, run, outcome) => {
    expect(await statusOf(run)).toBe(outcome)
  })
})
