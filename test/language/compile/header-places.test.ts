// Headers that a document writes have names without case, whatever the map has passed through before it stands where
// headers stand: variables, functions at load and for each request, defaults, and the packed form of the document.

import { describe, expect, it } from '@jest/globals'
import { toHeaderMap } from '../../../language/expression/header-map.ts'
import { evaluator } from '../../../language/expression/run.ts'
import type { Template } from '../../../language/expression/template.ts'
import type { Value, ValueMap } from '../../../language/expression/value.ts'
import { contextOf } from '../expression/scope-of.ts'
import { compiledGet } from '../documents.ts'

const request = {
  id: 'r1',
  method: 'get',
  headers: toHeaderMap({ cookie: 'c', 'x-user': 'admin' }),
  body: { h: { 'x-user': 'admin', 'X-USER': 'root', a: '1' }, k: 'one' },
}

const run = (template: Template | undefined): Value =>
  // As it comes out of a packed document.
  template === undefined ? null : evaluator(structuredClone(template))(contextOf({ request }))

const variables = {
  plain: { 'X-User': 'v', a: '1' },
  both: { 'x-user': 'v1', 'X-User': 'v2' },
  waiting: { 'X-User': '{{request.id}}', a: '1' },
  client: '{{request.headers}}',
  without: '{{variables.plain |> without([x-user])}}',
  with: '{{variables.plain |> with([x-user])}}',
  putTwice: '{{variables.both |> put(x-user, last)}}',
  merged: '{{variables.plain |> merge({{variables.both}}) |> put(x-USER, last)}}',
  late: '{{request.body.h |> without([X-User])}}',
  lateWaiting: '{{variables.waiting |> without([x-user])}}',
  sets: {
    one: '{{request.body.h |> without([x-User])}}',
    two: '{{variables.plain |> without([x-user])}}',
  },
  known: { one: '{{variables.plain |> without([x-user])}}' },
  list: ['{{request.body.h |> put(x-User, last)}}'],
}

const defaults = { headers: { 'X-User': 'd', 'Cache-Control': 'no-store', id: '{{request.id}}' } }

const ROWS: readonly (readonly [headers: Value, expected: ValueMap])[] = [
  ['{{request.headers |> put(X-User, ada)}}', { cookie: 'c', 'x-user': 'ada' }],
  ['{{variables.client |> put(X-User, ada)}}', { cookie: 'c', 'x-user': 'ada' }],
  ['{{variables.client |> without([Cookie, X-User])}}', {}],
  ['{{request.headers |> merge({{variables.plain}})}}', { cookie: 'c', 'x-user': 'v', a: '1' }],
  [
    '{{request.headers |> merge({{variables.plain}}, _)}}',
    { 'x-user': 'admin', a: '1', cookie: 'c' },
  ],
  ['{{variables.plain |> merge({{request.headers}})}}', { 'x-user': 'admin', a: '1', cookie: 'c' }],
  [
    '{{variables.waiting |> merge(_, {{request.headers}})}}',
    { 'x-user': 'admin', a: '1', cookie: 'c' },
  ],
  ['{{request.headers |> merge({{variables.waiting}})}}', { cookie: 'c', 'x-user': 'r1', a: '1' }],
  [
    '{{request.headers |> merge({{variables.without}})}}',
    { cookie: 'c', 'x-user': 'admin', a: '1' },
  ],
  ['{{variables.both}}', { 'x-user': 'v2' }],
  ['{{variables.plain |> without([x-user])}}', { a: '1' }],
  ['{{variables.without}}', { a: '1' }],
  ['{{variables.with}}', { 'x-user': 'v' }],
  ['{{variables.putTwice}}', { 'x-user': 'last' }],
  ['{{variables.merged}}', { 'x-user': 'last', a: '1' }],
  ['{{variables.putTwice |> put(b, {{request.id}})}}', { 'x-user': 'last', b: 'r1' }],
  ['{{variables.without |> put(b, {{request.id}}) |> without([B])}}', { a: '1' }],
  ['{{variables.late}}', { a: '1' }],
  ['{{variables.late |> put(X-User, ada) |> put(x-user, bob)}}', { a: '1', 'x-user': 'bob' }],
  ['{{variables.lateWaiting}}', { a: '1' }],
  ['{{variables.waiting |> put(x-user, ada)}}', { 'x-user': 'ada', a: '1' }],
  ['{{request.body.h |> put(X-User, ada) |> with([x-USER])}}', { 'x-user': 'ada' }],
  [
    '{{request.body.h |> merge({{request.body.h |> without([X-user])}}, _)}}',
    { a: '1', 'x-user': 'root' },
  ],
  ['{{request.body |> get(none, {{request.body.h |> without([X-User])}})}}', { a: '1' }],
  ['{{variables.sets |> get({{request.body.k}})}}', { a: '1' }],
  ['{{variables.sets |> get(none, {{variables.sets.two}})}}', { a: '1' }],
  ['{{variables.known |> get({{request.body.k}})}}', { a: '1' }],
  [
    '{{variables.known |> put(two, {{request.body.h |> without([x-User])}}) |> get(two)}}',
    { a: '1' },
  ],
  ['{{variables.list |> head}}', { 'x-user': 'last', a: '1' }],
  ['{{defaults.headers |> put(x-user, e) |> without([ID, cache-control])}}', { 'x-user': 'e' }],
  [
    '{{defaults.headers |> with([x-user]) |> merge({{request.headers}}, _)}}',
    { 'x-user': 'd', cookie: 'c' },
  ],
  ['{{defaults |> get(headers) |> with([x-user])}}', { 'x-user': 'd' }],
  [
    { 'X-A': '{{request.headers.X-User}}', 'x-b': '1' },
    { 'x-a': 'admin', 'x-b': '1' },
  ],
]

