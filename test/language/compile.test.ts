import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { compile } from '../../language/compile.ts'
import { claimsOf } from '../../language/compile/conflicts.ts'
import type { Value } from '../../language/expression/value.ts'
import { compiled, compiledGet, documentOf, faultsOf, problemsOf, STATIC } from './documents.ts'

const environment = { realm: () => ({ authmethods: ['oidcrp', 'cookie'], oidcProviders: [] }) }

describe('a document that serves nothing', () => {
  const paths = { '/x': { get: STATIC } }
  const security = { type: 'oauth2', flow: 'client_credentials' }
  it.each<[string, object, boolean | undefined, readonly string[]]>([
    ['no paths', { v1: { base_path: '/', paths: {} } }, false, ['ServesNothing /versions']],
    ['no paths, and /ws', { v1: { base_path: '/', paths: {} } }, true, []],
    [
      'no paths, and a realm that is not known',
      { v1: { base_path: '/', paths: {} } },
      undefined,
      [],
    ],
    ['endpoints alone', { v1: { base_path: '/', paths: {}, security } }, false, []],
    [
      'paths of one version',
      { a: { base_path: '/a', paths: {} }, b: { base_path: '/', paths } },
      false,
      [],
    ],
    [
      'an inactive version with paths',
      { a: { base_path: '/', paths, is_active: false } },
      false,
      [],
    ],
  ])('is warned of: %s', (_name, versions, hasWebSocket, expected) => {
    const facts = {
      authmethods: [],
      oidcProviders: [],
      ...(hasWebSocket !== undefined && { hasWebSocket }),
    }
    const document = { id: 'a', host: 'a.test', realm_uri: 'com.a', versions }
    const { warnings } = compile(document, { realm: () => facts })
    expect(warnings.map(({ code, path }) => `${code} ${path}`)).toEqual(expected)
  })
})

describe('a WebSocket that is open beside paths that are not', () => {
  const basic = { type: 'basic' }
  const open = { '/x': { get: STATIC } }
  const closed = { '/x': { get: STATIC, security: basic } }
  const both = {
    ...open,
    '/y': { get: STATIC, security: basic },
    '/z': { get: STATIC, security: basic },
  }
  const AT_X = ['OpenWebSocket /versions/v1/paths/~1x/security']
  it.each<[string, object, object, boolean | undefined, readonly string[]]>([
    ['one path', {}, { paths: closed }, true, AT_X],
    [
      'a path of several',
      {},
      { paths: both },
      true,
      ['OpenWebSocket /versions/v1/paths/~1y/security'],
    ],
    [
      'defaults of the path',
      {},
      { paths: { '/x': { get: STATIC, defaults: { security: basic } } } },
      true,
      AT_X,
    ],
    ['no router', {}, { paths: closed }, false, []],
    ['a realm that is not known', {}, { paths: closed }, undefined, []],
    ['paths that are open too', {}, { paths: open }, true, []],
    [
      'paths that say that they are open',
      {},
      { paths: { '/x': { get: STATIC, security: {} } } },
      true,
      [],
    ],
    ['security of the version', {}, { paths: closed, security: basic }, true, []],
    ['defaults of the version', {}, { paths: closed, defaults: { security: basic } }, true, []],
    ['security of the API', { security: basic }, { paths: closed }, true, []],
    ['defaults of the API', { defaults: { security: basic } }, { paths: closed }, true, []],
    ['a version that says that it is open', {}, { paths: closed, security: {} }, true, []],
    ['a version that is not active', {}, { paths: closed, is_active: false }, true, []],
    ['a WebSocket that is closed', {}, { paths: closed, wamp_websocket: false }, true, []],
    [
      'a WebSocket that is open as if unset',
      {},
      { paths: closed, wamp_websocket: true },
      true,
      AT_X,
    ],
    [
      'security of the WebSocket',
      {},
      { paths: closed, wamp_websocket: { security: basic } },
      true,
      [],
    ],
    [
      'a WebSocket that says that it is open',
      {},
      { paths: closed, wamp_websocket: { security: {} } },
      true,
      [],
    ],
  ])('is warned of: %s', (...[, api, version, hasWebSocket, expected]) => {
    const facts = {
      authmethods: [],
      oidcProviders: [],
      hasUsers: true,
      ...(hasWebSocket !== undefined && { hasWebSocket }),
    }
    const versions = { v1: { base_path: '/v1', ...version } }
    const document = { id: 'a', host: 'a.test', realm_uri: 'com.a', ...api, versions }
    const { warnings } = compile(document, { realm: () => facts })
    expect(warnings.map(({ code, path }) => `${code} ${path}`)).toEqual(expected)
  })

  it('names the paths, the WebSocket and what to do', () => {
    const versions = { v1: { base_path: '/v1', paths: both } }
    const document = { id: 'a', host: 'a.test', realm_uri: 'com.a', versions }
    const facts = { authmethods: [], oidcProviders: [], hasUsers: true, hasWebSocket: true }
    const [warning] = compile(document, { realm: () => facts }).warnings
    expect(warning?.message).toBe(
      "this protects '/v1/y' and 1 more, but not the WebSocket at '/v1/ws', which anybody may open: set 'wamp_websocket: false' in the version, or 'wamp_websocket: {security: …}' ('security: {}' there says that it is meant to be open)",
    )
  })
})

