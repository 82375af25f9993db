import { describe, expect, it } from '@jest/globals'
import { foldDocument } from '../../../language/explain/fold-document.ts'
import { memberAt } from '../../../language/expression/members.ts'
import { isList, isMap, type Value, type ValueMap } from '../../../language/expression/value.ts'
import { describeVersion } from '../../../language/openapi/describe-version.ts'

const STATIC = { action: { type: 'static', body: 'text' } }

interface Given {
  readonly api?: ValueMap
  readonly version?: ValueMap
  readonly withheld?: readonly string[]
}

const describePaths = (
  paths: ValueMap,
  { api = {}, version = {}, withheld = [] }: Given = {},
): ValueMap => {
  const document = {
    id: 'com.a',
    host: '_',
    realm_uri: 'com.a',
    ...api,
    versions: { v1: { base_path: '/', ...version, paths } },
  }
  const folding = foldDocument(document, withheld)
  if ('problems' in folding) throw new Error(JSON.stringify(folding.problems))
  const { compiled } = folding
  const described = describeVersion(document, compiled, compiled.versions[0] as never, Infinity)
  if (described === undefined) throw new Error('it is too large')
  return described
}

/** @example at(described, 'paths', '/orders', 'get') */
const at = (value: Value, ...keys: readonly (string | number)[]): Value | undefined => {
  let current: Value | undefined = value
  for (const key of keys) {
    if (current === undefined) return undefined
    current = isList(current)
      ? current[Number(key)]
      : isMap(current)
        ? memberAt(current, String(key))
        : undefined
  }
  return current
}

const keysAt = (value: Value, ...keys: readonly string[]): readonly string[] =>
  Object.keys((at(value, ...keys) ?? {}) as ValueMap)

describe('paths', () => {
  it('are those of the document, without the description itself and its page', () => {
    const version = { base_path: '/v1', openapi: '/openapi.json', docs_page: '/docs' }
    const described = describePaths({ '/orders': { get: STATIC } }, { version })
    expect(keysAt(described, 'paths')).toEqual(['/v1/orders'])
  })

  it.each([
    ['/orders', '/', ['/orders']],
    ['/orders/:id', '/v1', ['/v1/orders/{id}']],
    ['/orders/[:id]', '/', ['/orders', '/orders/{id}']],
    ['/orders', '/[v1]', ['/orders', '/v1/orders']],
    ['/orders', '/:tenant', ['/{tenant}/orders']],
    ['/files/[...]', '/', ['/files', '/files/{rest}']],
    ['/files/[...path]', '/', ['/files', '/files/{path}']],
    ['/files/:rest/[...]', '/', ['/files/{rest}', '/files/{rest}/{rest_}']],
    ['/[...]', '/', ['/', '/{rest}']],
    ['/:name.json', '/', ['/{name}.json']],
    ['/:a,:b', '/', ['/{a},{b}']],
    ['/:_/x', '/', ['/{segment1}/x']],
    ['/documents:search', '/', ['/documents:search']],
    ['/a b/%7Bx%7D', '/', ['/a%20b/%7Bx%7D']],
  ])('%s below %s are %j', (path, basePath, expected) => {
    const described = describePaths(
      { [path]: { get: STATIC } },
      { version: { base_path: basePath } },
    )
    expect(keysAt(described, 'paths')).toEqual(expected)
  })

  it('have one entry where only the names of bindings differ', () => {
    const described = describePaths({
      '/a/:x': { get: STATIC },
      '/a/:y': { post: STATIC },
      '/a/[...z]': { get: STATIC, put: STATIC },
    })
    expect(keysAt(described, 'paths')).toEqual(['/a', '/a/{x}'])
    expect(keysAt(described, 'paths', '/a/{x}')).toEqual(['get', 'post', 'put'])
    expect(at(described, 'paths', '/a/{x}', 'post', 'parameters', 0, 'name')).toBe('x')
    const ofTail = at(described, 'paths', '/a/{x}', 'put', 'parameters', 0, 'description')
    expect(ofTail).toBe('The rest of the path: it may hold slashes.')
    expect(at(described, 'paths', '/a/{x}', 'get', 'parameters', 0, 'description')).toBeUndefined()
  })

  it('leave out of a tail what a path without one answers with 405', () => {
    const described = describePaths({
      '/files': { get: STATIC },
      '/files/[...]': { get: STATIC, post: STATIC },
    })
    expect(keysAt(described, 'paths', '/files')).toEqual(['get'])
  })

  it('do not depend on the order of the document', () => {
    const paths: readonly (readonly [string, ValueMap])[] = [
      ['/:b', { post: STATIC }],
      ['/[...rest]', { get: STATIC }],
      ['/:a', { get: STATIC }],
      ['/z-y', { get: STATIC }],
      ['/z_y', { get: STATIC }],
    ]
    const [first, second] = [paths, paths.toReversed()].map((each) =>
      JSON.stringify(describePaths(Object.fromEntries(each))),
    )
    expect(second).toBe(first)
  })
})

