import { describe, expect, it } from '@jest/globals'
import { compile } from '../../../language/compile.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import { compiled, documentOf, type Parts } from '../documents.ts'

type Told = readonly [code: string, path: string, message: string]

const told = (parts: Parts): readonly Told[] =>
  compiled(parts).warnings.map(({ code, path, message }) => [code, path, message])

const BASIC = { type: 'basic' }
const FORWARD = { type: 'forward', host: 'http://b' }
const CALL = { type: 'wamp_call', procedure: 'com.acme.p' }
const REALM = { authmethods: [], oidcProviders: [] }

/** The GET of `/v1/x/:id` at `:tenant.acme.com`. */
const ofGet = (get: unknown, path: ValueMap = {}, variables: ValueMap = {}): readonly Told[] =>
  told({
    realm: REALM,
    api: { host: ':tenant.acme.com', variables },
    paths: { '/x/:id': Object.assign({ get }, path) },
  })

const ofBody = (body: unknown): readonly Told[] => ofGet({ action: { type: 'static', body } })

describe('an expression that fails for every request', () => {
  it.each<[string, string]>([
    ['{{request.bindings.i}}', "the path /v1/x/:id has no binding 'i'; it has 'id', 'tenant'"],
    ['{{request.bindings.ids}}', "has no binding 'ids'; did you mean 'id'?"],
    ['{{request.bindings |> get(ID)}}', "has no binding 'ID'; did you mean 'id'?"],
    ['{{request.bindings.id.x}}', "request.bindings.id is a text, not a map, so it has no key 'x'"],
    [
      '{{request.bindings[0]}}',
      "request has no 'bindings[0]'; keys are read with a dot, as in request.bindings.name",
    ],
    [
      '{{request.params.id}}',
      'it is called bindings for the path, query_params for the query here',
    ],
    ['{{request.boddy}}', "request has no 'boddy'; did you mean 'body'?"],
    ['{{request.constructor}}', "request has no 'constructor'; it has id, method,"],
    ['{{request.method.x}}', 'request.method is a text'],
    ['{{request.body_length.x}}', 'request.body_length is a number'],
    ["{{request.headers |> get('a b')}}", "no header can be called 'a b'"],
    ['{{action.result.body}}', 'action.result is there in on_result only, once the action is done'],
    ['{{action.error.body}}', 'action.error is there in on_error only, once the action is done'],
    [
      '{{action.reslt}}',
      "action has no 'reslt'; it has result (in on_result) and error (in on_error)",
    ],
    ['{{security.authid}}', 'security is empty, as anybody may call this'],
    ['{{request.headers |> nth(a)}}', 'nth takes a whole number as argument, not text'],
    ['{{request.headers |> nth(0)}}', 'nth counts from 1'],
    ['{{request.headers |> random(a)}}', 'random takes a whole number as argument, not text'],
    [
      '{{request.headers |> merge(abc)}}',
      'merge takes maps, not text: name one in a tag, as in merge({{variables.more}})',
    ],
    ['{{request.headers |> merge(_, abc)}}', 'merge takes maps, not text'],
    ['{{request.headers |> get({{request.bindings.nope}}, x)}}', "no binding 'nope'"],
    [
      '{{request.query_params |> get(a, {{request.headers.(x)}})}}',
      "no header can be called '(x)'",
    ],
    ['x{{request.path |> string |> get(a, b)}}{{request.bindings.nope}}', "no binding 'nope'"],
  ])('%s', (body, message) => {
    expect(ofBody({ list: [body] })).toEqual([
      [
        'AlwaysFails',
        '/versions/v1/paths/~1x~1:id/get/action/body/list/0',
        expect.stringContaining(message),
      ],
    ])
    expect(ofBody(body)[0]?.[2]).toMatch(/^\{\{.* fails for every GET \/v1\/x\/:id: /)
  })

  const BAD = '{{request.bindings.nope}}'
  it.each<[string, unknown, string]>([
    ['of a forward: host', { action: { ...FORWARD, host: BAD } }, '/action/host'],
    ['of a forward: path', { action: { ...FORWARD, path: `/a/${BAD}` } }, '/action/path'],
    [
      'of a forward: query',
      { action: { ...FORWARD, query_string: `a=${BAD}` } },
      '/action/query_string',
    ],
    ['of a forward: header', { action: { ...FORWARD, headers: { a: BAD } } }, '/action/headers/a'],
    ['of a forward: body', { action: { ...FORWARD, body: [BAD] } }, '/action/body/0'],
    ['of a forward: time-out', { action: { ...FORWARD, timeout: BAD } }, '/action/timeout'],
    ['of a call: procedure', { action: { ...CALL, procedure: `com.${BAD}` } }, '/action/procedure'],
    ['of a call: args', { action: { ...CALL, args: [BAD] } }, '/action/args/0'],
    ['of a call: kwargs', { action: { ...CALL, kwargs: { a: BAD } } }, '/action/kwargs/a'],
    ['of a publication: topic', { action: { type: 'wamp_publish', topic: BAD } }, '/action/topic'],
    [
      'of the response of a static action',
      { action: { type: 'static' }, response: { on_result: { status_code: BAD } } },
      '/response/on_result/status_code',
    ],
    [
      'read in the wrong response',
      {
        action: { type: 'static', body: 1 },
        response: { on_result: { body: '{{action.error.body}}' } },
      },
      '/response/on_result/body',
    ],
    [
      'read of a static action',
      {
        action: { type: 'static', body: 1 },
        response: { on_result: { body: '{{action.result.status_code}}' } },
      },
      '/response/on_result/body',
    ],
  ])('%s', (_name, get, place) => {
    expect(ofGet(get)).toEqual([
      ['AlwaysFails', `/versions/v1/paths/~1x~1:id/get${place}`, expect.any(String)],
    ])
  })

  it('is reported where headers are inherited', () => {
    const headers = { 'x-a': BAD }
    expect(ofGet({ action: { type: 'static', body: 1 } }, { headers })).toEqual([
      ['AlwaysFails', '/versions/v1/paths/~1x~1:id/headers/x-a', expect.any(String)],
    ])
    expect(ofGet({ action: { type: 'static', body: 1 } }, { defaults: { headers } })).toEqual([
      ['AlwaysFails', '/versions/v1/paths/~1x~1:id/defaults/headers/x-a', expect.any(String)],
    ])
  })
})

describe('an expression that fails, though some requests are answered all the same', () => {
  const BAD = '{{request.bindings.nope}}'
  it.each<[string, unknown, string]>([
    [
      'of what only a success evaluates',
      { action: FORWARD, response: { on_result: { body: BAD } } },
      '/response/on_result/body',
    ],
    [
      'of what only a failure evaluates',
      { action: FORWARD, response: { on_error: { body: BAD } } },
      '/response/on_error/body',
    ],
    [
      'of one of several hosts',
      {
        action: {
          type: 'forward',
          hosts: [
            { host: BAD, weight: 1 },
            { host: 'http://b', weight: 1 },
          ],
        },
      },
      '/action/hosts/0/host',
    ],
    [
      'that a static response never shows',
      { action: { type: 'static', body: BAD }, response: { on_result: { body: 1 } } },
      '/action/body',
    ],
    [
      'of an argument that an empty body passes',
      { action: { type: 'static', body: `{{request.body |> get(a, ${BAD})}}` } },
      '/action/body',
    ],
    [
      'of a result that has no such key',
      { action: FORWARD, response: { on_result: { body: '{{action.result.stats_code}}' } } },
      '/response/on_result/body',
    ],
    [
      'of an error that has no such key',
      { action: CALL, response: { on_error: { body: '{{action.error.code}}' } } },
      '/response/on_error/body',
    ],
  ])('%s', (_name, get, place) => {
    expect(ofGet(get)).toEqual([
      [
        'UnknownContextKey',
        `/versions/v1/paths/~1x~1:id/get${place}`,
        expect.stringContaining(' can only fail: '),
      ],
    ])
  })

  it.each<[string, string]>([
    ['{{request.body |> nth(a)}}', 'nth takes a whole number'],
    ['{{request.body |> merge(abc)}}', 'merge takes maps'],
    ['{{request.headers |> get(a, {{request.headers}}) |> nth(0)}}', 'nth counts from 1'],
  ])('%s, as the empty text passes', (body, message) => {
    expect(ofBody(body)).toEqual([
      ['UnsuitableArgument', expect.any(String), expect.stringContaining(message)],
    ])
  })

  it('is reported for a default that always counts', () => {
    expect(ofBody("{{request.headers |> get('a b', none)}}")).toEqual([
      [
        'UnknownContextKey',
        expect.any(String),
        expect.stringMatching(/always gives the default: no header can be called 'a b'$/),
      ],
    ])
  })
})

describe('no warning is given', () => {
  it.each<[string, unknown]>([
    ['of a binding of the host', '{{request.bindings.tenant}}'],
    ['of what has a default', '{{request.bindings |> get(nope, x)}}'],
    ['of a caller with a default', '{{security |> get(authid, nobody)}}'],
    ['of any parameter', '{{request.query_params.Whatever}}'],
    [
      'of a header in capitals',
      ['{{request.headers.Accept}}', '{{request.headers |> get(Accept)}}'],
    ],
    ['of any key of a body', '{{request.body.a.b}}'],
    ['of maps as a whole', ['{{request}}', '{{action}}', '{{security}}', '{{request.bindings}}']],
    ['of sound arguments', '{{request.body |> nth(1) |> merge({{request.headers}}, _)}}'],
    ['of the status codes', '{{status_codes |> get(x, 1)}}'],
  ])('%s', (_name, body) => {
    expect(ofBody(body)).toEqual([])
  })

  it('of the outcome in its response, and in headers of both', () => {
    const get = {
      action: FORWARD,
      response: {
        on_result: { body: '{{action.result.headers.x}}' },
        on_error: { body: ['{{action.error.arguments}}', '{{action.error.kwargs.x}}'] },
      },
    }
    expect(ofGet(get, { headers: { 'x-a': '{{action.result.uri}}' } })).toEqual([])
  })

  it('of callers where there are some', () => {
    const get = { action: { type: 'static', body: '{{security.authid}}' } }
    expect(ofGet(get, { security: BASIC })).toEqual([])
  })

  it.each<[string, ValueMap]>([
    ['a type that there is not', { type: 'apikey' }],
    ['no flow', { type: 'oauth2' }],
    ['a flow that there is not', { type: 'oauth2', flow: 'code' }],
    ['no type', { groups: ['a'] }],
  ])('of callers where the security has %s, which is an error of its own', (_, security) => {
    const get = { action: { type: 'static', body: '{{security.authid}}' } }
    const document = documentOf({ paths: { '/x': { get, security } } })
    const compilation = compile(document, { realm: () => REALM })
    expect('problems' in compilation).toBe(true)
    expect(compilation.warnings).toEqual([])
  })

  it('of a binding that an optional segment may bring', () => {
    const get = { action: { type: 'static', body: '{{request.bindings.id}}' } }
    expect(told({ paths: { '/x/[:id]': { get } } })).toEqual([])
  })
})

describe('the place of a warning', () => {
  const BAD = '{{request.bindings.nope}}'
  it('is the variable that holds the expression', () => {
    const variables = { failure: { body: [{ x: BAD }] }, other: '{{variables.failure}}' }
    expect(
      ofGet({ action: FORWARD, response: { on_error: '{{variables.other}}' } }, {}, variables),
    ).toEqual([['UnknownContextKey', '/variables/failure/body/0/x', expect.any(String)]])
  })

  it('is that of the level that counts', () => {
    const get = { action: { type: 'static', body: '{{variables.a.b}}' } }
    const path = { variables: { a: '{{variables.a}}' } }
    expect(ofGet(get, path, { a: { b: BAD } })).toEqual([
      ['AlwaysFails', '/variables/a/b', expect.any(String)],
    ])
  })

  it('is the operation where a function made it, or it is an expression as a whole', () => {
    const variables = { a: { x: BAD }, op: { action: { type: 'static', body: [BAD] } } }
    expect(
      ofGet({ action: { type: 'static', body: ['{{variables.a |> put(b, 1)}}'] } }, {}, variables),
    ).toEqual([
      ['AlwaysFails', '/versions/v1/paths/~1x~1:id/get/action/body/0', expect.any(String)],
    ])
    expect(ofGet('{{variables.op}}', {}, variables)).toEqual([
      ['AlwaysFails', '/variables/op/action/body/0', expect.any(String)],
    ])
  })

  it('is reported once for a variable that many paths use', () => {
    const get = { action: { type: 'static', body: '{{variables.a}}' } }
    const paths = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`/p${i}`, { get }]))
    expect(told({ api: { variables: { a: BAD } }, paths })).toHaveLength(1)
  })
})

