// What `cors` of a document compiles to, and what is refused or warned of at load.

import { describe, expect, it } from '@jest/globals'
import { compiled, compiledGet, type Parts, problemsOf } from '../documents.ts'

const A = 'https://a.test'
const STATIC = { action: { type: 'static', body: 'x' } }

const withCors = (cors: unknown, more: object = {}): Parts => ({
  paths: { '/x': { cors, get: { ...STATIC, ...more } } },
})

describe('cors', () => {
  it('compiles to what is known when the document is loaded', () => {
    const parts = withCors({
      origins: ['{{variables.origin}}', 'HTTPS://*.Shop.test:8443'],
      allowed_methods: ['get', 'PUT'],
      allowed_headers: ['X-A'],
      exposed_headers: ['Location'],
      credentials: true,
      max_age_seconds: 5,
    })
    expect(compiledGet({ ...parts, api: { variables: { origin: A } } }).cors).toEqual({
      origins: [
        { scheme: 'https', host: 'a.test', port: '', isWildcard: false },
        { scheme: 'https', host: 'shop.test', port: '8443', isWildcard: true },
      ],
      methods: ['GET', 'PUT'],
      headers: ['x-a'],
      exposed: ['location'],
      credentials: true,
      maxAgeSeconds: 5,
    })
  })

  it.each<[string, Parts]>([
    ['where nothing is set', { paths: { '/x': { get: STATIC } } }],
    [
      'where false is nearest',
      { ...withCors(false), api: { defaults: { cors: { origins: [A] } } } },
    ],
    ['where the operation says false', withCors({ origins: [A] }, { cors: false })],
  ])('is left out %s', (_, parts) => {
    expect(compiledGet(parts)).not.toHaveProperty('cors')
  })

  it.each<[string, unknown, string, string]>([
    ['true', true, 'invalid_datatype', ''],
    ['no origins', {}, 'missing_required_value', '/origins'],
    ['an empty list of them', { origins: [] }, 'invalid_value', '/origins'],
    ['null', { origins: [A, 'null'] }, 'invalid_value', '/origins/1'],
    [
      'every origin with credentials',
      { origins: ['*'], credentials: true },
      'invalid_value',
      '/origins',
    ],
    ['every origin and another', { origins: ['*', A] }, 'invalid_value', '/origins'],
    ['a path', { origins: [`${A}/x`] }, 'invalid_value', '/origins/0'],
    ['a wildcard of a top domain', { origins: ['https://*.test'] }, 'invalid_value', '/origins/0'],
    [
      'a method that is none',
      { origins: [A], allowed_methods: ['GTE'] },
      'invalid_value',
      '/allowed_methods/0',
    ],
    [
      'a header that is none',
      { origins: [A], allowed_headers: ['a b'] },
      'invalid_value',
      '/allowed_headers/0',
    ],
    [
      'every exposed header with credentials',
      { origins: [A], exposed_headers: ['*'], credentials: true },
      'invalid_value',
      '/exposed_headers',
    ],
    [
      'a text for credentials',
      { origins: [A], credentials: 5 },
      'invalid_datatype',
      '/credentials',
    ],
    [
      'an age beyond a day',
      { origins: [A], max_age_seconds: 86_401 },
      'invalid_value',
      '/max_age_seconds',
    ],
    [
      'what waits for the request',
      { origins: ['{{request.headers.origin}}'] },
      'invalid_value',
      '',
    ],
  ])('is refused with %s', (_, cors, code, place) => {
    expect(problemsOf(withCors(cors))).toMatchObject([
      { code, path: `/versions/v1/paths/~1x/cors${place}` },
    ])
  })

  const BY_HAND = { headers: { 'Access-Control-Allow-Origin': '*', 'x-a': 'b' } }

  it.each<[string, Parts, readonly string[]]>([
    [
      'defaults',
      { ...withCors({ origins: [A] }), api: { defaults: BY_HAND } },
      ['/defaults/headers/Access-Control-Allow-Origin'],
    ],
    [
      'a response',
      withCors({ origins: [A] }, { response: { on_result: BY_HAND, on_error: BY_HAND } }),
      ['on_result', 'on_error'].map(
        (side) => `/versions/v1/paths/~1x/get/response/${side}/headers/Access-Control-Allow-Origin`,
      ),
    ],
    [
      'refusals',
      {
        ...withCors({ origins: [A] }),
        api: { defaults: { on_refusal: BY_HAND } },
        version: { defaults: { cors: { origins: [A] } } },
      },
      ['/defaults/on_refusal/headers/Access-Control-Allow-Origin'],
    ],
    [
      'refusals of a path whose operation has cors',
      {
        paths: { '/x': { on_refusal: BY_HAND, get: { ...STATIC, cors: { origins: [A] } } } },
      },
      ['/versions/v1/paths/~1x/on_refusal/headers/Access-Control-Allow-Origin'],
    ],
    [
      'refusals without cors',
      { ...withCors(false), api: { defaults: { on_refusal: BY_HAND } } },
      [],
    ],
    ['defaults without cors', { ...withCors(false), api: { defaults: BY_HAND } }, []],
  ])('warns of CORS headers by hand beside it, in %s', (_, parts, places) => {
    const warnings = compiled(parts).warnings.filter(({ message }) => message.includes('cors'))
    expect(warnings.map(({ path }) => path)).toEqual(places)
  })
})