describe('operation ids', () => {
  const idsOf = (paths: readonly string[]): readonly (readonly [string, Value | undefined])[] => {
    const described = describePaths(
      Object.fromEntries(paths.map((path) => [path, { get: STATIC }])),
    )
    return keysAt(described, 'paths').map((path) => [
      path,
      at(described, 'paths', path, 'get', 'operationId'),
    ])
  }

  it('are made of method and path', () => {
    expect(idsOf(['/orders/:id', '/order-items/:id.json'])).toEqual([
      ['/order-items/{id}.json', 'get_order_items_by_id_json'],
      ['/orders/{id}', 'get_orders_by_id'],
    ])
  })

  it('stay for the path without punctuation where others have the same words', () => {
    expect(idsOf(['/a/b', '/a-b', '/a_b', '/a/:id', '/a/by/id'])).toEqual([
      ['/a-b', 'get_a_b_f79c7246'],
      ['/a/b', 'get_a_b'],
      ['/a/by/id', 'get_a_by_id_7a96acfd'],
      ['/a/{id}', 'get_a_by_id'],
      ['/a_b', 'get_a_b_20b5c07c'],
    ])
  })
})

describe('what a client sends', () => {
  it.each<[string, ValueMap, Value]>([
    ['/a', { q: '{{request.query_params.q}}' }, [{ name: 'q', in: 'query' }]],
    ['/a', { q: '{{request.headers.X-Trace}}' }, [{ name: 'x-trace', in: 'header' }]],
    ['/a', { q: '{{request.headers.authorization}}{{request.headers.accept}}' }, []],
    ['/a', { q: '{{request.query_params}}' }, []],
    [
      '/:id',
      { a: '{{request.query_params.a |> string}}', b: '{{request.query_params.a}}' },
      [
        { name: 'id', in: 'path', required: true },
        { name: 'a', in: 'query' },
      ],
    ],
  ])('parameters of %s with %j are %j', (path, body, expected) => {
    const described = describePaths({ [path]: { get: { action: { type: 'static', body } } } })
    const operation = at(described, 'paths', path.replace(':id', '{id}'), 'get') ?? {}
    const shown = ((at(operation, 'parameters') ?? []) as readonly ValueMap[]).map(
      ({ schema, ...parameter }) => {
        expect(schema).toEqual({ type: 'string' })
        return parameter
      },
    )
    expect(shown).toEqual(expected)
  })

  const FORWARD = { type: 'forward', host: 'http://a' }
  const READS = { type: 'static', body: '{{request.body}}' }
  it.each<[string, ValueMap, ValueMap, readonly string[] | undefined]>([
    ['post', FORWARD, {}, ['*/*']],
    ['post', READS, {}, ['application/json', 'application/msgpack']],
    ['put', READS, { accepts: ['text/plain'] }, ['text/plain']],
    ['delete', READS, {}, ['application/json', 'application/msgpack']],
    ['get', FORWARD, {}, undefined],
    ['post', { type: 'static', body: 'x' }, {}, undefined],
  ])('the body of %s with %j and %j is %j', (method, action, path, expected) => {
    const described = describePaths({ '/a': { ...path, [method]: { action } } })
    const body = at(described, 'paths', '/a', method, 'requestBody')
    expect(body === undefined ? undefined : keysAt(body, 'content')).toEqual(expected)
  })
})

