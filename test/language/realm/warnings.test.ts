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
