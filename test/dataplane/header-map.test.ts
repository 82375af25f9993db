import { describe, expect, it } from '@jest/globals'
import { requestHeaderMap, responseHeaderMap } from '../../dataplane/header-map.ts'
import { isHeaderMap } from '../../language/expression/header-map.ts'
import { lookup } from '../../language/expression/lookup.ts'
import type { ValueMap } from '../../language/expression/value.ts'

type Pairs = readonly (readonly [string, string])[]

const twice = (name: string): Pairs => [
  [name, 'a=1'],
  [name, 'b=2'],
]

describe.each([
  ['of a request', (pairs: Pairs) => requestHeaderMap(pairs.flat())],
  ['of a response', responseHeaderMap],
])('the headers %s', (_of, mapOf) => {
  it.each<[string, Pairs, ValueMap]>([
    ['nothing', [], {}],
    ['one', [['x', 'one']], { x: 'one' }],
    ['empty', [['x', '']], { x: '' }],
    ['joined', twice('x-many'), { 'x-many': 'a=1, b=2' }],
    [
      'empty and joined',
      [
        ['x', ''],
        ['x', 'two'],
      ],
      { x: ', two' },
    ],
    [
      'reserved words',
      [
        ['constructor', 'c'],
        ['tostring', 't'],
      ],
      { constructor: 'c', tostring: 't' },
    ],
  ])('as a map: %s', (_name, pairs, map) => {
    expect(mapOf(pairs)).toEqual(map)
  })

  it('is a map of headers, whose names are found in any case', () => {
    const map = mapOf([['x-user', 'ada']])
    expect(isHeaderMap(map)).toBe(true)
    expect(lookup(map, ['X-User'])).toBe('ada')
    expect(lookup(map, ['X-Userr'])).toBeUndefined()
  })

  it('__proto__ is a name like any other', () => {
    expect(Object.entries(mapOf(twice('__proto__')))).toEqual([['__proto__', 'a=1, b=2']])
  })
})

describe('cookies', () => {
  it.each<[string, ValueMap, ValueMap]>([
    [
      'of a request are joined by semicolons',
      requestHeaderMap(twice('Cookie').flat()),
      { cookie: 'a=1; b=2' },
    ],
    [
      'of a response are a list',
      responseHeaderMap(twice('set-cookie')),
      { 'set-cookie': ['a=1', 'b=2'] },
    ],
    [
      'of a response are a list, also one',
      responseHeaderMap([['set-cookie', 'a=1']]),
      { 'set-cookie': ['a=1'] },
    ],
  ])('%s', (_name, map, expected) => {
    expect(map).toEqual(expected)
  })
})

it('names of a request are in lower case, and spellings of a name one header', () => {
  expect(requestHeaderMap(['X-A', '1', 'x-a', '2', 'lonely'])).toEqual({ 'x-a': '1, 2' })
})
