// Names in maps of headers are one whatever their case, in every function; names in other maps are not.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { isHeaderMap, toHeaderMap } from '../../../language/expression/header-map.ts'
import { placeAsHeaders } from '../../../language/expression/header-templates.ts'
import type { Template } from '../../../language/expression/template.ts'
import { evaluator } from '../../../language/expression/run.ts'
import { toJson } from '../../../language/expression/render.ts'
import type { Value, ValueMap } from '../../../language/expression/value.ts'
import { contextOf, folded } from './scope-of.ts'

const sent = toHeaderMap({ cookie: 'c', 'x-user': 'admin' })
const maps = { more: { 'X-User': 'ada', b: 1 }, sets: [{ 'X-User': 'ada' }] }

const valueOf = (expression: string): Value => {
  const { template, messages } = folded(expression, { variables: maps })
  expect(messages).toEqual([])
  const request = { method: 'get', headers: sent, body: { 'x-user': 'admin', h: {} } }
  return evaluator(template)(contextOf({ request }))
}

describe('a map of headers', () => {
  it('has each name once, in lower case: the last one that is written', () => {
    const map = { 'X-A': '1', b: '2', 'x-a': '3', ['__PROTO__']: '4' }
    expect(Object.entries(toHeaderMap(map))).toEqual([
      ['x-a', '3'],
      ['b', '2'],
      ['__proto__', '4'],
    ])
  })

  it('is itself a map of headers already', () => {
    expect(toHeaderMap(sent)).toBe(sent)
  })

  it('is a map like any other for those who write it', () => {
    expect(toJson(sent)).toBe('{"cookie":"c","x-user":"admin"}')
    expect(structuredClone(sent)).toEqual({ cookie: 'c', 'x-user': 'admin' })
    expect(Object.hasOwn(sent, 'constructor')).toBe(false)
    expect('toString' in sent).toBe(false)
  })
})

describe.each<[string, ValueMap]>([
  ['put(X-User, ada)', { cookie: 'c', 'x-user': 'ada' }],
  ['put(x-user, ada)', { cookie: 'c', 'x-user': 'ada' }],
  ['put(X-User, {{request.method}})', { cookie: 'c', 'x-user': 'get' }],
  [
    'put({{variables.sets |> head |> get(X-User)}}, 1)',
    { cookie: 'c', 'x-user': 'admin', ada: '1' },
  ],
  ['put(X-User, bob) |> put(x-user, ada)', { cookie: 'c', 'x-user': 'ada' }],
  ['put(x-user, bob) |> put(X-USER, ada)', { cookie: 'c', 'x-user': 'ada' }],
  ['merge({{variables.more}})', { cookie: 'c', 'x-user': 'ada', b: 1 }],
  ['merge(_, {{variables.more}})', { cookie: 'c', 'x-user': 'ada', b: 1 }],
  ['merge({{variables.more}}, _)', { 'x-user': 'admin', b: 1, cookie: 'c' }],
  ['merge({{variables.sets |> head}})', { cookie: 'c', 'x-user': 'ada' }],
  ['without([Cookie, X-User])', {}],
  ['without([cookie]) |> without([X-User])', {}],
  ['with([COOKIE])', { cookie: 'c' }],
  ['put(a, b) |> with([A]) |> put(X-User, 1) |> without([x-USER])', { a: 'b' }],
])('{{request.headers |> %s}}', (pipe, expected) => {
  it('finds names in any case', () => {
    const value = valueOf(`{{request.headers |> ${pipe}}}`)
    expect(Object.entries(value as ValueMap)).toEqual(Object.entries(expected))
    expect(isHeaderMap(value)).toBe(true)
  })
})

it('costs what a copy of a large map does, where a body is put among headers', () => {
  const { template } = folded('{{request.body |> put(a, b)}}')
  const body = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`k${at}`, at]))
  const costOf = (each: Template): number => {
    const context = contextOf({ request: { body: { ...body } }, work: 2 ** 25 })
    evaluator(each)(context)
    return 2 ** 25 - (context.work ?? 0)
  }
  expect(costOf(placeAsHeaders(template))).toBeGreaterThan(1.5 * costOf(template))
})