describe('responses', () => {
  const statuses = (method: string, operation: ValueMap, path: ValueMap = {}): ValueMap => {
    const described = describePaths({ '/a': { ...path, [method]: operation } })
    const responses = at(described, 'paths', '/a', method, 'responses') as ValueMap
    return Object.fromEntries(
      Object.entries(responses).map(([status, response]) => [
        status,
        at(response, '$ref') ?? keysAt(response, 'content'),
      ]),
    )
  }
  const ref = (name: string): string => `#/components/responses/${name}`
  const TYPES = ['application/json', 'application/msgpack']
  const ALWAYS = { 406: ref('NotAcceptable'), default: ref('Failure') }
  const OF_BODY = { 413: ref('ContentTooLarge'), 415: ref('UnsupportedMediaType') }

  it.each<[string, string, ValueMap, ValueMap]>([
    ['a static text', 'get', STATIC, { 200: TYPES, ...ALWAYS }],
    ['nothing', 'get', { action: { type: 'static' } }, { 200: [], ...ALWAYS }],
    ['nothing', 'post', { action: { type: 'static' } }, { 204: [], ...OF_BODY, ...ALWAYS }],
    [
      'a type of its own',
      'get',
      { action: { type: 'static', headers: { 'Content-Type': 'text/html' }, body: '<p>' } },
      { 200: ['text/html'], ...ALWAYS },
    ],
    [
      'a status of its own',
      'post',
      { ...STATIC, response: { on_result: { status_code: '202' } } },
      { 202: TYPES, ...OF_BODY, ...ALWAYS },
    ],
    [
      'a status without a body',
      'put',
      { ...STATIC, response: { on_result: { status_code: 204, body: 'x' } } },
      { 204: [], ...OF_BODY, ...ALWAYS },
    ],
    [
      'a Location',
      'post',
      { ...STATIC, response: { on_result: { uri: '/a/{{request.id}}', body: { a: 1 } } } },
      { 201: TYPES, 200: TYPES, ...OF_BODY, ...ALWAYS },
    ],
    [
      'a forward',
      'get',
      { action: { type: 'forward', host: 'http://a' } },
      { '2XX': ['*/*'], default: [...TYPES, 'application/problem+json', '*/*'] },
    ],
    [
      'a call whose errors are 418',
      'get',
      {
        action: { type: 'wamp_call', procedure: 'com.a' },
        response: { on_error: { status_code: 418, body: { a: 1 } } },
      },
      { 200: TYPES, 418: TYPES, ...ALWAYS },
    ],
    [
      'events',
      'get',
      { action: { type: 'wamp_subscribe', topic: 'com.a' } },
      { 200: ['text/event-stream'], ...ALWAYS },
    ],
  ])('of %s to %s', (_, method, operation, expected) => {
    expect(statuses(method, operation)).toEqual(expected)
  })

  it('have the refusals in the words of the document', () => {
    const worded = { on_refusal: { body: { no: '{{refusal.code}}' } } }
    expect(statuses('get', STATIC, worded)).toEqual({ ...ALWAYS, 200: TYPES, 406: ['*/*'] })
  })

  it('have no body where the request is HEAD', () => {
    expect(statuses('head', STATIC)).toEqual({ 200: [], ...ALWAYS })
  })

  it('of a delivery that was signed and taken are 409', () => {
    const security = { security: { type: 'hmac', signature: 'partner' } }
    expect(statuses('post', STATIC, security)).toMatchObject({ 409: ref('Conflict') })
    expect(statuses('options', STATIC, security)).not.toHaveProperty('409')
    expect(statuses('post', STATIC, { security: { type: 'basic' } })).not.toHaveProperty('409')
  })

  it('of a wrong caller are 401 and 403, never to OPTIONS', () => {
    const security = { security: { type: 'basic', groups: ['staff'] } }
    expect(statuses('get', STATIC, security)).toMatchObject({
      401: ref('Unauthorized'),
      403: ref('Forbidden'),
    })
    expect(statuses('options', STATIC, security)).not.toHaveProperty('401')
  })

  describe('of an operation with rate limits', () => {
    const LIMITED = { rate_limits: { fair: { requests: 10, seconds: 60 } } }
    const fieldsOf = (path: ValueMap, method = 'get'): readonly string[] | undefined => {
      const described = describePaths({ '/a': { ...path, [method]: STATIC } })
      const response = at(described, 'paths', '/a', method, 'responses', '429')
      if (response === undefined) return undefined
      const isShared = at(response, '$ref') === ref('TooManyRequests')
      return keysAt(
        isShared ? (at(described, 'components', 'responses', 'TooManyRequests') ?? {}) : response,
        'headers',
      )
    }
    const FIELDS = ['Retry-After', 'RateLimit-Policy', 'RateLimit']

    it.each<[string, ValueMap, readonly string[] | undefined]>([
      ['have 429 with what is left', LIMITED, FIELDS],
      [
        'have it in the words of the document, too',
        { ...LIMITED, on_refusal: { body: 'no' } },
        FIELDS,
      ],
      [
        'leave out the fields that the document turns off',
        { ...LIMITED, rate_limit_headers: false },
        ['Retry-After'],
      ],
      ['have none where there is no limit', {}, undefined],
    ])('%s', (_, path, fields) => {
      expect(fieldsOf(path)).toEqual(fields)
    })

    it('have none for OPTIONS, which is not counted', () => {
      expect(fieldsOf(LIMITED, 'options')).toBeUndefined()
    })
  })
})

