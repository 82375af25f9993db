import { describe, expect, it } from '@jest/globals'
import type { ValueMap } from '../../../language/expression/value.ts'
import {
  compiled,
  compiledGet,
  compiledPath,
  faultsOf,
  foldedBody,
  problemsOf,
  STATIC,
} from '../documents.ts'

const constant = (value: unknown) => ({ kind: 'constant', value })
const range = (count: number, entry: (index: number) => readonly [string, unknown]) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => entry(index)))

describe('variables of one level', () => {
  it('may need each other in any order', () => {
    const variables = { a: '{{variables.b}}', b: '{{variables.c}}!', c: 1 }
    expect(foldedBody('{{variables.a}}', { api: { variables } })).toEqual(constant('1!'))
  })

  it.each([10, 1000, 20_000])('may be a chain of %i', (count) => {
    const variables = range(count, (i) => [
      `v${i}`,
      i === count - 1 ? 7 : `{{variables.v${i + 1}}}`,
    ])
    expect(foldedBody('{{variables.v0}}', { api: { variables } })).toEqual(constant(7))
  })

  it('may be deep and a chain: refused, never thrown', () => {
    const nest = (depth: number, inner: unknown): unknown =>
      depth === 0 ? inner : { k: nest(depth - 1, inner) }
    const variables = range(60, (i) => [`v${i}`, nest(55, `{{variables.v${i + 1}}}`)])
    const codes = faultsOf({ api: { variables: { ...variables, v60: 1 } } })
    expect(new Set(codes.map(([, code]) => code))).toEqual(new Set(['invalid_expression']))
  })

  it('spend the budget of produced bytes once, however often they wait for each other', () => {
    const text = 'x'.repeat(400_000)
    const variables = {
      a: '{{variables.text}}-{{variables.b}}',
      b: '{{variables.c}}',
      c: '{{variables.d}}',
      d: 1,
      text,
    }
    expect(foldedBody('{{variables.a}}', { api: { variables } })).toEqual(constant(`${text}-1`))
  })

  it('report a fault once, and what needs them stays silent', () => {
    const variables = { a: '{{variables.b}}', b: '{{nothing}}', c: { d: '{{variables.b.e}}' } }
    expect(faultsOf({ api: { variables } })).toEqual([['/variables/b', 'invalid_expression']])
  })

  it.each<[string, ValueMap, string, string]>([
    ['itself', { a: '{{variables.a}}' }, '/variables/a', 'variables.a → variables.a'],
    [
      'two',
      { a: '{{variables.b}}', b: ['{{variables.a}}'] },
      '/variables/a',
      'variables.a → variables.b → variables.a',
    ],
    ['all of them', { a: { x: '{{variables}}' } }, '/variables/a', 'variables.a → variables.a'],
    [
      'a reserved word',
      { constructor: '{{variables.constructor}}' },
      '/variables/constructor',
      'variables.constructor',
    ],
  ])('in a circle: %s', (_, variables, path, message) => {
    const problems = problemsOf({ api: { variables } })
    expect(problems).toEqual([
      { code: 'invalid_expression', path, message: expect.stringContaining(message) },
    ])
  })

  it('a circle of thousands is named in a bounded message', () => {
    const variables = range(5000, (i) => [`v${i}`, `{{variables.v${(i + 1) % 5000}}}`])
    const [problem, ...others] = problemsOf({ api: { variables } })
    expect(problem?.message).toMatch(/^variables\.v0 → variables\.v1 → .*…$/)
    expect(Buffer.byteLength(problem?.message ?? '')).toBeLessThanOrEqual(1024)
    expect(others).toEqual([])
  })

  it('a circle through defaults', () => {
    const api = {
      variables: { a: '{{defaults.headers}}' },
      defaults: { headers: '{{variables.a}}' },
    }
    expect(faultsOf({ api })).toEqual([['/variables/a', 'invalid_expression']])
  })
})

describe('variables of several levels', () => {
  const api = { variables: { a: '{{variables.b}}', b: 1, map: { x: 1 } } }

  it('a lower level overrides by name and re-binds nothing above', () => {
    const version = { variables: { b: 2, c: '{{variables.a}}{{variables.b}}' } }
    expect(foldedBody('{{variables.a}} {{variables.b}} {{variables.c}}', { api, version })).toEqual(
      constant('1 2 12'),
    )
  })

  it('what overrides may build on what it overrides, at each level', () => {
    const version = { variables: { map: '{{variables.map |> put(y, v)}}' } }
    const path = { variables: { map: '{{variables.map |> put(z, p)}}' } }
    expect(foldedBody('{{variables.map}}', { api, version }, path)).toEqual(
      constant({ x: 1, y: 'v', z: 'p' }),
    )
  })

  it('but not by a detour: that is a circle', () => {
    const version = { variables: { map: '{{variables.detour}}', detour: '{{variables.map}}' } }
    expect(faultsOf({ api, version })).toEqual([
      ['/versions/v1/variables/map', 'invalid_expression'],
    ])
  })

  it('`{{variables}}` is the merged map; within an own variable it holds what that one overrides', () => {
    const version = { variables: { map: { was: '{{variables |> get(map)}}' }, d: 4 } }
    expect(foldedBody('{{variables}}', { api, version })).toEqual(
      constant({ a: 1, b: 1, map: { was: { x: 1 } }, d: 4 }),
    )
  })

  it('a faulty one above makes the merged map faulty: no second fault below', () => {
    const faulty = { variables: { a: '{{nothing}}', b: 1 } }
    const version = { variables: { all: '{{variables |> get(b)}}' } }
    expect(faultsOf({ api: faulty, version })).toEqual([['/variables/a', 'invalid_expression']])
  })
})