describe('reads of headers', () => {
  it.each<[string, Value]>([
    ['{{request.headers.X-User}}', 'admin'],
    ['{{request.headers |> get(X-USER)}}', 'admin'],
    ['{{request.headers |> get(X-Other, none)}}', 'none'],
    ['{{request |> get(headers) |> get(X-User)}}', 'admin'],
    ['{{variables.more |> merge({{request.headers}}) |> get(x-user)}}', 'admin'],
    ['{{variables.more |> get(x-user, {{request.headers.Cookie}})}}', 'c'],
    ['{{request.body |> put(h, {{request.headers}}) |> get(h) |> get(Cookie)}}', 'c'],
    ['{{variables.more |> get(no, {{request.headers}}) |> get(Cookie)}}', 'c'],
  ])('%s finds them in any case', (expression, expected) => {
    expect(valueOf(expression)).toBe(expected)
  })

  it.each<[string, Value]>([
    ['{{request.body |> get(X-User, none)}}', 'none'],
    ['{{request.body |> without([X-User]) |> size}}', 2],
    ['{{request.body |> put(X-User, ada) |> size}}', 3],
    ['{{variables.more |> get(x-user, none)}}', 'none'],
    ['{{variables.more |> merge({{request.body}}) |> size}}', 4],
  ])('%s of another map does not', (expression, expected) => {
    expect(valueOf(expression)).toEqual(expected)
  })
})

const NAMES = ['x-user', 'x_user', 'cookie', '__proto__', 'constructor']

const anyName = fc
  .tuple(fc.constantFrom(...NAMES), fc.boolean())
  .map(([name, isUpper]) => (isUpper ? name.toUpperCase() : name))

type Call = readonly ['put' | 'merge' | 'under' | 'with' | 'without', readonly string[]]

const anyCall: fc.Arbitrary<Call> = fc.tuple(
  fc.constantFrom('put', 'merge', 'under', 'with', 'without'),
  fc.uniqueArray(anyName, { minLength: 1, maxLength: 3 }),
)

/** Each call writes its own number. */
const written = ([call, names]: Call, number: number): string => {
  if (call === 'put') return `put('${names[0] ?? ''}', '${number}')`
  if (call === 'with' || call === 'without') return `${call}([${names.join(', ')}])`
  return `merge({{variables.m${number}}}${call === 'under' ? ', _' : ''})`
}

/** What a map of names in lower case becomes. `under`: the piped map wins. */
const applied = (map: ReadonlyMap<string, string>, [call, written]: Call, number: number) => {
  const names = (call === 'put' ? written.slice(0, 1) : written).map((name) => name.toLowerCase())
  const own = names.map((name) => [name, String(number)] as const)
  const isChosen = ([name]: readonly [string, string]) => names.includes(name) === (call === 'with')
  if (call === 'put' || call === 'merge') return new Map([...map, ...own])
  return call === 'under' ? new Map([...own, ...map]) : new Map([...map].filter(isChosen))
}

it('is changed by any functions as a map of names in lower case is', () => {
  fc.assert(
    fc.property(fc.array(anyCall, { maxLength: 6 }), (calls) => {
      const variables = Object.fromEntries(
        calls.map(([, names], number) => [
          `m${number}`,
          Object.fromEntries(names.map((name) => [name, String(number)])),
        ]),
      )
      const pipe = ['request.headers', ...calls.map(written)].join(' |> ')
      const { template, messages } = folded(`{{${pipe}}}`, { variables })
      expect(messages).toEqual([])
      const value = evaluator(template)(contextOf({ request: { headers: sent } }))
      const start = new Map(Object.entries(sent) as [string, string][])
      const expected = calls.reduce<ReadonlyMap<string, string>>(applied, start)
      expect(new Map(Object.entries(value as ValueMap))).toEqual(expected)
    }),
    { numRuns: 500 },
  )
})
