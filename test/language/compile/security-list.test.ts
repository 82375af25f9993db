// Tests lists of Security Objects and networks: what loads, what does not, what is inherited.

import { describe, expect, it } from '@jest/globals'
import { restrictingKeysOf } from '../../../language/validate/unknown-properties.ts'
import { compiled, compiledGet, documentOf, faultsOf, STATIC } from '../documents.ts'

const realm = { authmethods: ['oidcrp', 'cookie'], oidcProviders: ['default', 'corp'] }
const BASIC = { type: 'basic' }
const KEY = { type: 'api_key', header_name: 'X-Key' }
const OAUTH2 = { type: 'oauth2', flow: 'client_credentials' }
const OIDC = { type: 'oidc' }

const securityOf = (security: unknown) =>
  compiledGet({ realm, paths: { '/x': { security, get: STATIC } } }).security

const PLACE = '/versions/v1/paths/~1x/security'

describe('a list', () => {
  it.each<[string, unknown, readonly string[]]>([
    ['of one', [BASIC], ['basic']],
    ['with {}, which makes it optional', [BASIC, {}], ['basic', 'anonymous']],
    [
      'of all that can be told apart',
      [OIDC, OAUTH2, BASIC, KEY, {}],
      ['oidc', 'oauth2', 'basic', 'api_key', 'anonymous'],
    ],
    [
      'of keys in two headers',
      [KEY, { type: 'api_key', header_name: 'x-other' }],
      ['api_key', 'api_key'],
    ],
    [
      'of networks',
      [{ networks: ['10.0.0.0/8'] }, { networks: ['::1'] }, BASIC],
      ['anonymous', 'anonymous', 'basic'],
    ],
    [
      'of eight',
      Array.from({ length: 8 }, () => ({})),
      Array.from({ length: 8 }, () => 'anonymous'),
    ],
  ])('%s keeps its order', (_, security, types) => {
    expect(securityOf(security).map(({ type }) => type)).toEqual(types)
  })

  it.each<[string, unknown, readonly string[]]>([
    ['is empty', [], [' invalid_datatype']],
    ['has nine', Array.from({ length: 9 }, () => ({})), [' invalid_value']],
    ['holds a list', [BASIC, [KEY]], ['/1 invalid_datatype']],
    ['holds null', [null], ['/0 invalid_datatype']],
    ['has an entry without a type', [BASIC, { groups: ['a'] }], ['/1/type missing_required_value']],
    ['has an entry of an unknown type', [{ type: 'digest' }], ['/0/type invalid_value']],
    ['has an entry with an unknown property', [BASIC, { ...KEY, x: 1 }], ['/1/x invalid_value']],
    ['has two of basic', [BASIC, { ...BASIC, groups: ['a'] }], ['/1 invalid_value']],
    ['has two of oauth2', [OAUTH2, { ...OAUTH2, flow: 'implicit' }], ['/1 invalid_value']],
    [
      'has two of hmac',
      [
        { type: 'hmac', signature: 'a' },
        { type: 'hmac', signature: 'b' },
      ],
      ['/1 invalid_value'],
    ],
    ['has two of oidc', [OIDC, { ...OIDC, provider: 'corp' }], ['/1 invalid_value']],
    ['has a key in authorization beside basic', [BASIC, { type: 'api_key' }], ['/1 invalid_value']],
    [
      'has a key in authorization beside oauth2',
      [{ type: 'api_key' }, OAUTH2],
      ['/1 invalid_value'],
    ],
    [
      'has a key in authorization beside oidc',
      [{ type: 'api_key' }, {}, OIDC],
      ['/2 invalid_value'],
    ],
    [
      'has a key in cookie beside oidc',
      [OIDC, { type: 'api_key', header_name: 'Cookie' }],
      ['/1 invalid_value'],
    ],
    [
      'has two keys in one header',
      [KEY, { type: 'api_key', header_name: 'x-key' }],
      ['/1 invalid_value'],
    ],
  ])('that %s does not load', (_, security, expected) => {
    const variables = { s: security }
    const given = faultsOf({
      realm,
      api: { variables },
      paths: { '/x': { security: '{{variables.s}}', get: STATIC } },
    })
    const written = faultsOf({ realm, paths: { '/x': { security, get: STATIC } } })
    expect(given.map(([path, code]) => `${path.replace('/variables/s', '')} ${code}`)).toEqual(
      expected,
    )
    expect(written.map(([path, code]) => `${path.replace(PLACE, '')} ${code}`)).toEqual(expected)
  })

  it.each<[string, object]>([
    ['the API', { api: { security: [BASIC, KEY] } }],
    ['defaults of the API', { api: { defaults: { security: [BASIC, KEY] } } }],
    ['variables of the API', { api: { variables: { security: [BASIC, KEY] } } }],
    ['the version', { version: { security: [BASIC, KEY] } }],
    ['defaults of the version', { version: { defaults: { security: [BASIC, KEY] } } }],
  ])('is inherited from %s, and protects /ws', (_, parts) => {
    const [version] = compiled({ realm, ...parts }).versions
    const types = ['basic', 'api_key']
    expect(version?.security?.map(({ type }) => type)).toEqual(types)
    const { get } = version?.paths[0]?.operations ?? {}
    expect(get?.security.map(({ type }) => type)).toEqual(types)
  })

  it('mounts the endpoints of each entry', () => {
    const { endpoints = [] } =
      compiled({ realm, api: { security: [BASIC, OIDC, OAUTH2] } }).versions[0] ?? {}
    expect(endpoints.map(({ type }) => type)).toEqual(['oidc', 'oauth2'])
  })

  it('is a key that older gateways must know', () => {
    const document = documentOf({
      paths: { '/x': { security: [BASIC, { networks: ['::1'] }], get: STATIC } },
    })
    expect(restrictingKeysOf(document)).toEqual(['networks', 'security'])
  })
})

