// Asks what the log says of a login that failed: the provider that was asked for, and the setting of the Realm to fix.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { RealmRecord } from '../../../../language/realm/record.ts'
import { FakeProvider, type Misbehaviour, newPair, sendJson } from '../fake-provider.ts'
import {
  Browser,
  headerOf,
  openRoom,
  providerRecord,
  realmRecord,
  REALM,
  type TestRoom,
} from '../room.ts'

let op: FakeProvider

beforeAll(async () => {
  op = await FakeProvider.open(newPair('k1'))
})

afterAll(() => op.close())

beforeEach(() => {
  op.misbehaviour = {}
})

const open = (more: Partial<RealmRecord> = {}, issuer = op.issuer): TestRoom => {
  const room = openRoom()
  room.realms.set(REALM, { ...realmRecord(REALM, { corp: providerRecord(issuer) }), ...more })
  return room
}

const refusesClient =
  (challenge?: string): NonNullable<Misbehaviour['token']> =>
  (response) => {
    if (challenge !== undefined) response.setHeader('www-authenticate', challenge)
    sendJson(response, { error: 'invalid_client' }, 401)
  }

const refuses =
  (error: string): NonNullable<Misbehaviour['token']> =>
  (response) => {
    sendJson(response, { error }, 400)
  }

const lineOf = ({ logged }: TestRoom): string => logged.at(-1) ?? ''

