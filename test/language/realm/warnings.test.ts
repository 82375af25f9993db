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
        redirect_uri: 'https://a.test/oidc/callback',
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
      'one without, and leave to call it',
      realmWith({ issuer: 'http://id.test', allow_unsafe_http: true }),
    ],
  ])('none for %s', (_, realm) => {
    expect(warnOfRealm(realm)).toEqual([])
  })

  const key = (username: string) => ({ username, key_sha256: 'a'.repeat(64) })
  it.each<[string, RealmRecord, readonly (readonly [path: string, words: string])[]]>([
    ['of a user', { uri: 'a', users: [{ username: 'ann' }], api_keys: [key('ann')] }, []],
    ['of nobody', { uri: 'a', users: [{ username: 'ann' }], api_keys: [key('shop')] }, []],
    ['of another number', { uri: 'a', users: [{ username: 'a-1' }], api_keys: [key('a-2')] }, []],
    ['in a realm without users', { uri: 'a', users: [], api_keys: [key('ann')] }, []],
    [
      'that is misspelt',
      { uri: 'a', users: [{ username: 'anna' }], api_keys: [key('anna'), key('anan')] },
      [['/api_keys/1/username', "did you mean 'anna'?"]],
    ],
  ])('of the username of a key %s', (_, realm, expected) => {
    expect(warnOfRealm(realm)).toEqual(
      expected.map(([path, words]) => ({
        code: 'UnknownUser',
        path,
        message: expect.stringContaining(words),
      })),
    )
  })

  it('are few, however many keys there are', () => {
    const api_keys = Array.from({ length: 1000 }, () => key('anan'))
    expect(warnOfRealm({ uri: 'a', users: [{ username: 'anna' }], api_keys })).toHaveLength(20)
  })

  it.each([{}, { allow_unsafe_http: false }])(
    'say that nobody logs in at an issuer without TLS: %j',
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
})