describe('operations over WAMP in a realm without a router', () => {
  const call = { get: { action: { type: 'wamp_call', procedure: 'com.a.b' } } }
  const MORE =
    'the realm has no router, so that every request to this fails, also to 1 more operations over WAMP: add router: {url: …} to the realm'
  it.each<[string, object, boolean | undefined, string[]]>([
    ['are warned of once', { paths: { '/x': call, '/y': call } }, false, [MORE]],
    [
      'may be in a version that is not active',
      { is_active: false, paths: { '/x': call } },
      false,
      [],
    ],
    ['are right where nothing is known of it', { paths: { '/x': call } }, undefined, []],
    ['are right with a router', { paths: { '/x': call } }, true, []],
    ['are none', { paths: { '/x': { get: STATIC } } }, false, []],
  ])('%s', (_, version, hasRouter, expected) => {
    const facts = {
      authmethods: [],
      oidcProviders: [],
      ...(hasRouter !== undefined && { hasRouter }),
    }
    const versions = { v1: { base_path: '/v1', ...version } }
    const document = { id: 'a', host: 'a.test', realm_uri: 'com.a', versions }
    const { warnings } = compile(document, { realm: () => facts })
    expect(warnings.map(({ message }) => message)).toEqual(expected)
  })
})

describe('the WebSocket of a version', () => {
  const facts = { authmethods: [], oidcProviders: [], hasUsers: true, hasWebSocket: true }
  const ofVersion = (version: object) => {
    const versions = { v1: { base_path: '/v1', paths: { '/x': { get: STATIC } }, ...version } }
    const document = { id: 'a', host: 'a.test', realm_uri: 'com.a', versions }
    return compile(document, { realm: () => facts })
  }
  it.each<[string, object, string | undefined]>([
    ['has the security of the version', { security: { type: 'basic' } }, 'basic'],
    ['is anonymous without any', {}, 'anonymous'],
    [
      'is served by the same with true',
      { security: { type: 'basic' }, wamp_websocket: true },
      'basic',
    ],
    ['is not served with false', { security: { type: 'basic' }, wamp_websocket: false }, undefined],
    ['has its own', { wamp_websocket: { security: { type: 'basic' } } }, 'basic'],
    [
      'has its own in place of that of the version',
      { security: { type: 'basic' }, wamp_websocket: { security: {} } },
      'anonymous',
    ],
    [
      'has one that an expression gives',
      { variables: { s: { type: 'basic' } }, wamp_websocket: { security: '{{variables.s}}' } },
      'basic',
    ],
  ])('%s', (_, version, expected) => {
    const result = ofVersion(version)
    expect('compiled' in result && result.compiled.versions[0]?.security?.[0]?.type).toBe(expected)
  })

  it.each<[string, unknown, string]>([
    ['no security', {}, '/versions/v1/wamp_websocket/security'],
    ['another key', { security: {}, secure: 1 }, '/versions/v1/wamp_websocket/secure'],
    ['an unknown type', { security: { type: 'no' } }, '/versions/v1/wamp_websocket/security/type'],
    ['a text', 'false', '/versions/v1/wamp_websocket'],
    ['null', null, '/versions/v1/wamp_websocket'],
  ])('does not load with %s', (_, wamp_websocket, path) => {
    const result = ofVersion({ wamp_websocket })
    expect('problems' in result && result.problems.map((each) => each.path)).toContain(path)
  })

  it('mounts the endpoints of its own scheme', () => {
    const security = { type: 'oauth2', flow: 'client_credentials' }
    const result = ofVersion({ wamp_websocket: { security } })
    expect('compiled' in result && result.compiled.versions[0]?.endpoints).toMatchObject([
      { type: 'oauth2', tokenPath: '/oauth/token' },
    ])
  })

  it('is claimed only where it is served', () => {
    const wsClaims = (version: object): number => {
      const result = ofVersion(version)
      if (!('compiled' in result)) throw new Error('it does not compile')
      return claimsOf(result.compiled).filter(({ key }) => key.endsWith('websocket')).length
    }
    expect([wsClaims({}), wsClaims({ wamp_websocket: false })]).toEqual([1, 0])
  })

  it('leaves nothing served where it is closed and there are no paths', () => {
    const { warnings } = ofVersion({ paths: {}, wamp_websocket: false })
    expect(warnings.map(({ code }) => code)).toEqual(['ServesNothing'])
  })
})

