import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { readFileSync } from 'node:fs'
import type { OidcProviderRecord } from '../../../language/realm/record.ts'
import { FakeProvider, newPair } from './fake-provider.ts'
import {
  Browser,
  headerOf,
  openRoom,
  providerRecord,
  realmRecord,
  setCookies,
  type TestRoom,
} from './room.ts'

interface Row {
  readonly id: string
  readonly realm: string
  readonly provider?: Partial<OidcProviderRecord>
  readonly set: readonly string[]
  readonly clear: readonly string[]
}

interface LogoutRow {
  readonly id: string
  readonly query: string
  readonly clear: readonly string[]
}

const table = JSON.parse(
  readFileSync(new URL('./cases/cookies.json', import.meta.url), 'utf8'),
) as {
  readonly cases: readonly Row[]
  readonly providers: readonly Row[]
  readonly logout: readonly LogoutRow[]
}

let op: FakeProvider

beforeAll(async () => {
  op = await FakeProvider.open(newPair('k1'))
})

afterAll(() => op.close())

const openFor = (realm: string, more: Partial<OidcProviderRecord> = {}): TestRoom => {
  const endpointDeps = openRoom()
  endpointDeps.realms.set(realm, realmRecord(realm, { corp: providerRecord(op.issuer, more) }))
  return endpointDeps
}

const TICKET = /=eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+;/
const CSRF = /=[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12};/

const masked = (lines: readonly string[]): readonly string[] =>
  lines.map((line) => line.replace(TICKET, '=<ticket>;').replace(CSRF, '=<csrf>;'))

const logIn = async (endpointDeps: TestRoom, realmUri: string, browser: Browser) => {
  const login = await browser.login(endpointDeps, { realmUri })
  return browser.callback(endpointDeps, op.authorize(headerOf(login, 'location') ?? ''), {
    realmUri,
  })
}

describe('the Set-Cookie lines', () => {
  it.each([...table.cases, ...table.providers])('$id', async (row) => {
    const endpointDeps = openFor(row.realm, row.provider)
    const browser = new Browser()
    const loggedIn = await logIn(endpointDeps, row.realm, browser)
    const loggedOut = await browser.logout(endpointDeps, { realmUri: row.realm })

    expect(masked(setCookies(loggedIn))).toEqual(row.set)
    expect(setCookies(loggedOut)).toEqual(row.clear)
  })

  it.each(table.logout)('of logout: $id', async ({ query, clear }) => {
    const realmUri = 'com.example.realm'
    const endpointDeps = openFor(realmUri)
    const response = await new Browser().logout(endpointDeps, { realmUri, query })

    expect(setCookies(response)).toEqual(clear)
  })

  it('hide the ticket alone with cookie_http_only, before the Domain', async () => {
    const realmUri = 'com.example.realm'
    const endpointDeps = openFor(realmUri, { cookie_http_only: true, cookie_domain: 'example.com' })
    const browser = new Browser()
    const loggedIn = await logIn(endpointDeps, realmUri, browser)
    const [ticket, csrf] = setCookies(loggedIn)

    expect(ticket).toMatch(/; Secure; HttpOnly; Domain=example\.com$/)
    expect(csrf).toMatch(/; Secure; Domain=example\.com$/)
    expect(setCookies(await browser.logout(endpointDeps, { realmUri }))[0]).toMatch(
      /=; Path=\/; Max-Age=0; SameSite=Lax; Secure; HttpOnly; Domain=example\.com$/,
    )
  })

  it('never carry a header in a Domain', async () => {
    const realmUri = 'com.example.realm'
    const endpointDeps = openFor(realmUri, { cookie_domain: 'example.com' })
    const responses = await Promise.all(
      ['x%0d%0aset-cookie:a=b', '', 'a;b', 'a%20b', 'x&cookie_domain=y', 'a'.repeat(254)].map(
        (value) =>
          new Browser().logout(endpointDeps, { realmUri, query: `cookie_domain=${value}` }),
      ),
    )
    for (const response of responses)
      expect(setCookies(response)[0]).toMatch(/; Secure; Domain=example\.com$/)
  })

  it('are those of a login: HttpOnly, for one host, at most sixteen alive', async () => {
    const realmUri = 'com.example.realm'
    const endpointDeps = openFor(realmUri)
    const browser = new Browser()
    const lines: string[] = []
    for (let login = 0; login < 19; login++)
      lines.push(...setCookies(await browser.login(endpointDeps, { realmUri })))

    expect(lines[0]).toMatch(
      /^__Host-svc_oidc_[A-Za-z0-9_-]{16}=[A-Za-z0-9_-]{22}; Path=\/; Max-Age=600; SameSite=Lax; Secure; HttpOnly$/,
    )
    expect([...browser.jar.keys()]).toHaveLength(16)
    expect(lines.filter((line) => line.includes('Max-Age=0'))).toHaveLength(3)
  })
})