describe('the log of a login that failed', () => {
  it.each([
    ['nobody', 'nobody'],
    ['x'.repeat(5000), 'x'.repeat(200)],
  ])('names the provider that was requested: %s', async (asked, named) => {
    const room = open()
    await new Browser().login(room, { query: `provider=${asked}` })

    expect(room.logged.join()).toContain(
      `"provider":"${named}","setting":"info.oidcProviders","requestId"`,
    )
    expect(room.audits).toMatchObject([{ reason: 'unknown_provider', provider: named }])
  })

  it('names authmethods where they are what is missing', async () => {
    const room = open({ authmethods: ['cookie'] })
    await new Browser().login(room)

    expect(room.logged.join()).toContain('"provider":"corp","setting":"authmethods"')
  })

  it('names the provider that was requested and that there is, not that of the document', async () => {
    const room = open()
    room.realms.set(
      REALM,
      realmRecord(REALM, {
        corp: providerRecord(op.issuer),
        slash: providerRecord('http://127.0.0.1:1'),
      }),
    )
    await new Browser().login(room, { query: 'provider=slash' })

    expect(lineOf(room)).toContain('"provider":"slash","setting":"info.oidcProviders.slash.issuer"')
    expect(room.audits).toMatchObject([{ reason: 'provider_unavailable', provider: 'slash' }])
  })

  it.each<[string, string, Misbehaviour, string[]]>([
    [
      'a dead issuer',
      'http://127.0.0.1:1',
      {},
      ['the issuer does not accept connections', 'issuer"', '"reason":"refused"'],
    ],
    [
      'an http issuer',
      'http://127.0.0.1:1',
      {},
      ['set allowUnsafeHttp where that is safe', 'allowUnsafeHttp"', '"reason":"plain_http"'],
    ],
    [
      'another issuer',
      '',
      {
        discovery: (response, document) => {
          sendJson(response, { ...document, issuer: 'https://idp.example/' })
        },
      },
      ['the metadata name another issuer', 'issuer"', '"found":"https://idp.example/"'],
    ],
    [
      'no authorization endpoint',
      '',
      {
        discovery: (response, document) => {
          sendJson(response, { ...document, authorization_endpoint: undefined })
        },
      },
      ['names no authorization_endpoint', 'issuer"'],
    ],
  ])('says what to do about %s', async (name, issuer, misbehaviour, said) => {
    op.misbehaviour = misbehaviour
    const own = issuer === '' ? op.issuer : issuer
    const record = providerRecord(own, { allow_unsafe_http: name !== 'an http issuer' })
    const room = open({ info: { oidc_providers: { corp: record } } })
    await new Browser().login(room)

    for (const part of said) expect(lineOf(room)).toContain(part)
    expect(lineOf(room).includes(`"issuer":"${own}"`)).toBe(name !== 'no authorization endpoint')
  })

  it.each<[string, Misbehaviour, string]>([
    ['a secret that is refused', { token: refusesClient() }, 'clientSecret'],
    ['the same by a challenge', { token: refusesClient('Basic realm="idp"') }, 'clientSecret'],
    ['a code that is refused', { token: refuses('invalid_grant') }, 'redirectUri'],
    ['a client without the flow', { token: refuses('unauthorized_client') }, 'clientId'],
    ['a name that is none', { claims: { preferred_username: '' } }, 'authidClaim'],
  ])('names the setting to fix: %s', async (_, misbehaviour, setting) => {
    const room = open()
    const browser = new Browser()
    const login = await browser.login(room)
    const returned = op.authorize(headerOf(login, 'location') ?? '')
    op.misbehaviour = misbehaviour
    await browser.callback(room, returned)

    expect(room.logged.join()).toContain(`"setting":"info.oidcProviders.corp.${setting}"`)
  })

  it.each<[string, Record<string, unknown>, string]>([
    ['an empty refresh token', { refresh_token: '' }, ''],
    ['refresh token and scope that are null', { refresh_token: null, scope: null }, ''],
    ['a list of scopes', { scope: ['openid', 'email'] }, ''],
    ['a life that is null', { expires_in: null }, ''],
    ['a refresh token of another type', { refresh_token: { a: 1 } }, ''],
    ['a member of its own that is null', { resource: null }, ''],
    ['a life below 0', { expires_in: -1 }, 'expires_in'],
    ['a life in words', { expires_in: 'soon' }, 'expires_in'],
    ['an ID token that is null', { id_token: null }, 'id_token'],
    ['an ID token that is a number', { id_token: 1 }, 'id_token'],
    ['an empty access token', { access_token: '' }, 'access_token'],
    ['an access token that is null', { access_token: null }, 'access_token'],
    ['a type that is null', { token_type: null }, 'token_type'],
  ])('names a member only where the login needs it: %s', async (_, oddity, member) => {
    const room = open()
    const browser = new Browser()
    const login = await browser.login(room)
    op.misbehaviour = {
      token: (response, fields) => {
        sendJson(response, { ...fields, ...oddity })
      },
    }
    const query = op.authorize(headerOf(login, 'location') ?? '')
    const { status } = await browser.callback(room, query)

    expect([status, /"response\W+body \W+(\w+)/.exec(lineOf(room))?.[1] ?? '']).toEqual([
      member === '' ? 302 : 400,
      member,
    ])
  })

  it.each([
    ['invalid_scope', 'scopes'],
    ['unauthorized_client', 'clientId'],
  ])('names the setting to fix when the provider answers %s', async (error, setting) => {
    const room = open()
    await new Browser().callback(room, `error=${error}&state=x`)

    expect(room.logged.at(-1)).toContain(`"setting":"info.oidcProviders.corp.${setting}"`)
  })

  it.each(['constructor', '__proto__', 'access_denied'])(
    'takes %s for no setting',
    async (error) => {
      const room = open()
      await new Browser().callback(room, `error=${error}&state=x`)

      expect(room.logged.at(-1)).toContain('"code":"missing_code_or_state"')
      expect(room.logged.at(-1)).not.toContain('"setting"')
    },
  )

  it('leads to redirectUri where the browser has no cookie of the login', async () => {
    const room = open()
    const login = await new Browser().login(room)
    await new Browser().callback(room, op.authorize(headerOf(login, 'location') ?? ''))

    expect(lineOf(room)).toContain('"setting":"info.oidcProviders.corp.redirectUri"')
  })

  it('warns once a minute of each kind, with the number that was left out', async () => {
    const room = open({
      info: {
        oidc_providers: {
          corp: providerRecord('http://127.0.0.1:1'),
          other: providerRecord('http://127.0.0.1:1'),
        },
      },
    })
    for (let each = 0; each < 4; each++) await new Browser().login(room)
    await new Browser().login(room, { query: 'provider=other' })
    expect(room.logged).toHaveLength(2)
    room.clock.advance(60_000)
    await new Browser().login(room)

    expect(room.logged).toHaveLength(3)
    expect(lineOf(room)).toContain('"more":3')
    expect(room.audits).toHaveLength(6)
  })

  it('names no setting where none is to blame', async () => {
    const room = open()
    await new Browser().callback(room, 'error=access_denied&state=x')

    expect(room.logged.join()).toContain('"error":"access_denied"')
    expect(room.logged.join()).not.toContain('"setting"')
  })
})