describe('compile never throws', () => {
  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a text', 'x'],
    ['a list', []],
    [
      'a cycle',
      (() => {
        const map: Record<string, unknown> = {}
        map['map'] = map
        return map
      })(),
    ],
    ['a class', new Date()],
    ['an empty map', {}],
    ['reserved words', JSON.parse('{"__proto__": {}, "constructor": {"prototype": 1}}')],
    [
      'members of wrong types',
      {
        id: 1,
        host: 2,
        realm_uri: 3,
        versions: 4,
        variables: 5,
        defaults: 6,
        status_codes: 7,
        security: 8,
        meta: 9,
      },
    ],
    [
      'versions of wrong types',
      documentOf({
        api: {
          versions: {
            a: 1,
            b: { base_path: 7, paths: [] },
            c: { paths: { '/x': null, '/y': { get: 7 } } },
          },
        },
      }),
    ],
  ])('on %s', (_, document) => {
    expect(compile(document, environment)).toHaveProperty('problems')
  })

  const names = fc.constantFrom(
    'action',
    'response',
    'type',
    'host',
    'get',
    'headers',
    'security',
    'variables',
    'defaults',
    '__proto__',
    'constructor',
    'on_error',
    'status_code',
    'timeout',
  )
  const leaves = fc.oneof(
    fc.constantFrom(
      '{{request.id}}',
      '{{variables.a}}',
      '{{variables |> put(a, b)}}',
      '{{nope}}',
      'static',
      'forward',
      'wamp_call',
      'a..b',
      '{{',
      '',
    ),
    fc.integer(),
    fc.constant(null),
    fc.boolean(),
  )
  const { value } = fc.letrec<{ value: Value }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      leaves,
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(names, tie('value'), { maxKeys: 4 }),
    ),
  }))

  it('on whatever stands where', () => {
    fc.assert(
      fc.property(
        fc.record({ variables: value, defaults: value, path: value, get: value }),
        (parts) => {
          const { variables, defaults, path, get } = parts
          const whole: unknown = Object.assign({}, path, { get })
          const document = documentOf({ api: { variables, defaults }, paths: { '/x': whole } })
          const first = compile(document, environment)
          // Deterministic, and a document that has faults says where.
          expect(compile(document, environment)).toEqual(first)
          expect('compiled' in first || first.problems.length > 0).toBe(true)
        },
      ),
      { numRuns: 300 },
    )
  })
})

