import { describe, expect, it } from '@jest/globals'
import { redacted } from '../../../dataplane/realm/redact.ts'
import type { RealmRecord } from '../../../language/realm/record.ts'

const realm: RealmRecord = {
  uri: 'com.acme',
  description: 'people',
  authmethods: ['oidcrp', 'cookie'],
  router: {
    url: 'wss://user:hidden-0@router:8080/ws?token=hidden-0@',
    urls: ['ws://hidden-1@a/', 'ws://b/p@q'],
    pool: 2,
    auth: { method: 'ticket', authid: 'gw', secret: 'hidden-2' },
  },
  call_timeout: 5000,
  users: [{ username: 'alice', password_hash: 'hidden-3', groups: ['staff'], meta: { a: 1 } }],
  api_keys: [{ key_sha256: 'hidden-4', username: 'alice' }],
  trusted_issuers: [
    { issuer: 'https://i', jwks_uri: 'https://i/jwks', audience: 'a', require_typ: 'at+jwt' },
  ],
  callback_secret: 'hidden-5',
  signing_keys: ['hidden-6', { d: 'hidden-7' }],
  info: {
    oidc_providers: {
      default: {
        issuer: 'https://idp',
        client_id: 'c',
        client_secret: 'hidden-8',
        redirect_uri: 'https://a/cb',
      },
    },
  },
}

describe('redacted', () => {
  it('shows everything but the secrets', () => {
    expect(redacted(realm)).toEqual({
      uri: 'com.acme',
      description: 'people',
      authmethods: ['oidcrp', 'cookie'],
      router: {
        url: 'wss://router:8080/ws',
        urls: ['ws://a/', 'ws://b/p@q'],
        pool: 2,
        auth: { method: 'ticket', authid: 'gw' },
      },
      call_timeout: 5000,
      users: [{ username: 'alice', groups: ['staff'], meta: { a: 1 } }],
      api_keys: [{ username: 'alice' }],
      trusted_issuers: [
        { issuer: 'https://i', jwks_uri: 'https://i/jwks', audience: 'a', require_typ: 'at+jwt' },
      ],
      info: {
        oidc_providers: {
          default: { issuer: 'https://idp', client_id: 'c', redirect_uri: 'https://a/cb' },
        },
      },
    })
  })

  it('hides what it does not know', () => {
    const record = { uri: 'a', later_secret: 'hidden', info: { other: 'hidden' } } as RealmRecord
    expect(redacted(record)).toEqual({ uri: 'a', info: {} })
  })

  it('keeps a provider that is called __proto__ an own member', () => {
    const info = JSON.parse('{"oidc_providers": {"__proto__": {"issuer": "i"}}}') as NonNullable<
      RealmRecord['info']
    >
    expect(JSON.stringify(redacted({ uri: 'a', info }))).toContain('"__proto__":{"issuer":"i"}')
  })
})
