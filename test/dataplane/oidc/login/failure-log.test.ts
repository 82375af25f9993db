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

describe('the log of a login that failed', () => {
  it.each([
    ['nobody', 'nobody'],
    ['x'.repeat(5000), 'x'.repeat(200)],
  ])('names the provider that was asked for: %s', async (asked, named) => {
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

  it('names the issuer of a provider whose discovery fails', async () => {
    const room = open({}, 'http://127.0.0.1:1')
    await new Browser().login(room)

    expect(room.logged.join()).toContain('"setting":"info.oidcProviders.corp.issuer"')
  })

  it.each<[string, Misbehaviour, string]>([
    ['a secret that is refused', { token: refusesClient() }, 'clientSecret'],
    ['the same by a challenge', { token: refusesClient('Basic realm="idp"') }, 'clientSecret'],
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

  it('names no setting where none is to blame', async () => {
    const room = open()
    await new Browser().callback(room, 'error=access_denied&state=x')

    expect(room.logged.join()).toContain('"error":"access_denied"')
    expect(room.logged.join()).not.toContain('"setting"')
  })
})
