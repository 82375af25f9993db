import { beforeEach, describe, expect, it } from '@jest/globals'
import { hash } from 'node:crypto'
import type { RealmRecord } from '../../../../language/realm/record.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { headersOf, REALM, type SecurityHome, securityHome, statusOf } from '../security-home.ts'

const RECORD: RealmRecord = {
  uri: REALM,
  users: [
    { username: 'alice', groups: ['staff'], meta: { dept: 'hats' } },
    { username: 'bot', groups: [] },
  ],
  api_keys: [
    { key_sha256: hash('sha256', 'key-alice-1'), username: 'alice' },
    { key_sha256: hash('sha256', 'key-bot-2'), username: 'bot' },
    { key_sha256: hash('sha256', 'Bearer abc'), username: 'bot' },
    { key_sha256: hash('sha256', 'schlüssel'), username: 'bot' },
    { key_sha256: hash('sha256', 'key-free'), username: 'not-listed' },
    { key_sha256: hash('sha256', 'key-alice-1'), username: 'bot' },
    { key_sha256: hash('sha256', ''), username: 'alice' },
    { key_sha256: hash('sha256', '__proto__'), username: '__proto__' },
  ],
}

let home: SecurityHome

beforeEach(() => {
  home = securityHome({ realms: [RECORD, { uri: 'com.example.other' }] })
})

const ask = (headers: readonly (readonly [string, string])[], headerName = 'x-api-key') =>
  home.call({ type: 'api_key', headerName }, headers)

const latin1 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')