describe('schemas', () => {
  const describeWith = (schema: ValueMap): ValueMap =>
    describePaths({
      '/a/:id': {
        schema,
        security: { type: 'api_key', header_name: 'x-key' },
        post: { action: { type: 'static', body: '{{request.query_params.a}}' } },
      },
    })

  it('are those of body, path, query and headers', () => {
    const described = describeWith({
      body: { type: 'object', required: ['sku'] },
      bindings: { properties: { id: { type: 'integer' } } },
      query_params: { properties: { b: { type: 'boolean' } }, required: ['b'] },
      headers: { properties: { 'x-trace': { minLength: 3 }, 'x-key': true, accept: true } },
    })
    const post = at(described, 'paths', '/a/{id}', 'post') ?? {}
    expect(at(post, 'parameters')).toEqual([
      { name: 'id', in: 'path', required: true, schema: { type: 'integer' } },
      { name: 'a', in: 'query', schema: { type: 'string' } },
      { name: 'b', in: 'query', required: true, schema: { type: 'boolean' } },
      { name: 'x-trace', in: 'header', schema: { minLength: 3 } },
    ])
    const media = { schema: { type: 'object', required: ['sku'] } }
    expect(at(post, 'requestBody')).toEqual({
      required: true,
      content: { 'application/json': media, 'application/msgpack': media },
    })
    expect(at(post, 'responses', '400', '$ref')).toBe('#/components/responses/InvalidData')
  })

  it.each(['query_params', 'bindings', 'headers'])('of %s alone may refuse with 400', (entry) => {
    const { paths = {} } = describePaths({ '/a/:id': { schema: { [entry]: {} }, get: STATIC } })
    expect(at(paths, '/a/{id}', 'get', 'responses')).toHaveProperty('400')
  })

  const RESULT = {
    properties: {
      status_code: { const: 201 },
      body: {
        type: 'object',
        properties: { id: { type: 'integer' }, next: { $ref: '#/$defs/a' } },
      },
    },
    $defs: { a: { type: 'string' } },
  }
  const REF = '#/components/schemas/get_a_result/properties/body'
  const ID = { type: 'integer' }
  const FORWARD = { type: 'forward', host: 'http://a' }
  const CALL = { type: 'wamp_call', procedure: 'com.a' }

  it.each<[string, ValueMap, ValueMap, Readonly<Record<string, Value>>]>([
    ['what passes through', RESULT, { action: FORWARD }, { 201: { $ref: REF } }],
    [
      'what passes through with any status',
      { properties: { body: ID } },
      { action: FORWARD },
      { '2XX': ID },
    ],
    [
      'a member of it',
      RESULT,
      { action: FORWARD, response: { on_result: { body: '{{action.result.body.id}}' } } },
      { 201: ID },
    ],
    [
      'a map of members',
      RESULT,
      {
        action: FORWARD,
        response: { on_result: { body: { got: '{{action.result.body.id}}', is: 'x' } } },
      },
      { 201: { type: 'object', properties: { got: ID } } },
    ],
    [
      'the result of a procedure',
      { properties: { args: { type: 'array' } } },
      { action: CALL },
      { 200: { properties: { args: { type: 'array' } } } },
    ],
  ])('of results describe %s', (_, result, operation, expected) => {
    const { paths = {} } = describePaths({ '/a': { schema: { result }, get: operation } })
    const [status = ''] = Object.keys(expected)
    const content = at(paths, '/a', 'get', 'responses', status, 'content') as ValueMap
    expect(Object.values(content)[0]).toEqual({ schema: expected[status] })
  })

  it.each<[string, ValueMap, ValueMap, string]>([
    ['502', {}, {}, 'application/json'],
    [
      'the status of the document',
      {},
      { status_codes: { 'svc.error.invalid_result': 500 } },
      'application/json',
    ],
    [
      'the type of on_error',
      { on_error: { headers: { 'content-type': 'text/plain' }, body: 'no' } },
      {},
      'text/plain',
    ],
  ])('of results that are enforced may end in %s', (_, response, api, type) => {
    const { paths = {} } = describePaths(
      {
        '/a': {
          schema: { result: RESULT },
          schema_mode: 'enforce',
          get: { action: FORWARD, ...(Object.keys(response).length > 0 && { response }) },
        },
      },
      { api },
    )
    const status = api['status_codes'] === undefined ? '502' : '500'
    expect(keysAt(paths, '/a', 'get', 'responses', status, 'content')).toContain(type)
  })

  it('of results that are reported end in no error', () => {
    const { paths = {} } = describePaths({
      '/a': { schema: { result: RESULT }, get: { action: FORWARD } },
    })
    expect(keysAt(paths, '/a', 'get', 'responses')).toEqual(['201', 'default'])
  })

  it('have all errors of a request in the record', () => {
    const described = describeWith({ body: true })
    expect(
      at(
        described,
        'components',
        'schemas',
        'InvalidData',
        'allOf',
        1,
        'properties',
        'errors',
        'items',
        'required',
      ),
    ).toEqual(['in', 'pointer', 'keyword'])
  })

  it('are components where they refer to themselves, and data stays as it is', () => {
    const body = {
      $ref: '#/$defs/node',
      $defs: {
        node: {
          type: 'object',
          properties: { const: { $ref: '#' }, b: { const: { $ref: '#' } } },
        },
      },
    }
    const described = describeWith({ body })
    const base = '#/components/schemas/post_a_by_id_body'
    expect(
      at(described, 'paths', '/a/{id}', 'post', 'requestBody', 'content', 'application/json'),
    ).toEqual({ schema: { $ref: base } })
    expect(at(described, 'components', 'schemas', 'post_a_by_id_body')).toEqual({
      allOf: [{ $ref: `${base}/$defs/node` }],
      $defs: {
        node: {
          type: 'object',
          properties: { const: { $ref: base }, b: { const: { $ref: '#' } } },
        },
      },
    })
  })
})