describe('maps that one expression gives a path', () => {
  it('variables may wait for the request, one by one', () => {
    const api = { variables: { common: { user: '{{request.id}}', fixed: 7 } } }
    expect(
      foldedBody(
        '{{variables.user}} {{variables.fixed}}',
        { api },
        { variables: '{{variables.common}}' },
      ),
    ).toEqual({
      kind: 'text',
      parts: [{ kind: 'read', root: 'request', keys: ['id'] }, ' 7'],
    })
  })

  it('what they hold is not evaluated again', () => {
    const api = { variables: { login: { password: '{{variables.secret}}' } } }
    const secrets = { secret: '{{request.id}}' }
    expect(
      foldedBody('{{variables.password}}', { api, secrets }, { variables: '{{variables.login}}' }),
    ).toEqual(constant('{{request.id}}'))
  })

  it.each([
    ['no map', '{{variables.number}}', 'invalid_datatype'],
    ['not known as a map', '{{request.body}}', 'invalid_datatype'],
    ['missing', '{{variables.nothing}}', 'invalid_expression'],
  ])('%s', (_, expression, code) => {
    const paths = { '/x': { variables: expression, defaults: expression, get: STATIC } }
    const place = '/versions/v1/paths/~1x'
    expect(faultsOf({ api: { variables: { number: 7 } }, paths })).toEqual([
      [`${place}/variables`, code],
      [`${place}/defaults`, code],
    ])
  })

  it('defaults count as written ones', () => {
    const api = { variables: { limits: { timeout: '{{request.id}}', body_max_bytes: 3 } } }
    const paths = { '/x': { defaults: '{{variables.limits}}', get: STATIC } }
    expect(compiledGet({ api, paths })).toMatchObject({
      limits: { timeout: { kind: 'read' } },
      body: { maxBytes: 3 },
    })
  })
})

describe('secrets', () => {
  it('lie over the variables of the document and are never expressions', () => {
    const api = { variables: { a: 'mine', b: '{{variables.a}}' } }
    const secrets = { a: '{{request.id}} \\', __proto__: 'p' } as ValueMap
    expect(foldedBody({ b: '{{variables.b}}' }, { api, secrets })).toEqual(
      constant({ b: '{{request.id}} \\' }),
    )
  })

  it('are seen by no message', () => {
    const problems = problemsOf({
      api: {
        variables: { a: '{{variables.s |> head}}' },
        defaults: { timeout: '{{variables.s}}' },
      },
      secrets: { s: 'hunter2' },
    })
    expect(problems.length).toBeGreaterThan(1)
    expect(JSON.stringify(problems)).not.toContain('hunter2')
  })
})

describe('defaults', () => {
  it('are merged name by name; each level sees the variables of its own', () => {
    const api = { variables: { n: 1000 }, defaults: { timeout: '{{variables.n}}', retries: 1 } }
    const version = { variables: { n: 2000 }, defaults: { connect_timeout: '{{variables.n}}' } }
    expect(compiledGet({ api, version }).limits).toEqual({
      timeout: constant(1000),
      connectTimeout: constant(2000),
      retries: constant(1),
      retryTimeout: constant(5000),
    })
  })

  it('a name overrides whole: headers are not merged', () => {
    const api = { defaults: { headers: { a: '1', b: '2' } } }
    const version = { defaults: { headers: { a: '3' } } }
    expect(compiledPath({ api, version }).headers).toEqual(constant({ a: '3' }))
  })
})

