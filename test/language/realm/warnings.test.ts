import { describe, expect, it } from '@jest/globals'
import type { RealmRecord } from '../../../language/realm/record.ts'
import { warnOfRealm } from '../../../language/realm/warnings.ts'

const realmWith = (provider: object): RealmRecord => ({
  uri: 'com.acme',
  info: {
    oidc_providers: {
      'a/b': {
        issuer: 'https://id.test',
        client_id: 'gateway',
        client_secret: '',
        redirect_uri: 'https://a.test/v1/oidc/a%2Fb/callback',
        ...provider,
      },
    },
  },
})

describe('warnings of a realm', () => {
  it.each<[string, RealmRecord]>([
    ['no providers', { uri: 'com.acme' }],
    ['an issuer with TLS', realmWith({})],
    [
      'keys of a realm without users',
      { uri: 'com.acme', api_keys: [{ key_sha256: 'x', username: 'bob' }] },
    ],
    [
      'the key of a user',
      {
        uri: 'com.acme',
        users: [{ username: 'bob' }],
        api_keys: [{ key_sha256: 'x', username: 'bob' }],
      },
    ],
    [
      'one without, and leave to call it',
      realmWith({ issuer: 'http://id.test', allow_unsafe_http: true }),
    ],
  ])('none for %s', (_, realm) => {
    expect(warnOfRealm(realm)).toEqual([])
  })

  it.each([{}, { allow_unsafe_http: false }])(
    'say that no login works at an issuer without TLS: %j',
    (more) => {
      expect(warnOfRealm(realmWith({ issuer: 'HTTP://id.test', ...more }))).toEqual([
        {
          code: 'AlwaysFails',
          path: '/info/oidc_providers/a~1b/issuer',
          message: expect.stringContaining('allowUnsafeHttp') as unknown,
        },
      ])
    },
  )

  it.each([
    ['https://id.test', 'https://a.test/v1/oidc/a%2Fb/callback', true],
    ['https://id.acme.test', 'https://api.acme.test:8443/v1/oidc/a%2Fb/callback', false],
    ['https://acme.test', 'https://acme.test/v1/oidc/a%2Fb/callback', false],
    // Schemes are part of a site.
    ['https://id.acme.test', 'http://api.acme.test/v1/oidc/a%2Fb/callback', true],
    ['https://10.0.0.1', 'https://10.1.0.1/v1/oidc/a%2Fb/callback', true],
    ['https://[::1]:8080', 'https://[::1]/v1/oidc/a%2Fb/callback', false],
  ])('of a strict cookie, provider %s, callback %s: %j', (issuer, redirectUri, isWarned) => {
    const of = (sameSite: string) =>
      warnOfRealm(
        realmWith({ issuer, redirect_uri: redirectUri, cookie_same_site: sameSite }),
      ).filter(({ path }) => path.endsWith('/cookie_same_site'))
    expect(of('strict')).toHaveLength(isWarned ? 1 : 0)
    expect(of('lax')).toEqual([])
    expect(of('none')).toEqual([])
  })

  const redirectTo = (name: string, redirectUri: string) => {
    const provider = {
      issuer: 'https://id.test',
      client_id: 'gateway',
      client_secret: '',
      redirect_uri: redirectUri,
    }
    const realm = { uri: 'com.acme', info: { oidc_providers: { [name]: provider } } }
    return warnOfRealm(realm).map(({ code, path }) => `${code} ${path}`)
  }

  it.each([
    ['corp', 'https://a.test/oidc/corp/callback'],
    ['corp', 'HTTPS://A.test:8443/v1/x/oidc/corp/callback?a=b#c'],
    ['corp', 'https://a.test/v1/oidc/c%6frp/callback'],
    ['a b', 'https://a.test/v1/oidc/a%20b/callback'],
  ])('none for the callback of %s at %s', (name, redirectUri) => {
    expect(redirectTo(name, redirectUri)).toEqual([])
  })

  it.each([
    ['corp', 'https://a.test'],
    ['corp', 'https://a.test/cb'],
    ['corp', 'https://a.test/v1/oidc/callback'],
    ['corp', 'https://a.test/v1/oidc/other/callback'],
    ['corp', 'https://a.test/v1/oidc/corp/callback/'],
    ['corp', 'https://a.test/v1/oidc/corp/login'],
    ['corp', 'https://a.test/v1/oidc/%/callback'],
    ['corp', 'https:// '],
  ])('say that the callback of %s is not at %s', (name, redirectUri) => {
    expect(redirectTo(name, redirectUri)).toEqual([
      `UnsatisfiedSecurity /info/oidc_providers/${name}/redirect_uri`,
    ])
  })
})