describe('examples', () => {
  const EXAMPLES = {
    good: {
      request: { body: { a: 1 }, as: { authid: 'hush' } },
      given: { body: 'hush' },
      expect: { status_code: 201, body: { b: 2 } },
    },
    bad: { request: { body: 'no' }, expect: { status_code: 400, body: { code: 'x' } } },
    silent: { expect: { sent: false } },
  }
  const bodies = { good: { value: { a: 1 } }, bad: { value: 'no' } }

  it('have the bodies of requests, and of responses by their status', () => {
    const operation = {
      action: { type: 'static', body: '{{request.body}}' },
      response: { on_result: { status_code: 201 } },
      examples: EXAMPLES,
    }
    const described = describePaths({ '/a': { post: operation } })
    const post = at(described, 'paths', '/a', 'post') ?? {}
    expect(at(post, 'requestBody', 'content')).toEqual({
      'application/json': { examples: bodies },
      'application/msgpack': {},
    })
    expect(at(post, 'responses', '201', 'content')).toEqual({
      'application/json': { examples: { good: { value: { b: 2 } } } },
      'application/msgpack': {},
    })
    expect(at(post, 'responses', '400')).toEqual({ $ref: '#/components/responses/BadRequest' })
    expect(JSON.stringify(described)).not.toContain('hush')
  })

  it('stand at any type where an upstream decides it', () => {
    const operation = { action: { type: 'forward', host: 'http://a' }, examples: EXAMPLES }
    const post = at(describePaths({ '/a': { post: operation } }), 'paths', '/a', 'post') ?? {}
    expect(at(post, 'requestBody', 'content')).toEqual({ '*/*': { examples: bodies } })
    expect(at(post, 'responses', '2XX', 'content')).toEqual({
      '*/*': { examples: { good: { value: { b: 2 } } } },
    })
  })
})