describe('the api_key scheme', () => {
  it('knows whom a key stands for', async () => {
    expect(await ask([['X-Api-Key', 'key-alice-1']])).toMatchObject({
      kind: 'identity',
      identity: {
        type: 'api_key',
        realm_uri: REALM,
        authid: 'alice',
        username: 'alice',
        authmethod: 'api_key',
        authroles: ['staff'],
        groups: ['staff'],
        client_id: '',
        session: '',
        scope: [],
        locale: '',
        meta: { dept: 'hats' },
      },
    })
  })

  it.each([
    ['x-api-key', 'key-bot-2', 'bot'],
    ['authorization', 'Bearer abc', 'bot'],
    ['x-api-key', latin1('schlüssel'), 'bot'],
    ['x-api-key', 'key-free', 'not-listed'],
    ['x-api-key', '__proto__', '__proto__'],
  ])('%s: %s is %s', async (name, key, username) => {
    const verdict = await ask([[name, key]], name)
    expect(verdict).toMatchObject({ identity: { username, groups: [] } })
  })

  it.each<[string, readonly (readonly [string, string])[], string | undefined]>([
    ['no key', [], undefined],
    ['an empty key', [['x-api-key', '']], undefined],
    ['a wrong key', [['x-api-key', 'key-alice-2']], 'unknown_key'],
    ['a key in another header', [['authorization', 'key-alice-1']], undefined],
    ['a digest', [['x-api-key', hash('sha256', 'key-alice-1')]], 'unknown_key'],
    ['a key with more behind it', [['x-api-key', 'key-alice-1 ']], 'unknown_key'],
    [
      'two keys',
      [
        ['x-api-key', 'key-alice-1'],
        ['X-API-Key', 'key-bot-2'],
      ],
      'malformed_credentials',
    ],
    [
      'an empty key and one',
      [
        ['x-api-key', ''],
        ['X-API-Key', 'key-bot-2'],
      ],
      'malformed_credentials',
    ],
  ])('refuses %s', async (_, headers, reason) => {
    const verdict = await ask(headers)
    expect([statusOf(verdict), headersOf(verdict)]).toEqual([
      401,
      { 'www-authenticate': `ApiKey realm="${REALM}"` },
    ])
    expect(home.audited.map((event) => event.reason)).toEqual(reason === undefined ? [] : [reason])
    expect(JSON.stringify(home.audited)).not.toContain('key-')
  })

  describe('a key with an end and a meta of its own', () => {
    const END = '2027-05-01T02:00:00+02:00'
    const END_MS = Date.UTC(2027, 4, 1)
    const withKeys = (...keys: NonNullable<RealmRecord['api_keys']>): void => {
      home.realms.set(REALM, { ...RECORD, api_keys: keys })
    }
    const keyOf = (key: string, more: object) => ({
      key_sha256: hash('sha256', key),
      username: 'alice',
      ...more,
    })

    it.each<[string, object, object]>([
      ['has the meta of its user', {}, { dept: 'hats' }],
      ['adds entries', { meta: { plan: 'gold' } }, { dept: 'hats', plan: 'gold' }],
      ['replaces entries as a whole', { meta: { dept: { a: 1 } } }, { dept: { a: 1 } }],
      ['has an entry that is null', { meta: { dept: null } }, { dept: null }],
      ['of no user', { username: 'not-listed', meta: { plan: 'free' } }, { plan: 'free' }],
    ])('%s', async (_, more, meta) => {
      withKeys(keyOf('k', more))
      expect(await ask([['x-api-key', 'k']])).toMatchObject({ identity: { meta } })
    })

    it('says its locale by its meta, and shares no meta with other keys of the user', async () => {
      withKeys(keyOf('a', { meta: { locale: 'de' } }), keyOf('b', { meta: { plan: 'free' } }))
      const of = async (key: string) => await ask([['x-api-key', key]])
      expect(await of('a')).toMatchObject({
        identity: { locale: 'de', meta: { dept: 'hats', locale: 'de' } },
      })
      expect(await of('b')).toMatchObject({
        identity: { locale: '', meta: { dept: 'hats', plan: 'free' } },
      })
    })

    it.each<[string, number, number]>([
      ['a millisecond before', END_MS - 1, 200],
      ['at its end', END_MS, 401],
      ['a year later', END_MS + 31_536_000_000, 401],
    ])('%s: %#', async (_, startMs, status) => {
      withKeys(keyOf('k', { expires_at: END }))
      home.clock = createManualClock({ startMs })
      expect(statusOf(await ask([['x-api-key', 'k']]))).toBe(status)
      const reasons = home.audited.map(({ reason, authid }) => [reason, authid])
      expect(reasons).toEqual(status === 200 ? [] : [['expired', 'alice']])
    })

    it('ends on a connection where it was right before', async () => {
      withKeys(keyOf('k', { expires_at: END }))
      home.clock = createManualClock({ startMs: END_MS - 1 })
      expect(statusOf(await ask([['x-api-key', 'k']]))).toBe(200)
      home.clock = createManualClock({ startMs: END_MS })
      expect(statusOf(await ask([['x-api-key', 'k']]))).toBe(401)
    })

    it('is not made good by a second entry, and may end at a leap second', async () => {
      withKeys(keyOf('k', { expires_at: END }), keyOf('k', {}))
      home.clock = createManualClock({ startMs: END_MS })
      expect(statusOf(await ask([['x-api-key', 'k']]))).toBe(401)
      withKeys(keyOf('k', { expires_at: '2999-12-31T23:59:60Z' }))
      expect(statusOf(await ask([['x-api-key', 'k']]))).toBe(200)
      withKeys(keyOf('k', { expires_at: '2016-12-31T23:59:60Z' }))
      expect(statusOf(await ask([['x-api-key', 'k']]))).toBe(401)
    })
  })

  it('follows the record, and knows no keys of other realms', async () => {
    const key = [['x-api-key', 'key-alice-1']] as const
    expect(statusOf(await ask(key))).toBe(200)
    const demand = { type: 'api_key', headerName: 'x-api-key' } as const
    expect(statusOf(await home.call(demand, key, { realm: 'com.example.other' }))).toBe(401)
    home.realms.set(REALM, { ...RECORD, api_keys: [] })
    expect(statusOf(await ask(key))).toBe(401)
  })
})
