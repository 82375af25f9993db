import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { JsonError, type JsonReading, readJson } from '../../../dataplane/codec/json-reader.ts'

/** The value, or the code of the error; and the number of pieces. */
const read = (json: string | Uint8Array, more: Partial<JsonReading> = {}) => {
  const pieces = readJson(Buffer.from(json as string), { maxDepth: 512, ...more })
  let count = 1
  try {
    for (; ; count++) {
      const piece = pieces.next()
      if (piece.done === true) return { value: piece.value, count }
    }
  } catch (error) {
    if (error instanceof JsonError) return { error: error.code, count }
    throw error
  }
}

/** With the order of keys. */
const written = (value: unknown): string => JSON.stringify(value)

const parsed = (json: string): unknown => {
  try {
    return { value: written(JSON.parse(json)) }
  } catch {
    return { error: 'malformed' }
  }
}

const inPieces = (json: string, pieceBytes: number): unknown => {
  const { value, error } = read(json, { pieceBytes })
  return error === undefined ? { value: written(value) } : { error }
}

const key = fc.oneof(
  fc.constantFrom('', 'a', 'b', '1', '20', '4294967294', '__proto__', 'constructor', 'é', '":{'),
  fc.string({ maxLength: 3 }),
)
const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom<unknown>(null, true, 0.37, -1e21, '"\\[{,:', '€😀\n'),
    fc.array(tie('value'), { maxLength: 5 }),
    // As text, so that equal keys, and any order of keys, remain.
    fc.array(fc.tuple(key, tie('value')), { maxLength: 5 }).map((members) => ({ members })),
  ),
}))

const toJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(toJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const { members } = value as { readonly members: readonly (readonly [string, unknown])[] }
  return `{${members.map(([name, item]) => `${JSON.stringify(name)}: ${toJson(item)}`).join()}}`
}

const edit = fc.record({
  at: fc.nat(),
  remove: fc.nat({ max: 2 }),
  insert: fc.constantFrom(
    '',
    '[',
    ']',
    '{',
    '}',
    ',',
    ':',
    '"',
    '\\',
    ' ',
    '1',
    'a',
    '\n',
    '\uFEFF',
  ),
})
const change = (
  json: string,
  { at, remove, insert }: { at: number; remove: number; insert: string },
) => {
  const from = at % (json.length + 1)
  return json.slice(0, from) + insert + json.slice(from + remove)
}