describe('security', () => {
  it.each<[Value, Value, ValueMap]>([
    [{}, [], {}],
    [{ networks: ['10.0.0.0/8'] }, [], {}],
    [
      { type: 'basic', groups: ['a'] },
      [{ basic: [] }],
      { basic: { type: 'http', scheme: 'basic' } },
    ],
    [
      { type: 'api_key', header_name: 'X-Key' },
      [{ api_key: [] }],
      { api_key: { type: 'apiKey', in: 'header', name: 'x-key' } },
    ],
    [
      { type: 'oauth2', flow: 'client_credentials', scopes: ['b', 'a'] },
      [{ oauth2: ['b', 'a'] }],
      {
        oauth2: {
          type: 'oauth2',
          flows: { clientCredentials: { tokenUrl: '/oauth/token', scopes: { a: '', b: '' } } },
        },
      },
    ],
    [
      { type: 'oauth2', flow: 'implicit', scopes: ['a'] },
      [{ oauth2: [] }],
      {
        oauth2: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'An access token.',
        },
      },
    ],
    [[{ type: 'basic' }, {}], [{ basic: [] }, {}], { basic: { type: 'http', scheme: 'basic' } }],
  ])('%j is %j', (security, expected, schemes) => {
    const paths = { '/a': { security: security as ValueMap, get: STATIC, options: STATIC } }
    const described = describePaths(paths, { version: { base_path: '/[v1]' } })
    expect(at(described, 'paths', '/v1/a', 'get', 'security')).toEqual(expected)
    expect(at(described, 'paths', '/v1/a', 'options', 'security')).toEqual([])
    expect(at(described, 'components', 'securitySchemes') ?? {}).toEqual(schemes)
  })

  it('has a name of its own for each header of keys', () => {
    const key = (name: string): ValueMap => ({
      security: { type: 'api_key', header_name: name },
      get: STATIC,
    })
    const described = describePaths({ '/a': key('x-a'), '/b': key('x-b') })
    expect(keysAt(described, 'components', 'securitySchemes')).toEqual(['api_key', 'api_key_x-b'])
  })
})

describe('the document itself', () => {
  it.each<[string, readonly Value[]]>([
    ['_', [{ url: '/' }]],
    ['api.acme.com', [{ url: 'https://api.acme.com' }]],
    ['[www.]acme.com', [{ url: 'https://www.acme.com' }, { url: 'https://acme.com' }]],
    [
      ':tenant.acme.com',
      [{ url: 'https://{tenant}.acme.com', variables: { tenant: { default: 'tenant' } } }],
    ],
    [
      ':_.acme.com',
      [{ url: 'https://{label1}.acme.com', variables: { label1: { default: 'label1' } } }],
    ],
    ['[...].acme.com', [{ url: 'https://acme.com' }]],
  ])('names the servers of %s', (host, servers) => {
    const described = describePaths({ '/a': { get: STATIC } }, { api: { host } })
    expect(at(described, 'servers')).toEqual(servers)
  })

  it('names servers by http where nothing else is served', () => {
    const given = { api: { host: 'a.test' }, version: { defaults: { schemes: ['http'] } } }
    const described = describePaths({ '/a': { get: STATIC } }, given)
    expect(at(described, 'servers')).toEqual([{ url: 'http://a.test' }])
  })

  it('has the words for people, and marks what is deprecated', () => {
    const described = describePaths(
      { '/a': { summary: 'A', description: 'All', get: STATIC, put: { ...STATIC, info: 'Put' } } },
      {
        api: { name: 'Orders' },
        version: {
          is_deprecated: true,
          info: { version: '1.2', contact: { url: 'no', name: 'N' }, license: { url: 'x' } },
        },
      },
    )
    expect(at(described, 'info')).toEqual({
      title: 'Orders',
      version: '1.2',
      contact: { name: 'N' },
    })
    expect(at(described, 'paths', '/a', 'get')).toMatchObject({
      summary: 'A',
      description: 'All',
      deprecated: true,
    })
    expect(at(described, 'paths', '/a', 'put', 'summary')).toBe('Put')
  })

  it('says nothing of upstreams, procedures, groups, networks and values of variables', () => {
    const text = JSON.stringify(
      describePaths(
        {
          '/a': {
            security: { type: 'basic', groups: ['hush-group'], networks: ['10.99.0.0/16'] },
            get: { action: { type: 'forward', host: 'http://hush-upstream' } },
            post: { action: { type: 'wamp_call', procedure: 'com.hush.procedure' } },
            put: { action: { type: 'static', body: '{{variables.a}}' } },
          },
        },
        { api: { variables: { a: 'hush-variable' } } },
      ),
    )
    expect(text).not.toMatch(/hush|10\.99/)
  })
})
