import { describe, expect, it } from '@jest/globals'
import { lenientFactsOf } from '../../../dataplane/realm/realm-facts.ts'
import { factsOf } from '../../../language/realm/facts.ts'
import { RealmRegistry } from '../../../dataplane/realm/realm-registry.ts'

const provider = { issuer: 'i', client_id: 'c', client_secret: 's', redirect_uri: 'r' }

describe('RealmRegistry', () => {
  it('finds what was put last, and nothing after it was deleted', () => {
    const realms = new RealmRegistry()
    realms.put({ uri: 'a', description: 'old' })
    realms.put({ uri: 'a', description: 'new' })
    realms.put({ uri: '__proto__' })
    expect(realms.get('a')?.description).toBe('new')
    expect([...realms.uris()]).toEqual(['a', '__proto__'])
    realms.delete('a')
    expect(realms.get('a')).toBeUndefined()
  })

  it.each(['constructor', '__proto__', 'toString'])('has no realm %s of itself', (uri) => {
    expect(new RealmRegistry().get(uri)).toBeUndefined()
  })

  it('knows call timeouts', () => {
    const realms = new RealmRegistry()
    realms.put({ uri: 'fast', call_timeout: 50 })
    realms.put({ uri: 'plain' })
    expect(['fast', 'plain', 'none'].map((uri) => realms.callTimeoutMs(uri))).toEqual([
      50, 30_000, 30_000,
    ])
  })
})

describe('factsOf', () => {
  it.each([
    [
      'a bare realm',
      { uri: 'a' },
      {
        authmethods: [],
        oidcProviders: [],
        hasIssuers: false,
        hasUsers: false,
        hasApiKeys: false,
        hasClients: false,
        hasRouter: false,
        hasSigningKeys: false,
        hasWebSocket: false,
        signatures: {},
        credentials: {},
      },
    ],
    [
      'a realm with clients, and with grants',
      {
        uri: 'a',
        users: [{ username: 'a' }, { username: 'b', groups: ['x', 'api_clients'] }],
        api_keys: [{ key_sha256: 'x', username: 'a' }],
        oauth2: { grants: ['password' as const] },
      },
      {
        authmethods: [],
        oidcProviders: [],
        hasIssuers: false,
        hasUsers: true,
        hasApiKeys: true,
        hasClients: true,
        grants: ['password'],
        hasRouter: false,
        hasSigningKeys: false,
        hasWebSocket: false,
        signatures: {},
        credentials: {},
      },
    ],
    [
      'a realm with providers',
      { uri: 'a', authmethods: ['cookie'], info: { oidc_providers: { x: provider } } },
      {
        authmethods: ['cookie'],
        oidcProviders: ['x'],
        hasIssuers: false,
        hasUsers: false,
        hasApiKeys: false,
        hasClients: false,
        hasRouter: false,
        hasSigningKeys: false,
        hasWebSocket: false,
        signatures: {},
        credentials: {},
      },
    ],
    [
      'a realm with issuers',
      { uri: 'a', trusted_issuers: [{ issuer: 'i', jwks_uri: 'https://i', audience: 'a' }] },
      {
        authmethods: [],
        oidcProviders: [],
        hasIssuers: true,
        hasUsers: false,
        hasApiKeys: false,
        hasClients: false,
        hasRouter: false,
        hasSigningKeys: false,
        hasWebSocket: false,
        signatures: {},
        credentials: {},
      },
    ],
  ])('of %s', (_name, realm, facts) => {
    expect(factsOf(realm)).toEqual(facts)
  })

  it.each([
    ['no realm', undefined, ['oidcrp', 'cookie']],
    ['a realm that lost its methods', { uri: 'a', authmethods: ['cookie'] }, ['cookie', 'oidcrp']],
  ])('is lenient about %s', (_name, realm, authmethods) => {
    expect(lenientFactsOf(realm)).toMatchObject({ authmethods, oidcProviders: [] })
  })
})
