import { describe, expect, it } from '@jest/globals'
import { compile } from '../../../language/compile.ts'
import { endpointsOf } from '../../../language/compile/security.ts'
import type { RealmFacts } from '../../../language/realm/environment.ts'
import { compiled, compiledGet, documentOf, faultsOf, STATIC } from '../documents.ts'

const realm = { authmethods: ['oidcrp', 'cookie', 'x'], oidcProviders: ['default', 'corp'] }

const KNOWN = { hub: { hasTimestamp: false }, partner: { hasTimestamp: true } }

const securityOf = (security: unknown) =>
  compiledGet({ realm, paths: { '/x': { security, get: STATIC } } }).security

describe('what security means', () => {
  const oauth2 = { flow: 'implicit', tokenPath: '/oauth/token', revokeTokenPath: '/oauth/revoke' }

  it.each([
    [{}, { type: 'anonymous' }],
    [{ type: 'basic' }, { type: 'basic' }],
    [
      { type: 'basic', groups: [], roles: ['a'], scopes: ['b'] },
      {
        type: 'basic',
        groups: [],
        roles: ['a'],
        scopes: ['b'],
        pointer: '/versions/v1/paths/~1x/security',
      },
    ],
    [
      { type: 'hmac', signature: 'hub' },
      { type: 'hmac', signature: 'hub' },
    ],
    [{ type: 'api_key' }, { type: 'api_key', headerName: 'authorization' }],
    [
      { type: 'api_key', header_name: 'X-Key' },
      { type: 'api_key', headerName: 'x-key' },
    ],
    [
      { type: 'oauth2', flow: 'implicit' },
      { type: 'oauth2', ...oauth2 },
    ],
    [
      { type: 'oauth2', flow: 'implicit', token_path: '/t', revoke_token_path: '/a/r' },
      { type: 'oauth2', flow: 'implicit', tokenPath: '/t', revokeTokenPath: '/a/r' },
    ],
    [{ type: 'oidc' }, { type: 'oidc', provider: 'default' }],
    [
      { type: 'oidc', provider: 'corp', schemes: ['http', 'https'] },
      { type: 'oidc', provider: 'corp' },
    ],
    [
      { type: 'oidc', unauthenticated: 'reject' },
      { type: 'oidc', provider: 'default' },
    ],
    [
      { type: 'oidc', unauthenticated: 'redirect' },
      { type: 'oidc', provider: 'default', unauthenticated: 'redirect' },
    ],
  ])('%j', (security, expected) => {
    expect(securityOf(security)).toEqual([expected])
  })
})