describe('networks', () => {
  it.each<[readonly string[], readonly string[]]>([
    [
      ['10.0.0.0/8', '192.0.2.7', '0.0.0.0/0'],
      ['10.0.0.0/8', '192.0.2.7', '0.0.0.0/0'],
    ],
    [
      ['192.0.2.7/32', '::1/128'],
      ['192.0.2.7', '::1'],
    ],
    [
      ['2001:DB8:0:0::/32', '::/0'],
      ['2001:db8::/32', '::/0'],
    ],
    [
      ['::ffff:10.0.0.1', '::FFFF:10.0.0.0/104', '::ffff:0:0/96'],
      ['10.0.0.1', '10.0.0.0/8', '0.0.0.0/0'],
    ],
    [
      ['128.0.0.0/1', '10.128.0.0/9', 'fe80::/10'],
      ['128.0.0.0/1', '10.128.0.0/9', 'fe80::/10'],
    ],
  ])('%j', (networks, expected) => {
    const pointer = PLACE
    expect(securityOf({ networks })).toEqual([{ type: 'anonymous', networks: expected, pointer }])
    expect(securityOf({ ...BASIC, networks })).toEqual([
      { type: 'basic', networks: expected, pointer },
    ])
  })

  it.each<[unknown, readonly string[]]>([
    [[], ['/networks invalid_value']],
    ['10.0.0.0/8', ['/networks invalid_datatype']],
    [[7], ['/networks/0 invalid_datatype']],
    [['::1', '10.0.0.1/8'], ['/networks/1 invalid_value']],
    [['2001:db8::1/32'], ['/networks/0 invalid_value']],
    [['10.0.0.0/33'], ['/networks/0 invalid_value']],
    [['::/129'], ['/networks/0 invalid_value']],
    [['10.0.0.0/'], ['/networks/0 invalid_value']],
    [['10.0.0.0/8/8'], ['/networks/0 invalid_value']],
    [['10.0.0.0/-1'], ['/networks/0 invalid_value']],
    [['010.0.0.1'], ['/networks/0 invalid_value']],
    [['10.0.0'], ['/networks/0 invalid_value']],
    [['fe80::1%eth0'], ['/networks/0 invalid_value']],
    [['[::1]'], ['/networks/0 invalid_value']],
    [['office.example.com'], ['/networks/0 invalid_value']],
    [[' 10.0.0.1'], ['/networks/0 invalid_value']],
    [['10.0.0.1:80'], ['/networks/0 invalid_value']],
    [[''], ['/networks/0 invalid_value']],
  ])('%j does not load', (networks, expected) => {
    for (const security of [{ networks }, { ...BASIC, networks }]) {
      const variables = { s: security }
      const paths = { '/x': { security: '{{variables.s}}', get: STATIC } }
      const found = faultsOf({ realm, api: { variables }, paths })
      expect(found.map(([path, code]) => `${path.replace('/variables/s', '')} ${code}`)).toEqual(
        expected,
      )
    }
  })

  it.each<[string, object, string]>([
    [
      'beside security',
      { networks: ['10.0.0.0/8'] },
      `${PLACE.replace('security', 'networks')} invalid_value`,
    ],
    [
      'misspelt',
      { security: { ...BASIC, network: ['10.0.0.0/8'] } },
      `${PLACE}/network invalid_value`,
    ],
    [
      'with groups and no type',
      { security: { networks: ['::1'], groups: ['a'] } },
      `${PLACE}/type missing_required_value`,
    ],
  ])('%s do not load', (_, path, expected) => {
    const found = faultsOf({ realm, paths: { '/x': { ...path, get: STATIC } } })
    expect(found.map(([place, code]) => `${place} ${code}`)).toEqual([expected])
  })
})