describe('readJson', () => {
  it('gives what JSON.parse gives, and rejects what it rejects, wherever pieces end', () => {
    fc.assert(
      fc.property(
        anyValue,
        fc.array(edit, { maxLength: 3 }),
        fc.integer({ min: 1, max: 9 }),
        (value, edits, pieceBytes) => {
          const json = edits.reduce(change, toJson(value)).toWellFormed()
          fc.pre(!json.startsWith('\uFEFF'))
          expect(inPieces(json, pieceBytes)).toEqual(parsed(json))
        },
      ),
      { numRuns: 2000 },
    )
  })

  it.each([
    '[1,]',
    '[,1]',
    '[1,,2]',
    '{"a":1,}',
    '{"a":1,,"b":2}',
    '{"a":[1,2] 3,"b":1}',
    '[[1,2],[3,4] 5]',
    '{"a":[1,2],"b"}',
    '{[1,2],"b":1}',
    '["a":[1,2],3]',
    '[1,2',
    '[1,2}',
    '1,2',
    '[1,2][3]',
    '[1,2]]',
    '[[1,2][3,4]]',
    '',
    ' ',
  ])('rejects %j', (json) => {
    expect(inPieces(json, 1)).toEqual({ error: 'malformed' })
  })

  it.each<[string, unknown]>([
    ['{"__proto__":{"a":[1,2]},"b":1}', '{"__proto__":{"a":[1,2]},"b":1}'],
    ['{"b":1,"a":2,"b":[1,2],"7":1}', '{"7":1,"b":[1,2],"a":2}'],
    ['\uFEFF[1,2]', '[1,2]'],
    ['"a,b"', '"a,b"'],
  ])('reads %j', (json, value) => {
    expect(inPieces(json, 1)).toEqual({ value })
  })

  it('makes no prototype of a key', () => {
    const { value } = read('{"__proto__":{"a":[1,2]},"b":1}', { pieceBytes: 1 })
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(Object.keys(value as object)).toEqual(['__proto__', 'b'])
  })

  it.each([
    ['within a text', [0x5b, 0x31, 0x2c, 0x22, 0xff, 0x22, 0x5d]],
    ['outside', [0x5b, 0x31, 0x2c, 0xe2, 0x82, 0x5d]],
  ])('rejects bytes that are not UTF-8, %s', (_, bytes) => {
    expect(read(Uint8Array.from(bytes), { pieceBytes: 1 }).error).toBe('malformed')
  })

  it.each([
    [3, '[[[1,2],3]]', { value: [[[1, 2], 3]] }],
    [3, '[[[[1,2],3]]]', { error: 'too_deep' }],
    [512, '['.repeat(1_000_000), { error: 'too_deep' }],
  ])('allows %d levels', (maxDepth, json, expected) => {
    expect(read(json, { maxDepth, pieceBytes: 4 })).toMatchObject(expected)
  })

  it.each([
    ['a map', `{${Array.from({ length: 20_000 }, (_, at) => `"k${at}":1`).join()}}`],
    ['maps', JSON.stringify(Array.from({ length: 20_000 }, (_, at) => ({ [`k${at}`]: at })))],
    ['a list in a map', `{"a":{"b":[${'1,'.repeat(100_000)}1]}}`],
    ['a text', JSON.stringify('\\"é€'.repeat(50_000))],
    ['a text in a map', `{"a":1,"b":{"c":["${'x'.repeat(300_000)}", 2]}}`],
  ])('scans at most 128 KiB of %s at once, and parses at most as much', (_, json) => {
    let most = 0
    const check = (text: string): void => {
      most = Math.max(most, text.length)
    }
    const { count } = read(json, { check })
    expect(most).toBeLessThanOrEqual(131_072 + 2)
    expect(count).toBeGreaterThan(json.length / 131_072)
  })

  it.each(['[]', '""'])('reads no further where a second %s follows without a comma', (json) => {
    expect(read(`[1,${json.repeat(100_000)}]`)).toEqual({ error: 'malformed', count: 1 })
  })

  it('reads a long text as JSON.parse does, with whatever characters a piece ends', () => {
    const long = fc
      .array(fc.constantFrom('a', '"', '\\', '\n', '\u0001', 'é', '€', '😀', '\ud83d', '😀😀'))
      .map((characters) => characters.join('').repeat(3))
    const escaped = (text: string): string =>
      text.replaceAll(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    const asJson = fc
      .tuple(long, fc.boolean())
      .map(([text, isEscaped]) => (isEscaped ? `"${escaped(text)}"` : JSON.stringify(text)))
    const document = fc.oneof(
      asJson,
      asJson.map((json) => `[1, ${json} ,{"${'k'.repeat(30)}":${json}}, ${json}]`),
      asJson.map((json) => `{"a":[{"b": ${json}, "c":1}],"d":${json}}`),
      asJson.map((json) => `{${json}:1,${json} :${json}}`),
      asJson.map((json) => `[${json} ${json}]`),
    )
    fc.assert(
      fc.property(
        document,
        fc.array(edit, { maxLength: 1 }),
        fc.integer({ min: 1, max: 9 }),
        (json, edits, pieceBytes) => {
          const text = edits.reduce(change, json).toWellFormed()
          fc.pre(!text.startsWith('\uFEFF'))
          expect(inPieces(text, pieceBytes)).toEqual(parsed(text))
        },
      ),
      { numRuns: 2000 },
    )
  })

  it.each([
    ['half a character', Buffer.from(`"${'x'.repeat(200_000)}\u20ac`).subarray(0, -1)],
    ['continuation bytes', Buffer.concat([Buffer.from('"'), Buffer.alloc(200_000, 0x80)])],
    ['no quote at its end', Buffer.from(`"${'x'.repeat(131_071)}`)],
    ['half an escape', Buffer.from(`"${'x'.repeat(200_000)}\\u12`)],
  ])('rejects a long text with %s', (_, json) => {
    expect(read(json).error).toBe('malformed')
  })

  it('counts each piece before it is parsed', () => {
    const counts: (readonly [number, number])[] = []
    const steps: string[] = []
    const count = (containers: number, values: number): void => {
      counts.push([containers, values])
      steps.push('count')
    }
    const check = (text: string): void => {
      steps.push(text)
    }
    read('{"a":[1,2],"b":{}}', { pieceBytes: 4, count, check })
    expect(steps.filter((step) => step !== 'count').join('|')).toBe('null|"a":null|1|2|"b":{}')
    expect(steps.filter((_, at) => at % 2 === 0).every((step) => step === 'count')).toBe(true)
    expect(counts.reduce(([c, v], [containers, values]) => [c + containers, v + values])).toEqual([
      3, 7,
    ])
  })

  it('stops at once when there are too many values', () => {
    let calls = 0
    const count = (): void => {
      calls += 1
      if (calls === 3) throw new RangeError('too many')
    }
    expect(() => read(`[${'1,'.repeat(1e6)}1]`, { count })).toThrow('too many')
    expect(calls).toBe(3)
  })

  it('leaves containers of a depth unparsed', () => {
    const texts: string[] = []
    const unparsed = {
      depth: { list: 1, map: 3 },
      toValue: (json: Uint8Array) => texts.push(Buffer.from(json).toString()),
    }
    expect(read('[{"a":[1,2]}, 3,[4,5],"{"]', { unparsed, pieceBytes: 1 }).value).toEqual([
      1,
      3,
      2,
      '{',
    ])
    expect(read('{"a":{"put":[{"b":[1,2]},[],7],"c":[8]}}', { unparsed }).value).toEqual({
      a: { put: [3, 4, 7], c: [8] },
    })
    expect(texts).toEqual(['{"a":[1,2]}', '[4,5]', '{"b":[1,2]}', '[]'])
  })
})