describe('what is not understood does not load', () => {
  // By way of a variable, so that no schema sees it before.
  const faults = (security: unknown) =>
    faultsOf({
      realm,
      api: { variables: { s: security } },
      paths: { '/x': { security: '{{variables.s}}', get: STATIC } },
    }).map(([path, code]) => `${path.replace('/variables/s', '')} ${code}`)

  it.each([
    [null, [' invalid_datatype']],
    ['', [' invalid_datatype']],
    ['basic', [' invalid_datatype']],
    [[], [' invalid_datatype']],
    [true, [' invalid_datatype']],
    [{ type: null }, ['/type invalid_datatype']],
    [{ type: 'Basic' }, ['/type invalid_value']],
    [{ type: 'anonymous' }, ['/type invalid_value']],
    [{ type: 'constructor' }, ['/type invalid_value']],
    [{ constructor: 1 }, ['/type missing_required_value']],
    [{ type: 'hmac' }, ['/signature missing_required_value']],
    [{ type: 'hmac', signature: 1 }, ['/signature invalid_datatype']],
    [{ type: 'hmac', signature: 'a', secret: 'b' }, ['/secret invalid_value']],
    [{ type: 'basic', __proto__x: 1 }, ['/__proto__x invalid_value']],
    [{ type: 'basic', scheme: 'a', flow: 'b' }, ['/scheme invalid_value', '/flow invalid_value']],
    [{ type: 'basic', groups: null }, ['/groups invalid_datatype']],
    [{ type: 'basic', description: 7 }, ['/description invalid_datatype']],
    [{ type: 'api_key', header_name: '' }, ['/header_name invalid_value']],
    [{ type: 'api_key', header_name: 'a b' }, ['/header_name invalid_value']],
    [{ type: 'oidc', unauthenticated: 'Redirect' }, ['/unauthenticated invalid_value']],
    [{ type: 'oidc', unauthenticated: true }, ['/unauthenticated invalid_datatype']],
    [{ type: 'basic', unauthenticated: 'redirect' }, ['/unauthenticated invalid_value']],
    [{ type: 'oauth2' }, ['/flow missing_required_value']],
    [{ type: 'oauth2', flow: 'password' }, ['/flow invalid_value']],
    ...['', 't', '/', '/:a', '/a/[b]', '/[...]', '/ws', '//', '/..'].map(
      (path) =>
        [
          { type: 'oauth2', flow: 'implicit', token_path: path },
          ['/token_path invalid_value'],
        ] as const,
    ),
  ])('%j', (security, expected) => {
    expect(faults(security)).toEqual(expected)
  })

  it('an expression without a value is one fault, whatever it stands for', () => {
    for (const s of [{ type: '{{nope}}' }, { type: 'oauth2', flow: '{{nope}}' }, '{{nope}}']) {
      const paths = { '/x': { security: '{{variables.s}}', get: STATIC } }
      expect(faultsOf({ realm, api: { variables: { s } }, paths })).toHaveLength(1)
    }
  })

  it.each<[string, object, readonly string[]]>([
    ['oidc', { type: 'oidc' }, ['UnsharedKeys /security/type']],
    ['oauth2', { type: 'oauth2', flow: 'implicit' }, ['UnsharedKeys /security/type']],
    ['basic', { type: 'basic' }, []],
    ['api_key', { type: 'api_key' }, []],
  ])('%s in a realm whose replicas sign apart', (_, security, expected) => {
    const warningsIn = (facts: RealmFacts) =>
      compiled({ realm: facts, api: { security }, paths: { '/x': { get: STATIC } } }).warnings.map(
        ({ code, path }) => `${code} ${path}`,
      )
    expect(warningsIn({ ...realm, isSignedApart: true })).toEqual(expected)
    expect(warningsIn({ ...realm, isSignedApart: false })).toEqual([])
    expect(warningsIn(realm)).toEqual([])
  })

  it.each<[object, Partial<RealmFacts>, readonly string[]]>([
    [{ signature: 'hub' }, {}, []],
    [{ signature: 'hub' }, { signatures: {} }, ['UnsatisfiedSecurity /security/signature']],
    [{ signature: 'toString' }, { signatures: {} }, ['UnsatisfiedSecurity /security/signature']],
    [{ signature: 'hub' }, { countsAlone: true }, []],
    [{ signature: 'hub' }, { signatures: KNOWN, countsAlone: true }, []],
    [{ signature: 'partner' }, { signatures: KNOWN }, []],
    [
      { signature: 'partner' },
      { signatures: KNOWN, countsAlone: true },
      ['RememberedPerGateway /security/signature'],
    ],
    [{ signature: 'hub', groups: ['staff'] }, {}, ['AlwaysForbidden /security/groups']],
    [{ signature: 'hub', roles: ['staff'] }, {}, ['AlwaysForbidden /security/roles']],
  ])('hmac with %j in a realm with %j', (security, facts, expected) => {
    const { warnings } = compiled({
      realm: { ...realm, ...facts },
      api: { security: { type: 'hmac', ...security } },
      paths: { '/x': { get: STATIC } },
    })
    expect(warnings.map(({ code, path }) => `${code} ${path}`)).toEqual(expected)
  })

  it('says of a signature without a timestamp that replays pass, as far as the realm is known', () => {
    const security = { type: 'hmac', signature: 'hub' }
    const securityIn = (signatures: RealmFacts['signatures']) =>
      compiledGet({
        realm: { ...realm, signatures },
        paths: { '/x': { security, get: STATIC } },
      }).security
    expect(securityIn(KNOWN)).toEqual([{ type: 'hmac', signature: 'hub', replays: 'pass' }])
    expect(securityIn(undefined)).toEqual([{ type: 'hmac', signature: 'hub' }])
  })

  it.each<[string, boolean | undefined, readonly string[]]>([
    ['implicit', false, ['UnsatisfiedSecurity /security/flow']],
    ['authorization_code', false, ['UnsatisfiedSecurity /security/flow']],
    ['implicit', true, []],
    ['implicit', undefined, []],
    ['client_credentials', false, []],
    ['resource_owner_password_credentials', false, []],
  ])('oauth2 by %s where it is %s that the realm trusts issuers', (flow, hasIssuers, expected) => {
    const facts = { ...realm, ...(hasIssuers === undefined ? {} : { hasIssuers }) }
    const { warnings } = compiled({ realm: facts, api: { security: { type: 'oauth2', flow } } })
    expect(warnings.map(({ code, path }) => `${code} ${path}`)).toEqual(expected)
  })

  it.each<[string, Partial<RealmFacts>, readonly string[]]>([
    ['basic', { hasUsers: false, hasApiKeys: true }, ['the realm has no users']],
    ['basic', { hasUsers: true, hasApiKeys: false }, []],
    ['api_key', { hasUsers: true, hasApiKeys: false }, ['the realm has no API keys']],
    ['api_key', { hasUsers: false, hasApiKeys: true }, []],
    ['basic', {}, []],
    ['api_key', {}, []],
  ])('%s in a realm with %j', (type, more, begins) => {
    const { warnings } = compiled({ realm: { ...realm, ...more }, api: { security: { type } } })
    expect(warnings).toEqual(
      begins.map((begin) => ({
        code: 'UnsatisfiedSecurity',
        path: '/security/type',
        message: `${begin}: every request is rejected (401) until it has one`,
      })),
    )
  })

  const NONE = 'none is in it'
  const LEFT_OUT = 'leave out'
  it.each<[string, string, Partial<RealmFacts>, readonly string[]]>([
    ['no clients', 'client_credentials', { hasClients: false }, [NONE]],
    ['no clients', 'resource_owner_password_credentials', { hasClients: false }, [NONE]],
    ['clients', 'client_credentials', { hasClients: true }, []],
    ['clients or not', 'client_credentials', {}, []],
    ['no clients, and issuers', 'client_credentials', { hasClients: false, hasIssuers: true }, []],
    ['another grant', 'client_credentials', { hasClients: true, grants: ['password'] }, []],
    ['its grant', 'client_credentials', { hasClients: true, grants: ['client_credentials'] }, []],
    [
      'no grant',
      'resource_owner_password_credentials',
      { hasClients: true, grants: [] },
      [LEFT_OUT],
    ],
    ['its grant', 'resource_owner_password_credentials', { grants: ['password'] }, []],
    ['another grant, and issuers', 'client_credentials', { hasIssuers: true, grants: [] }, []],
  ])('a realm with %s for the flow %s, %j', (_, flow, more, words) => {
    const facts = { ...realm, hasIssuers: false, ...more }
    const { warnings } = compiled({ realm: facts, api: { security: { type: 'oauth2', flow } } })
    expect(warnings.map(({ code, path }) => `${code} ${path}`)).toEqual(
      words.map(() => 'UnsatisfiedSecurity /security/flow'),
    )
    expect(warnings.map(({ message }) => message).join('')).toContain(words.join(''))
  })

  const OWN_TOKENS = { type: 'oauth2', flow: 'client_credentials' }
  const EMPTY_LIST = 'the list is empty'
  it.each<[object, string, string]>([
    [{ type: 'basic', groups: [] }, 'groups', EMPTY_LIST],
    [{ type: 'api_key', groups: ['a'], roles: [] }, 'roles', EMPTY_LIST],
    [{ ...OWN_TOKENS, groups: [] }, 'groups', EMPTY_LIST],
    [{ type: 'oidc', roles: [] }, 'roles', EMPTY_LIST],
    [{ type: 'basic', scopes: ['a'] }, 'scopes', 'this is basic'],
    [{ type: 'api_key', groups: ['a'], scopes: ['a'] }, 'scopes', 'this is api_key'],
    [{ type: 'oidc', scopes: ['openid'] }, 'scopes', 'this is oidc'],
  ])('%j, which no caller meets in any realm: a warning at %s', (security, member, words) => {
    const paths = { '/x': { get: STATIC }, '/y': { get: STATIC } }
    for (const facts of [realm, { ...realm, hasIssuers: true }]) {
      const { warnings } = compiled({ realm: facts, api: { security }, paths })
      expect(warnings.map(({ code, path }) => [code, path])).toEqual([
        ['AlwaysForbidden', `/security/${member}`],
      ])
      expect(warnings[0]?.message).toContain(words)
    }
  })

  it.each<[object]>([
    [{ type: 'basic', groups: ['a'], roles: ['b'], scopes: [] }],
    [{ ...OWN_TOKENS, groups: ['a'], scopes: ['a'] }],
    [{ type: 'oauth2', flow: 'implicit', scopes: ['a'] }],
    [{ type: 'oidc', groups: ['a'] }],
  ])('%j, which callers of some realm meet: no warning', (security) => {
    expect(compiled({ realm, api: { security } }).warnings).toEqual([])
  })

  it('a list with a wrong member is an error, and not empty as well', () => {
    const api = { variables: { g: [5] }, security: { type: 'basic', groups: '{{variables.g}}' } }
    expect(compile(documentOf({ api }), { realm: () => realm })).toMatchObject({
      problems: [{ code: 'invalid_datatype', path: '/variables/g/0' }],
      warnings: [],
    })
  })

  const guarded = { ...STATIC, security: { type: 'basic' } }
  const own = '/versions/v1/paths/~1x/get/security'
  it.each<[string, unknown, string]>([
    ['as it is written', guarded, own],
    ['where it would open the path', { ...STATIC, security: {} }, own],
    ['by an expression', '{{variables.guarded}}', '/variables/guarded/security'],
  ])('security of an operation, %s', (_, get, place) => {
    const security = { type: 'basic' }
    expect(
      faultsOf({ realm, api: { variables: { guarded } }, paths: { '/x': { security, get } } }),
    ).toEqual([[place, 'invalid_value']])
  })

  it('oidc in a realm without the methods for it', () => {
    const plain = { authmethods: ['cookie'], oidcProviders: [] }
    expect(faultsOf({ realm: plain, api: { security: { type: 'oidc' } } })).toEqual([
      ['/security/type', 'invalid_value'],
    ])
  })
})