describe('security that is inherited', () => {
  const basic = { type: 'basic' }
  const typeOf = (parts: Parameters<typeof compiledGet>[0]) => compiledGet(parts).security[0]?.type

  it.each([
    ['nothing: anonymous', {}, {}, {}, 'anonymous'],
    ['variables of the API', { variables: { security: basic } }, {}, {}, 'basic'],
    [
      'defaults before variables',
      { variables: { security: basic }, defaults: { security: {} } },
      {},
      {},
      'anonymous',
    ],
    [
      'of the API before its defaults',
      { security: basic, defaults: { security: {} } },
      {},
      {},
      'basic',
    ],
    [
      'defaults of the version',
      { variables: { security: basic } },
      { defaults: { security: {} } },
      {},
      'anonymous',
    ],
    ['of the version', {}, { security: basic }, {}, 'basic'],
    [
      'variables of the version do not count',
      {},
      { variables: { security: basic } },
      {},
      'anonymous',
    ],
    ['defaults of the path', {}, { security: {} }, { defaults: { security: basic } }, 'basic'],
    ['of the path', { security: basic }, { security: basic }, { security: {} }, 'anonymous'],
    [
      'an expression',
      { variables: { mine: basic }, security: '{{variables.mine}}' },
      {},
      {},
      'basic',
    ],
  ])('%s', (...[, api, version, path, type]) => {
    expect(typeOf({ api, version, paths: { '/x': { ...path, get: STATIC } } })).toBe(type)
  })

  it.each([
    ['text in variables', { variables: { security: 'basic' } }, '/variables/security'],
    ['a faulty variable', { variables: { security: '{{nothing}}' } }, '/variables/security'],
    ['faulty defaults', { defaults: { security: '{{nothing}}' } }, '/defaults/security'],
    ['a faulty one of the API', { security: '{{nothing}}' }, '/security'],
  ])('%s never loads', (_, api, path) => {
    expect(faultsOf({ api }).map(([place]) => place)).toContain(path)
  })
})

describe('status codes', () => {
  it('are merged over the built-in table; only what a level adds makes a map of its own', () => {
    const api = {
      status_codes: { 'a.b': 410, 'wamp.error.canceled': '{{variables.code}}', constructor: 411 },
      variables: { code: '499' },
    }
    const versions = {
      v1: { base_path: '/v1', paths: {}, status_codes: { 'a.b': 404 } },
      v2: { base_path: '/v2', paths: {} },
      v3: { base_path: '/v3', paths: {} },
    }
    const [one, two, three] = compiled({ api: { ...api, versions } }).versions
    expect(one?.statusCodes).toMatchObject({
      'a.b': 404,
      'wamp.error.canceled': 499,
      'svc.error.timeout': 504,
    })
    expect(two?.statusCodes['a.b']).toBe(410)
    expect(three?.statusCodes).toBe(two?.statusCodes)
  })

  it.each([199, 600, 404.5, '40', '4040', '{{request.id}}', true])('%p is none', (code) => {
    expect(faultsOf({ api: { status_codes: { x: code } } }).map(([path]) => path)).toContain(
      '/status_codes/x',
    )
  })

  it('a map is none, and the variable that it comes from is named', () => {
    const api = { variables: { map: {} }, status_codes: { x: '{{variables.map}}' } }
    expect(faultsOf({ api })).toEqual([['/variables/map', 'invalid_value']])
  })

  it('a faulty one is reported once', () => {
    expect(faultsOf({ api: { status_codes: { x: '{{nothing}}' } } })).toEqual([
      ['/status_codes/x', 'invalid_expression'],
    ])
  })
})

describe('what all parts of a document stand for is bounded', () => {
  const many = (count: number, value: unknown = 'v') => range(count, (i) => [`n${i}`, value])
  const everywhere = (count: number, path: unknown) => range(count, (i) => [`/p${i}`, path])

  it.each([
    [
      'headers',
      { api: { defaults: { headers: many(10_000) } }, paths: everywhere(500, { get: STATIC }) },
    ],
    [
      'waiting headers',
      {
        api: { defaults: { headers: many(10_000, '{{request.id}}') } },
        paths: everywhere(500, { get: STATIC }),
      },
    ],
    [
      'bodies',
      {
        api: { variables: { big: many(50_000) } },
        paths: everywhere(100, { get: { action: { type: 'static', body: '{{variables.big}}' } } }),
      },
    ],
    [
      'operations',
      {
        api: { variables: { get: { action: { type: 'static', body: many(10_000) } } } },
        paths: everywhere(500, { get: '{{variables.get}}' }),
      },
    ],
    [
      'maps of variables',
      {
        api: { variables: many(10_000) },
        paths: everywhere(500, {
          variables: { a: 1 },
          get: { action: { type: 'static', body: '{{variables |> get(n1)}}' } },
        }),
      },
    ],
    [
      'status codes',
      {
        api: {
          status_codes: many(10_000, 400),
          versions: range(500, (i) => [
            `v${i}`,
            { base_path: `/v${i}`, status_codes: { x: 400 }, paths: {} },
          ]),
        },
      },
    ],
  ])('%s', (_, parts) => {
    const problems = problemsOf(parts)
    expect(problems.length).toBeLessThan(3)
    expect(problems.at(-1)).toMatchObject({
      code: 'invalid_value',
      message: expect.stringContaining('stands for more than 4000000 values'),
    })
  })

  it('but what real documents share is far below', () => {
    const api = { variables: { page: 'x'.repeat(100_000) }, defaults: { headers: many(50) } }
    const paths = everywhere(2000, {
      get: { action: { type: 'static', body: '{{variables.page}}' } },
    })
    expect(problemsOf({ api, paths })).toEqual([])
  })
})
