// What `schema` of a document compiles to, entry by entry, and what is refused at load.

import { describe, expect, it } from '@jest/globals'
import type { Value, ValueMap } from '../../../language/expression/value.ts'
import { compiled, compiledGet, type Parts, problemsOf } from '../documents.ts'

const STATIC = { action: { type: 'static', body: 'x' } }
const FORWARD = { action: { type: 'forward', host: 'http://a' } }
const ORDER: ValueMap = { type: 'object', properties: { sku: { type: 'string' } } }

const withSchema = (schema: unknown, more: Omit<Parts, 'paths'> = {}): Parts => ({
  ...more,
  paths: { '/x': { get: { ...STATIC, schema } } },
})

describe('schema', () => {
  it('is inherited entry by entry, and the nearest level wins', () => {
    const { schema } = compiledGet({
      api: { defaults: { schema: { headers: { minProperties: 1 }, body: false } } },
      version: { defaults: { schema: { body: true, bindings: { maxProperties: 1 } } } },
      paths: {
        '/x': {
          defaults: { schema: { bindings: { maxProperties: 2 } } },
          schema: { query_params: { maxProperties: 3 } },
          get: { ...STATIC, schema: { query_params: { maxProperties: 4 } } },
        },
      },
    })
    expect(schema).toEqual({
      headers: { minProperties: 1 },
      body: true,
      bindings: { maxProperties: 2 },
      query_params: { maxProperties: 4 },
    })
  })

  it.each<[string, unknown]>([
    ['a variable', { body: '{{variables.order}}' }],
    ['a variable that is the whole', '{{variables.schemas}}'],
    ['a variable within', { body: { type: 'object', properties: '{{variables.members}}' } }],
  ])('may be given by %s', (_title, schema) => {
    const variables = {
      order: ORDER,
      schemas: { body: '{{variables.order}}' },
      members: ORDER['properties'] as Value,
    }
    expect(compiledGet(withSchema(schema, { api: { variables } })).schema).toEqual({ body: ORDER })
  })

  it('makes the operation read what it describes', () => {
    const schema = { body: true, query_params: true, bindings: true, headers: true }
    expect(compiledGet(withSchema(schema)).reads).toEqual([
      'request.bindings',
      'request.body',
      'request.headers',
      'request.query_params',
    ])
  })

  it('of a result is enforced where the nearest level says so, and reads nothing of the request', () => {
    const get = { ...FORWARD, schema: { result: true }, schema_mode: 'enforce' }
    const defaults = { schema_mode: 'report' }
    const { schema, reads } = compiledGet({ paths: { '/x': { defaults, get } } })
    expect(schema).toEqual({ result: true, isEnforced: true })
    expect(reads).toEqual(['request.path', 'request.query_string'])
  })

  it.each(['report', 'enforce'])('without a result has no mode, as %s describes none', (mode) => {
    const get = { ...FORWARD, schema: { query_params: true }, schema_mode: mode }
    expect(compiledGet({ paths: { '/x': { get } } }).schema).toEqual({ query_params: true })
  })

  it.each<[string, object, boolean]>([
    ['a WAMP call', { type: 'wamp_call', procedure: 'com.a' }, true],
    ['a forward', { type: 'forward', host: 'http://a' }, true],
    ['a subscription', { type: 'wamp_subscribe', topic: 'com.a' }, false],
    ['a WebSocket', { type: 'forward', host: 'http://a', upgrade: ['websocket'] }, false],
  ])('of a result is enforced of what has an end: %s', (_title, action, loads) => {
    const get = { action, schema: { result: true } }
    const problems = (mode: string) =>
      problemsOf({ paths: { '/x': { schema_mode: mode, get } } }).map(({ path }) => path)
    expect(problems('report')).toEqual([])
    expect(problems('enforce')).toEqual(loads ? [] : ['/versions/v1/paths/~1x/schema_mode'])
  })

  it('has no other modes', () => {
    const get = { ...FORWARD, schema: { result: true }, schema_mode: 'strict' }
    expect(problemsOf({ paths: { '/x': { get } } })).toEqual([
      expect.objectContaining({ path: '/versions/v1/paths/~1x/get/schema_mode' }),
    ])
  })

  it('is left out where nothing is set', () => {
    expect(compiledGet({})).not.toHaveProperty('schema')
  })

  it.each<[string, unknown, string, string]>([
    ['no map', 1, 'invalid_datatype', '/schema'],
    ['an entry that there is not', { queryparams: {} }, 'invalid_value', '/schema/queryparams'],
    ['what is no schema', { body: [] }, 'invalid_datatype', '/schema/body'],
    ['an unknown keyword', { body: { requred: ['a'] } }, 'invalid_value', '/schema/body/requred'],
    [
      'a schema that depends on the request',
      { body: { const: '{{request.method}}' } },
      'invalid_value',
      '/schema/body',
    ],
    [
      'too many schemas',
      { body: { allOf: Array.from({ length: 1001 }, () => ({})) } },
      'too_expensive',
      '/schema/body/allOf/999',
    ],
    [
      'the name of a header in upper case',
      { headers: { required: ['X-Id'] } },
      'invalid_value',
      '/schema/headers/required/0',
    ],
    [
      'the property of a header in upper case',
      { headers: { properties: { 'X-Id': true } } },
      'invalid_value',
      '/schema/headers/properties/X-Id',
    ],
  ])('is refused at load: %s', (_title, schema, code, place) => {
    const problems = problemsOf(withSchema(schema))
    expect(problems.map((each) => [each.code, each.path])).toContainEqual([
      code,
      `/versions/v1/paths/~1x/get${place}`,
    ])
  })

  it('names the schema that a variable has wrong, once for all that use it', () => {
    const variables = { order: { typ: 'object' } }
    const get = { ...STATIC, schema: { body: '{{variables.order}}' } }
    const problems = problemsOf({
      api: { variables },
      paths: { '/x': { get }, '/y': { get } },
    })
    expect(problems.map(({ path }) => path)).toEqual(['/variables/order/typ'])
  })

  it.each<[string, ValueMap]>([
    ['in an enumeration', { headers: { properties: { 'x-key': { const: '{{variables.key}}' } } } }],
    ['in a text', { body: { description: 'It is {{variables.key}}' } }],
    ['by another variable', { body: { enum: ['{{variables.other}}'] } }],
    ['by a function', { body: { const: '{{variables.key |> lower}}' } }],
  ])('is refused where it depends on a Secret: %s', (_title, schema) => {
    const api = { variables: { other: '{{variables.key}}' } }
    const problems = problemsOf(withSchema(schema, { api, secrets: { key: 'hidden' } }))
    const [problem] = problems
    expect(problem?.message).toContain('must not depend on the value of a Secret')
    expect(JSON.stringify(problems)).not.toContain('hidden')
  })

  it('loads beside a Secret that it does not depend on', () => {
    const get = { action: { type: 'static', body: '{{variables.key}}' }, schema: { body: ORDER } }
    expect(() => compiled({ paths: { '/x': { get } }, secrets: { key: 'hidden' } })).not.toThrow()
  })

  it.each(['get', 'head'])('of a body is warned of at %s, which has none', (method) => {
    const paths = { '/x': { schema: { body: ORDER }, [method]: STATIC } }
    expect(compiled({ paths }).warnings.map(({ code, path }) => [code, path])).toEqual([
      ['UnsuitableValue', '/versions/v1/paths/~1x/schema/body'],
    ])
  })

  it.each([
    ['schemas', 'schema'],
    ['schem', 'schema'],
    ['scheme', 'schemes'],
    ['schemess', 'schemes'],
  ])('%s is taken for a misspelling of %s', (name, meant) => {
    const paths = { '/x': { [name]: {}, get: STATIC } }
    expect(JSON.stringify(problemsOf({ paths }))).toContain(`did you mean '${meant}'?`)
  })

  it('does not take $schema for it, which is for editors', () => {
    const { warnings } = compiled({ api: { $schema: 'https://example.com/schema.json' } })
    expect(warnings.map(({ code }) => code)).toEqual(['UnknownProperty'])
  })
})
