// What `rate_limits` of a document compiles to, and what is refused or warned of at load.

import { describe, expect, it } from '@jest/globals'
import { compiled, compiledGet, faultsOf, type Parts } from '../documents.ts'

const STATIC = { action: { type: 'static', body: 'x' } }
const LIMIT = { requests: 10, seconds: 60 }

const withLimits = (rate_limits: unknown, more: object = {}): Parts => ({
  paths: { '/x': { rate_limits, ...more, get: STATIC } },
})

const limitsOf = (parts: Parts) => compiledGet(parts).rateLimits?.limits ?? []

describe('rate_limits', () => {
  it('compiles to what is known, and what each request gives', () => {
    const by = '{{security.authid}}'
    expect(
      limitsOf(
        withLimits(
          { calls: { ...LIMIT, burst: 20, by, requests: '{{variables.n}}' } },
          { variables: { n: '7' } },
        ),
      ),
    ).toEqual([
      {
        name: 'calls',
        pointer: '/versions/v1/paths/~1x/rate_limits/calls',
        requests: { kind: 'constant', value: 7 },
        seconds: 60,
        burst: 20,
        cost: { kind: 'constant', value: 1 },
        by: { kind: 'read', root: 'security', keys: ['authid'] },
        isEarly: false,
      },
    ])
  })

  it('is inherited by name, and each keeps the place where it is written', () => {
    const parts: Parts = {
      api: { defaults: { rate_limits: { one: LIMIT, two: LIMIT, three: LIMIT } } },
      version: { defaults: { rate_limits: { two: { ...LIMIT, requests: 5 } } } },
      paths: {
        '/x': {
          rate_limits: { three: {} },
          get: { ...STATIC, rate_limits: { four: LIMIT } },
        },
      },
    }
    expect(limitsOf(parts).map(({ name, pointer }) => [name, pointer])).toEqual([
      ['one', '/defaults/rate_limits/one'],
      ['two', '/versions/v1/defaults/rate_limits/two'],
      ['four', '/versions/v1/paths/~1x/get/rate_limits/four'],
    ])
    const names = compiled(parts).versions[0]?.rateLimits?.limits.map(({ name }) => name)
    expect(names).toEqual(['one', 'two', 'three'])
  })

  it.each<[string, object, boolean]>([
    ['by the address', {}, true],
    ['by a header', { by: '{{request.headers.x}}' }, true],
    ['by the caller', { by: '{{security.authid}}' }, false],
    ['with numbers of the caller', { requests: '{{security.meta |> get(n, 1)}}' }, false],
    ['with costs of the caller', { cost: '{{security.meta |> get(n, 1)}}' }, false],
  ])('needs a caller or not: %s', (_, more, isEarly) => {
    expect(limitsOf(withLimits({ calls: { ...LIMIT, ...more } }))).toMatchObject([{ isEarly }])
  })

  it.each<[string, unknown, string, string]>([
    ['no map', 5, 'invalid_datatype', ''],
    ['a name with a space', { 'a b': LIMIT }, 'invalid_value', '/a b'],
    ['a name that is too long', { ['a'.repeat(65)]: LIMIT }, 'invalid_value', `/${'a'.repeat(65)}`],
    ['no seconds', { a: { requests: 1 } }, 'missing_required_value', '/a/seconds'],
    ['no requests', { a: { seconds: 1 } }, 'missing_required_value', '/a/requests'],
    ['no time', { a: { ...LIMIT, seconds: 0 } }, 'invalid_value', '/a/seconds'],
    ['more than a day', { a: { ...LIMIT, seconds: 86_401 } }, 'invalid_value', '/a/seconds'],
    [
      'a time of the request',
      { a: { ...LIMIT, seconds: '{{request.path}}' } },
      'invalid_value',
      '/a/seconds',
    ],
    ['a part of a request', { a: { ...LIMIT, requests: 1.5 } }, 'invalid_datatype', '/a/requests'],
    ['less than no request', { a: { ...LIMIT, requests: -1 } }, 'invalid_value', '/a/requests'],
    ['more than 10⁹', { a: { ...LIMIT, requests: 1_000_000_001 } }, 'invalid_value', '/a/requests'],
    ['a burst of nothing', { a: { ...LIMIT, burst: 0 } }, 'invalid_value', '/a/burst'],
    ['a list to count by', { a: { ...LIMIT, by: ['x'] } }, 'invalid_datatype', '/a/by'],
    ['the body', { a: { ...LIMIT, by: '{{request.body.x}}' } }, 'invalid_expression', '/a/by'],
    ['a misspelt member', { a: { ...LIMIT, burts: 1 } }, 'invalid_value', '/a/burts'],
  ])('refuses %s', (_, limits, code, place) => {
    expect(faultsOf(withLimits(limits))).toEqual([
      [`/versions/v1/paths/~1x/rate_limits${place}`, code],
    ])
  })

  it('refuses more than 16', () => {
    const many = Array.from({ length: 17 }, (_, at) => [`a${at}`, LIMIT])
    expect(faultsOf(withLimits(Object.fromEntries(many)))).toEqual([
      ['/versions/v1/paths/~1x/rate_limits', 'invalid_value'],
    ])
  })

  it.each<[string, object, readonly unknown[]]>([
    [
      'what not every caller has',
      { requests: '{{security.meta.n}}' },
      [['SuspiciousExpression', 'requests']],
    ],
    [
      'a header that may be missing',
      { by: '{{request.headers.x}}' },
      [['SuspiciousExpression', 'by']],
    ],
    ['nothing that has a default', { requests: '{{security.meta |> get(n, 1)}}' }, []],
    [
      'what can never be there',
      { cost: '{{action.result.body}}' },
      [['UnknownContextKey', 'cost']],
    ],
  ])('warns of %s', (_, more, expected) => {
    const parts = withLimits({ calls: { ...LIMIT, ...more } }, { security: { type: 'basic' } })
    const base = '/versions/v1/paths/~1x/rate_limits/calls/'
    const realm = { authmethods: ['password'], oidcProviders: [], users: [] } as never
    const { warnings } = compiled({ ...parts, realm })
    expect(
      warnings
        .filter(({ path }) => path.startsWith(base))
        .map(({ code, path }) => [code, path.slice(base.length)]),
    ).toEqual(expected)
  })

  it('warns of each limit that a gateway counts for itself', () => {
    const realm = { authmethods: [], oidcProviders: [], countsAlone: true }
    const { warnings } = compiled({ ...withLimits({ calls: LIMIT }), realm })
    expect(warnings).toMatchObject([
      { code: 'CountedPerGateway', path: '/versions/v1/paths/~1x/rate_limits/calls' },
    ])
  })
})