describe('a document', () => {
  it('is not looked at any further when it is too large or too deep', () => {
    const nest = (depth: number): unknown => (depth === 0 ? 1 : { k: nest(depth - 1) })
    expect(problemsOf({ api: { meta: nest(70), id: 7 } })).toHaveLength(1)
  })

  it('reports faults of structure and of meaning together', () => {
    const paths = { '/x': { get: { action: { type: 'static', body: '{{nope}}' } } } }
    expect(faultsOf({ api: { id: 7, host: 'a..b' }, paths })).toEqual([
      ['/id', 'invalid_datatype'],
      ['/host', 'invalid_value'],
      ['/versions/v1/paths/~1x/get/action/body', 'invalid_expression'],
    ])
  })

  it('may not misspell a restriction in defaults or an operation that an expression gives', () => {
    const variables = { d: { acepts: [] }, op: { action: { type: 'static' }, body_max_byts: 1 } }
    const paths = { '/x': { defaults: '{{variables.d}}', get: '{{variables.op}}' } }
    expect(faultsOf({ api: { variables }, paths })).toEqual([
      ['/variables/d/acepts', 'invalid_value'],
      ['/variables/op/body_max_byts', 'invalid_value'],
    ])
  })

  it('names its realm, cut, when there is none', () => {
    const document = documentOf({ api: { realm_uri: `com.${'x'.repeat(1000)}` } })
    const compilation = compile(document, { realm: () => undefined })
    expect(compilation).toMatchObject({
      problems: [
        {
          code: 'no_such_realm',
          path: '/realm_uri',
          message: expect.stringMatching(/^There is no realm named 'com\.x{251}'$/),
        },
      ],
    })
  })

  it('of more than 2000 paths is refused without validating them all', () => {
    const paths = Object.fromEntries(
      Array.from({ length: 3000 }, (_, i) => [
        `/p${i}`,
        { get: { action: { type: 'static', body: '{{nope}}' } } },
      ]),
    )
    const codes = faultsOf({ paths })
    expect(codes[0]).toEqual(['/versions/v1/paths', 'invalid_value'])
    expect(codes.length).toBeLessThanOrEqual(1001)
  })

  it('may have no path at all', () => {
    expect(compiled({ paths: {} }).versions[0]?.paths).toEqual([])
  })

  it('collects what its operations read, from every template', () => {
    const response = {
      on_result: { uri: '{{action.result.uri}}', status_code: '{{action.result.status_code}}' },
      on_error: { body: '{{action.error}}', headers: { a: '{{security.authid}}' } },
    }
    const get = {
      action: { type: 'forward', host: '{{request.host}}', timeout: '{{request.body.t}}' },
      response,
    }
    const operation = compiledGet({
      paths: { '/x': { headers: { b: '{{request.headers.b}}' }, get } },
    })
    expect(operation.reads).toEqual([
      'action.error',
      'action.result.status_code',
      'action.result.uri',
      'request.body',
      'request.headers',
      'request.host',
      'request.path',
      'request.query_string',
      'security.authid',
    ])
  })

  it('warns of fields that a request does not have', () => {
    const get = {
      action: {
        type: 'static',
        body: ['{{request.nope}}', '{{request.constructor}}', '{{request.body.x}}'],
      },
    }
    expect(
      compiled({ paths: { '/x': { get } } }).warnings.map(({ code, message }) => [code, message]),
    ).toEqual([
      ['AlwaysFails', expect.stringContaining("'nope'")],
      ['AlwaysFails', expect.stringContaining("'constructor'")],
    ])
  })

  it('gives every method of a path its own operation', () => {
    const methods = ['delete', 'get', 'head', 'options', 'patch', 'post', 'put']
    const path = Object.fromEntries(methods.map((method) => [method, STATIC]))
    const operations = compiled({ paths: { '/x': path } }).versions[0]?.paths[0]?.operations ?? {}
    expect(Object.keys(operations)).toEqual(methods)
  })
})