describe('endpoints', () => {
  it('a provider that the realm lacks is a warning, once', () => {
    const paths = { '/x': { get: STATIC }, '/y': { get: STATIC } }
    const { warnings, versions } = compiled({
      realm,
      api: { security: { type: 'oidc', provider: 'nope' } },
      paths,
    })
    expect(warnings.map(({ code, path }) => [code, path])).toEqual([
      ['UnsatisfiedSecurity', '/security/provider'],
    ])
    expect(versions[0]?.endpoints).toEqual([{ type: 'oidc', provider: 'nope' }])
  })

  it("the version's own scheme comes first, each stands once, requirements do not count", () => {
    const oidc = { type: 'oidc' }
    const paths = {
      '/a': { security: { type: 'oidc', provider: 'corp' }, get: STATIC },
      '/b': { security: { ...oidc, groups: ['g'] }, get: STATIC },
      '/c': { security: { type: 'oauth2', flow: 'implicit' }, get: STATIC },
      '/d': { security: { type: 'basic' }, get: STATIC },
    }
    expect(compiled({ realm, version: { security: oidc }, paths }).versions[0]?.endpoints).toEqual([
      { type: 'oidc', provider: 'default' },
      { type: 'oidc', provider: 'corp' },
      {
        type: 'oauth2',
        flow: 'implicit',
        tokenPath: '/oauth/token',
        revokeTokenPath: '/oauth/revoke',
      },
    ])
  })

  it('of nothing are none', () => {
    expect(endpointsOf([undefined, [{ type: 'anonymous' }]])).toEqual([])
  })
})