describe('the host of a forward', () => {
  it.each<[string, string]>([
    ['http://x:8080/api', 'must not carry a path or query'],
    ['http://x?a', 'must not carry a path or query'],
    ['ftp://x', 'must be http or https'],
    ['http://x:99999', 'with a port from 1 to 65535'],
    ['http://user@x', 'must not carry a user or password'],
    ['a b', 'must be [http://]host[:port]'],
  ])('%s fails for every request', (host, message) => {
    expect(ofGet({ action: { ...FORWARD, host } })).toEqual([
      [
        'AlwaysFails',
        '/versions/v1/paths/~1x~1:id/get/action/host',
        expect.stringContaining(message),
      ],
    ])
  })

  it('is shown in no message, as a variable may be a Secret, and reported where it is written', () => {
    const get = { action: { ...FORWARD, host: '{{variables.backend}}' } }
    const [warning, ...more] = ofGet(get, {}, { backend: 'http://pa55@x' })
    expect([warning?.[1], more]).toEqual(['/variables/backend', []])
    expect(warning?.[2]).not.toContain('pa55')
    const secret = told({ secrets: { backend: 'http://pa55@x' }, paths: { '/x': { get } } })
    expect(secret).toEqual([
      [
        'AlwaysFails',
        '/versions/v1/paths/~1x/get/action/host',
        expect.not.stringContaining('pa55'),
      ],
    ])
  })
})
