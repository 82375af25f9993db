import { describe, expect, it } from '@jest/globals'
import { requestHeaderMap, responseHeaderMap } from '../../dataplane/header-map.ts'
import { fromClient } from '../../dataplane/upstream/headers.ts'
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
    ['UTF-8', [['x', 'Zo\u00c3\u00ab']], { x: 'Zoë' }],
    ['Latin-1', [['x', 'Zo\u00eb']], { x: 'Zoë' }],
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

describe("the gateway's own cookies", () => {
  const ticket = 'svc_ticket_urn%3Aexample=eyJ.a.b'
  const csrf = 'svc_csrf_com.example=c'
  const login = '__Host-svc_oidc_1=s'

  it.each<[string, readonly string[], string | undefined]>([
    ['none of them', [' a=1;b="2;3" ;; c'], ' a=1;b="2;3" ;; c'],
    ['one alone', [ticket], undefined],
    ['all of them', [`${ticket}; ${csrf};${login}; ;`], undefined],
    ['the first', [`${ticket};  a=1;b`], 'a=1;b'],
    ['one between', [`a=1;${csrf};b=2 ; ${login}; c`], 'a=1;b=2 ; c'],
    ['the last', [`a="x" ; ${login}`], 'a="x" '],
    ['of several lines', [`${ticket}; a=1`, csrf, `b=2; ${login}`], 'a=1; b=2'],
    ['that stand in no line alone', [ticket, csrf], undefined],
    ['behind blanks', [`a=1; \t ${ticket}`], 'a=1'],
    ['of a realm without a name', ['svc_ticket_=x; svc_csrf_=y; b'], 'b'],
    [
      'names that only look like them',
      ['xsvc_ticket_a=1; svc_tickets=2; a=svc_ticket_x=1'],
      'xsvc_ticket_a=1; svc_tickets=2; a=svc_ticket_x=1',
    ],
  ])('are invisible to documents: %s', (_, lines, cookie) => {
    const map = requestHeaderMap(lines.flatMap((line) => ['Cookie', line]))
    expect(map).toEqual(cookie === undefined ? {} : { cookie })
    expect(Object.hasOwn(map, 'cookie')).toBe(cookie !== undefined)
  })

  it.each([ticket, csrf, login])('go to no upstream with the rest, which stays: %s', (own) => {
    expect(fromClient(['cookie', `a=1;${own};b=2 ;c`], [])).toEqual(['cookie', 'a=1;b=2 ;c'])
  })
})

it('names of a request are in lower case, and spellings of a name one header', () => {
  expect(requestHeaderMap(['X-A', '1', 'x-a', '2', 'lonely'])).toEqual({ 'x-a': '1, 2' })
})