describe('of a version: what a path has that says nothing', () => {
  const basic = { type: 'basic' }
  const protectedBy = [basic]
  const anonymous = [{ type: 'anonymous' }]

  const both = ['http', 'https']
  const by = (api: object, version: object) => ({ realm, api: { ...api }, version: { ...version } })

  it.each([
    ['nothing', by({}, {}), { security: anonymous, schemes: both }],
    [
      'the API',
      by({ defaults: { security: basic, schemes: ['https'] } }, {}),
      { security: protectedBy, schemes: ['https'] },
    ],
    [
      'a variable of the API',
      by({ variables: { security: basic } }, {}),
      { security: protectedBy, schemes: both },
    ],
    [
      'the version',
      by({}, { defaults: { security: basic } }),
      { security: protectedBy, schemes: both },
    ],
    [
      'a version below a stricter API',
      by(
        { defaults: { security: basic, schemes: ['https'] } },
        { defaults: { security: {}, schemes: ['http'] } },
      ),
      { security: anonymous, schemes: ['http'] },
    ],
    [
      'an expression',
      by(
        { variables: { who: basic, over: ['https'] } },
        { defaults: { security: '{{variables.who}}', schemes: '{{variables.over}}' } },
      ),
      { security: protectedBy, schemes: ['https'] },
    ],
  ])('by %s', (_, parts, { security, schemes }) => {
    const [version] = compiled(parts).versions
    expect(version).toMatchObject({ security, schemes })
    expect(version?.paths[0]).toMatchObject({ schemes, operations: { get: { security } } })
  })

  it('a path of its own mind changes nothing', () => {
    const paths = { '/x': { security: basic, schemes: ['https'], get: STATIC } }
    expect(compiled({ realm, paths }).versions[0]).toMatchObject({
      security: anonymous,
      schemes: ['http', 'https'],
    })
  })

  it('what cannot be is reported once', () => {
    expect(faultsOf({ realm, version: { defaults: { schemes: ['ftp'] } } })).toEqual([
      ['/versions/v1/defaults/schemes/0', 'invalid_value'],
    ])
  })
})
