// What JSON text stands for, whatever was parsed before it: V8 reads a key with an escape as one that it has met.

import { beforeEach, describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { parseJson } from '../../base/parse-json.ts'

/** Each makes V8 take some keys with an escape for another one, as long as the value is in use. */
const poisons: unknown[] = []
beforeEach(() => {
  poisons.splice(0, Infinity)
  for (const text of [
    '{"id":[],"\\\\u00":0}',
    '{"id":[],"ad\\\\u0":0}',
    '{"h":[],"\\\\":0}',
    '{"a":[],"\\\\u":0}',
    '{"b":[],"a\\\\u":0}',
  ])
    poisons.push(JSON.parse(text))
})

/** Keys and values in their order. */
const shown = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shown)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value).map(([key, each]) => [key, shown(each)])
}

describe('parseJson', () => {
  it.each<[string, unknown]>([
    [
      '{"id":1,"\\u00fcber":true}',
      [
        ['id', 1],
        ['über', true],
      ],
    ],
    [
      '{"id":1,"ad\\u006din":true}',
      [
        ['id', 1],
        ['admin', true],
      ],
    ],
    [
      '{"h":1,"\\"":2}',
      [
        ['h', 1],
        ['"', 2],
      ],
    ],
    [
      '{"h":1,"\\n":2}',
      [
        ['h', 1],
        ['\n', 2],
      ],
    ],
    [
      '{"h":1,"\\\\":2}',
      [
        ['h', 1],
        ['\\', 2],
      ],
    ],
    [
      '{"id":1,"ad\\\\u0" : 2}',
      [
        ['id', 1],
        ['ad\\u0', 2],
      ],
    ],
    [
      '{"id":1,"ad\\u006din"\n:[{"id":2,"ad\\u006din":3}]}',
      [
        ['id', 1],
        [
          'admin',
          [
            [
              ['id', 2],
              ['admin', 3],
            ],
          ],
        ],
      ],
    ],
    [
      '{"h":"\\"ad\\u006din\\":1","x":2}',
      [
        ['h', '"admin":1'],
        ['x', 2],
      ],
    ],
    [
      '{"h":"a\\\\","\\"":"b\\\\"}',
      [
        ['h', 'a\\'],
        ['"', 'b\\'],
      ],
    ],
    ['["\\n",{"\\/":1}]', ['\n', [['/', 1]]]],
    ['"\\u0041"', 'A'],
    [
      '{"\\ud83d\\ude00":1,"\\ud83d":2}',
      [
        ['😀', 1],
        ['\ud83d', 2],
      ],
    ],
  ])('reads %s, whatever came before', (text, expected) => {
    expect(shown(parseJson(text))).toEqual(expected)
  })

  it.each<[string, string, unknown]>([
    ['the last of two wins', '{"a":1,"\\u0061":2}', [['a', 2]]],
    ['in either order', '{"\\u0061":1,"a":2}', [['a', 2]]],
    [
      'at the place of the first',
      '{"\\u0061":1,"b":2,"a":3}',
      [
        ['a', 3],
        ['b', 2],
      ],
    ],
    ['of three', '{"a":1,"\\u0061":2,"a":3}', [['a', 3]]],
    [
      'where it needs an escape',
      '{"\\u000a":1,"b":2,"\\n":3}',
      [
        ['\n', 3],
        ['b', 2],
      ],
    ],
    [
      'where it is a number',
      '{"b":0,"\\u0031":1,"1":2}',
      [
        ['1', 2],
        ['b', 0],
      ],
    ],
    ['a prototype is a key', '{"\\u005f_proto__":1}', [['__proto__', 1]]],
    [
      'beside one that needs an escape',
      '{"__proto__":{"x":1},"\\n":2}',
      [
        ['__proto__', [['x', 1]]],
        ['\n', 2],
      ],
    ],
  ])('%s: %s', (_, text, expected) => {
    const value = parseJson(text) as object
    expect(shown(value)).toEqual(expected)
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  })

  it.each([
    '{"a"\\u003a1,":":3}',
    '{"a\\x":1}',
    '{"a\\u00":1}',
    '{"\\n":1',
    '{"\\n:1}',
    '\\"a":1',
    '{"a" \\u0062":1}',
    '["\\n":1]',
    '{"\\n" 1}',
    '"\\',
    '{"a\nb":1,"\\n":2}',
    '{"a":1,"\\n":2}}',
    '\\',
  ])('refuses %s', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError)
  })

  it('gives what JSON.parse gives where nothing was parsed before', () => {
    const piece = fc.constantFrom(
      ...[
        '{',
        '}',
        '[',
        ']',
        ':',
        ',',
        '"',
        '\\',
        '\\"',
        '\\\\',
        '\\n',
        '\\u0061',
        '\\u00',
        'a',
        '1',
        ' ',
        '__proto__',
      ],
      ...['"a":', '"\\u0061":', '"\\n":', '"\\\\":1', '{"a":1}', '"k\\"":[]'],
    )
    // Keys of its own for each text, so that V8 has met none of them.
    let run = 0
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('').replaceAll('a', `k${(run += 1)}a`)
        expect(outcomeOf(parseJson, text)).toEqual(outcomeOf(JSON.parse, text))
      }),
      { numRuns: 3000 },
    )
  })
})

const outcomeOf = (parse: (text: string) => unknown, text: string): unknown => {
  try {
    return shown(parse(text))
  } catch (error) {
    return error instanceof SyntaxError ? 'no JSON' : error
  }
}