describe.each<[string, (headers: Value) => Template | undefined]>([
  [
    'a forward',
    (headers) => {
      const action = { type: 'forward', host: 'a', headers }
      const { action: made } = compiledGet(of({ get: { action } }))
      return made.type === 'forward' ? made.headers : undefined
    },
  ],
  [
    'a static action',
    (headers) => {
      const { action: made } = compiledGet(of({ get: { action: { type: 'static', headers } } }))
      return made.type === 'static' ? made.headers : undefined
    },
  ],
  [
    'on_result',
    (headers) => compiledGet(of(responding({ on_result: { headers } }))).onResult.headers,
  ],
  ['on_error', (headers) => compiledGet(of(responding({ on_error: { headers } }))).onError.headers],
  [
    'a path',
    (headers) => compiledGet(of({ headers, get: { action: { type: 'static' } } })).headers,
  ],
])('the headers of %s', (_of, headersOf) => {
  it.each(ROWS)('%j have each name once', (headers, expected) => {
    const value = run(headersOf(headers))
    expect(Object.entries(toHeaderMap(value as ValueMap)).sort()).toEqual(
      Object.entries(expected).sort(),
    )
  })
})

const of = (path: object) => ({ api: { variables, defaults }, paths: { '/x': path } })
const responding = (response: object) => ({ get: { action: { type: 'static' }, response } })

/** What the body of a static GET is. */
const bodyOf = (body: Value): Value => {
  const { action } = compiledGet(of({ get: { action: { type: 'static', body } } }))
  return action.type === 'static' ? run(action.body) : null
}

describe('a map that stands elsewhere', () => {
  it.each<[string, Value]>([
    ['{{variables.without}}', { 'X-User': 'v', a: '1' }],
    ['{{variables.putTwice}}', { 'x-user': 'last', 'X-User': 'v2' }],
    ['{{variables.late |> with([x-user])}}', { 'x-user': 'admin' }],
    ['{{variables.waiting |> get(x-user, none)}}', 'none'],
    ['{{variables.sets |> get({{request.body.k}}) |> size}}', 3],
  ])('%s has names with case', (body, expected) => {
    expect(bodyOf(body)).toEqual(expected)
  })

  it.each<[string, Value]>([
    ['{{defaults.headers.x-USER}}', 'd'],
    ['{{defaults.headers.ID}}', 'r1'],
    ['{{defaults.headers |> get(Id)}}', 'r1'],
    ['{{defaults.headers |> get({{request.headers |> get(none, CACHE-control)}})}}', 'no-store'],
    ['{{defaults |> get(headers) |> get(cache-control)}}', 'no-store'],
    ['{{defaults.headers |> without([x-USER, Id])}}', { 'cache-control': 'no-store' }],
    ['{{variables.plain |> merge({{defaults.headers}}) |> get(x-user)}}', 'd'],
    ['{{variables.client |> put(X-User, ada)}}', { cookie: 'c', 'x-user': 'ada' }],
  ])('%s is one of headers all the same', (body, expected) => {
    expect(bodyOf(body)).toEqual(expected)
  })
})

it('a level that adds to the default headers replaces them in any spelling', () => {
  const version = { defaults: { headers: '{{defaults.headers |> put(cache-control, private)}}' } }
  const { headers } = compiledGet({ api: { defaults }, version })
  expect(run(headers)).toEqual({ 'x-user': 'd', 'cache-control': 'private', id: 'r1' })
})
