import { describe, expect, it } from '@jest/globals'
import type { ExtensibleSchema } from '../../../language/schema/realm-notation.ts'
import { REALM_SCHEMA } from '../../../language/schema/realm-schema.ts'
import { OIDC_PROVIDER_SCHEMA } from '../../../language/schema/oidc-provider-schema.ts'
import { ROUTER_SCHEMA } from '../../../language/schema/router-schema.ts'
import { criticalMembers, isKnownMember, unknownMembers } from '../../../language/wire/members.ts'

const realmWith = (member: string): object => ({ realm: { [member]: 1 } })
const routerWith = (member: string): object => ({ realm: { router: { [member]: 1 } } })

describe('members that are known', () => {
  it.each(Object.keys(REALM_SCHEMA.properties))('%s of a realm, as its schema has it', (member) => {
    expect(unknownMembers('realm', realmWith(member))).toEqual([])
  })

  it.each(Object.keys(ROUTER_SCHEMA.properties))('%s of a router, too', (member) => {
    expect(unknownMembers('realm', routerWith(member))).toEqual([])
  })

  it.each(Object.keys(OIDC_PROVIDER_SCHEMA.properties))('%s of a provider, too', (member) => {
    expect(unknownMembers('realm', providerWith('corp', member))).toEqual([])
  })
})

const providerWith = (name: string, member: string): object => ({
  realm: { info: { oidc_providers: { [name]: { [member]: 1 } } } },
})

/** Of gateways that read `critical` first. A member that came later is not known to them: nothing is added here. */
const FIRST_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  realm: [
    'uri',
    'description',
    'authmethods',
    'router',
    'call_timeout',
    'users',
    'groups',
    'api_keys',
    'trusted_issuers',
    'callback_origins',
    'callback_secret',
    'allowed_origins',
    'oauth2',
    'info',
    'signing_keys',
  ],
  router: ['url', 'urls', 'serializers', 'auth', 'pool', 'keepalive', 'call_timeout_unit'],
  provider: [
    'issuer',
    'client_id',
    'client_secret',
    'redirect_uri',
    'scopes',
    'authid_claim',
    'role_claim',
    'role_claim_fallback',
    'role_mapping',
    'ticket_expiry_secs',
    'allow_unsafe_http',
    'cookie_domain',
    'cookie_same_site',
    'cookie_http_only',
    'allowed_redirect_origins',
    'end_session_endpoint',
    'token_endpoint_auth_method',
    'ca',
  ],
}

it.each<[string, ExtensibleSchema]>([
  ['realm', REALM_SCHEMA],
  ['router', ROUTER_SCHEMA],
  ['provider', OIDC_PROVIDER_SCHEMA],
])('of a %s, what came after the first version is critical or ignorable', (name, schema) => {
  const known = Object.entries(schema.properties).filter(
    ([, property]) => property['x-importance'] === 'known',
  )
  expect(known.map(([member]) => member)).toEqual(FIRST_MEMBERS[name])
})

describe('unknownMembers', () => {
  it.each<[Parameters<typeof unknownMembers>[0], unknown, readonly string[]]>([
    ['spec', { id: 'a', spec: { anything: 1 }, confinedTo: 'a', critical: [] }, []],
    ['spec', { quota: 1, 'a/b': 2 }, ['/quota', '/a~1b']],
    ['spec', { constructor: 1, hasOwnProperty: 1 }, ['/constructor', '/hasOwnProperty']],
    ['spec', JSON.parse('{"__proto__": 1}'), ['/__proto__']],
    ['spec', null, []],
    ['spec', ['a'], []],
    ['realm', { uri: 'a', digest: 'd', realm: { uri: 'a', users: [{ more: 1 }] } }, []],
    [
      'realm',
      { shard: 1, realm: { region: 1, router: { weight: 1 } } },
      ['/shard', '/realm/region', '/realm/router/weight'],
    ],
    ['realm', providerWith('a/b', 'c~d'), ['/realm/info/oidc_providers/a~1b/c~0d']],
    [
      'realm',
      JSON.parse('{"realm":{"info":{"oidc_providers":{"__proto__":{"x":1}}}}}'),
      ['/realm/info/oidc_providers/__proto__/x'],
    ],
    [
      'realm',
      { realm: { info: { more: 1, oidc_providers: { a: 1, b: [], c: { x: {} } } } } },
      ['/realm/info/oidc_providers/c/x'],
    ],
    ['realm', { realm: { router: 'x' } }, []],
    ['realm', { realm: 7 }, []],
  ])('of a %s: %j', (kind, entry, pointers) => {
    expect(unknownMembers(kind, entry)).toEqual(pointers)
  })
})

describe('isKnownMember', () => {
  it.each<[Parameters<typeof isKnownMember>[0], string, boolean]>([
    ['spec', '/confinedTo', true],
    ['spec', '/spec', true],
    ['spec', '/spec/**/security', true],
    ['spec', '/spec/**/limit', false],
    ['spec', '/spec/**/constructor', false],
    ['spec', '/spec/**', false],
    ['spec', '/spec/**/security/more', false],
    ['spec', '/spec/security', false],
    ['spec', '/quota', false],
    ['spec', '/quota/rate', false],
    ['spec', '/__proto__', false],
    ['spec', '/', false],
    ['realm', '/realm/users/0/username', true],
    ['realm', '/realm/router/url', true],
    ['realm', '/realm/router/tls', false],
    ['realm', '/realm/info/oidc_providers/corp/issuer', true],
    ['realm', '/realm/info/oidc_providers/corp', true],
    ['realm', '/realm/info/more/corp/issued', true],
    ['realm', '/realm/info/oidc_providers/corp/pkce', false],
    ['realm', '/realm/info/oidc_providers/a~1b/pkce/method', false],
    ['realm', '/realm/networks', false],
    ['realm', '/shard', false],
  ])('%s %s: %j', (kind, pointer, isKnown) => {
    expect(isKnownMember(kind, pointer)).toBe(isKnown)
  })
})

it('a document that may not leave its namespace says that this is no mere word', () => {
  expect(criticalMembers('spec', { id: 'a', spec: {}, confinedTo: 'shop' })).toEqual([
    '/confinedTo',
  ])
})

it('a document whose keys restrict says so by their names, once each', () => {
  const path = { security: { type: 'basic' }, get: { body_max_bytes: 1, timeout: 1 } }
  const spec = { security: {}, versions: { v1: { paths: { '/a': path, '/b': path } } } }
  expect(criticalMembers('spec', { id: 'a', spec })).toEqual([
    '/spec/**/body_max_bytes',
    '/spec/**/security',
  ])
})
