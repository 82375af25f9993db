// Tests which requests of examples contradict the schemas of their operation, which is an error when the document is loaded.

import { describe, expect, it } from '@jest/globals'
import { compile } from '../../../language/compile.ts'
import { ANY_REALM, apiOf } from './an-api.ts'

const SCHEMA = {
  body: { type: 'object', required: ['sku'], properties: { sku: { type: 'string' } } },
  bindings: { properties: { id: { type: 'integer' } } },
  query_params: {
    properties: { limit: { type: 'integer' }, tags: { type: 'array' } },
    required: ['limit'],
  },
  headers: { properties: { 'x-trace': { minLength: 3 } }, required: ['x-other'] },
}
const action = { type: 'static', body: 'a' }
const EXAMPLES = '/versions/v1/paths/~1a~1:id/put/examples'

const problemsOf = (examples: object, operation: object = {}): readonly (readonly string[])[] => {
  const put = { action, schema: SCHEMA, examples, ...operation }
  const compilation = compile(apiOf({ '/a/:id': { put } }), ANY_REALM)
  return 'problems' in compilation
    ? compilation.problems.map(({ code, path, message }) => [
        code,
        path.replace(EXAMPLES, ''),
        /\((.*?)\)/.exec(message)?.[1] ?? message,
      ])
    : []
}

const problemsWith = (request: object, expected: object = {}): ReturnType<typeof problemsOf> =>
  problemsOf({ one: { request, expect: expected } })

describe('an example contradicts the schema of its operation by', () => {
  it.each<[string, object, string, string]>([
    ['a body that lacks a member', { body: {} }, '/body', 'required: sku'],
    ['a member of another type', { body: { sku: 1 } }, '/body/sku', 'type'],
    ['a body that is null', { body: null }, '/body', 'type'],
    ['a text for a number', { bindings: { id: 'a' } }, '/bindings/id', 'type'],
    ['a number that is none', { query_params: { limit: '01' } }, '/query_params/limit', 'type'],
    ['a parameter that is missing', { query_params: {} }, '/query_params', 'required: limit'],
    [
      'several values of what takes one',
      { query_params: { limit: [1, 2] } },
      '/query_params/limit',
      'duplicate',
    ],
    ['a header', { headers: { 'X-Trace': 'a' } }, '/headers/X-Trace', 'minLength'],
  ])('%s', (_, request, path, keyword) => {
    const problem = ['invalid_value', `/one/request${path}`, keyword]
    expect(problemsWith(request)).toEqual([problem])
    expect(problemsWith(request, { status_code: 200 })).toEqual([problem])
    expect(problemsWith(request, { status_code: 400 })).toEqual([])
  })
})

describe('an example does not contradict it', () => {
  it.each<[string, object]>([
    ['by a request that is valid', { body: { sku: 'a' }, bindings: { id: 7 } }],
    ['by texts that are read as the declared types', { query_params: { limit: '7', tags: 'a' } }],
    ['by what it leaves out', {}],
    ['by a header that it lacks', { headers: { 'x-trace': 'abc' } }],
    ['by a body that is sent as it is', { body: '{' }],
    ['where parameters stand in its path', { path: '/a/7?limit=1', query_params: {} }],
    ['by bindings beside those of its host', { host: 'a', bindings: { id: 'a' } }],
    ['where its method is another one', { method: 'GET', query_params: {} }],
  ])('%s', (_, request) => {
    expect(problemsWith(request)).toEqual([])
  })

  it.each([401, 404, 413, 422])('where it expects a refusal by %i', (status) => {
    expect(problemsWith({ body: {} }, { status_code: status })).toEqual([])
  })

  it('by a body whose media type a header decides', () => {
    const accepts = ['application/json', 'application/x-www-form-urlencoded']
    const document = apiOf({
      '/a': {
        accepts,
        put: {
          action,
          schema: { body: { required: ['sku'] } },
          examples: { one: { request: { body: {} }, expect: {} } },
        },
      },
    })
    expect(compile(document, ANY_REALM)).not.toHaveProperty('problems')
  })

  it('where the operation has no schema', () => {
    const examples = { one: { request: { body: {} }, expect: {} } }
    expect(problemsOf(examples, { schema: {} })).toEqual([])
  })
})

it('tells of no value that stands in an example', () => {
  const document = apiOf({
    '/a': {
      put: {
        action,
        schema: { body: { type: 'number' } },
        examples: { one: { request: { body: { name: 's3cr3t' } }, expect: {} } },
      },
    },
  })
  const compilation = compile(document, ANY_REALM)
  expect(compilation).toHaveProperty('problems.length', 1)
  expect(JSON.stringify(compilation)).not.toContain('s3cr3t')
})

it('stops where all examples together cost more than ten requests may', () => {
  const items = Array.from({ length: 30_000 }, () => 0)
  const one = { request: { body: [...items, 'a'] }, expect: {} }
  const examples = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`n${at}`, one]))
  const put = {
    action,
    schema: { body: { items: { allOf: [{ type: 'number' }, { minimum: 0 }] } } },
    examples,
  }
  const compilation = compile(apiOf({ '/a': { put } }), ANY_REALM)
  const { length } = 'problems' in compilation ? compilation.problems : []
  expect(length).toBeGreaterThan(10)
  expect(length).toBeLessThan(30)
})

it('stops where enough is wrong', () => {
  const one = { request: { body: Array.from({ length: 150 }, () => 'a') }, expect: {} }
  const put = {
    action,
    schema: { body: { items: { type: 'number' } } },
    examples: { one, two: one },
  }
  const compilation = compile(apiOf({ '/a': { put } }), ANY_REALM)
  expect(compilation).toHaveProperty('problems.length', 100)
})
