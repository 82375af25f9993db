import { describe, expect, it } from '@jest/globals'
import { redacted, secretPointers } from '../../../language/realm/redact.ts'
import { lookup } from '../../../language/expression/lookup.ts'
import { isList, type Value } from '../../../language/expression/value.ts'
import type { RealmRecord } from '../../../language/realm/record.ts'
import type { Sensitivity } from '../../../language/schema/realm-notation.ts'
import { HIDDEN, realmWithEverything } from '../../support/realm-with-everything.ts'

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

const isReadable = (sensitivity: Sensitivity): boolean =>
  sensitivity === 'public' || sensitivity === 'address'

/** Of a list only the first entry, as the pointers of `realmWithEverything` have it. */
const valueAt = (value: Value, pointer: string): Value | undefined => {
  const tokens = pointer.slice(1).split('/').map(unescapeToken)
  return tokens.reduce<Value | undefined>(
    (at, token) => (isList(at) ? at[Number(token)] : at && lookup(at, [token])),
    value,
  )
}

const unescapeToken = (token: string): string => token.replaceAll('~1', '/').replaceAll('~0', '~')

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

  it('never shows a secret, whatever members the schema has', () => {
    const { record } = realmWithEverything()
    expect(JSON.stringify(record)).toContain(HIDDEN)
    expect(JSON.stringify(redacted(record))).not.toContain(HIDDEN)
  })

  it.each(realmWithEverything().leaves.filter(({ sensitivity }) => isReadable(sensitivity)))(
    'shows $pointer, which is $sensitivity',
    ({ pointer }) => {
      expect(valueAt(redacted(realmWithEverything('ws://router/').record), pointer)).toEqual(
        valueAt(realmWithEverything('ws://router/').record, pointer),
      )
    },
  )

  it('leaves out the whole list where its entries are secrets', () => {
    expect(redacted({ uri: 'a', signing_keys: ['hidden'] })).toEqual({ uri: 'a' })
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

describe('secretPointers', () => {
  it('names every value that may not be read back, and no other', () => {
    const { record, leaves } = realmWithEverything()
    const secrets = leaves.filter(({ sensitivity }) => sensitivity !== 'public')
    expect(secretPointers(record)).toEqual(secrets.map(({ pointer }) => pointer))
  })

  it('does not name an address without credentials', () => {
    expect(secretPointers({ uri: 'a', router: { url: 'ws://router/' } })).toEqual([])
  })
})
