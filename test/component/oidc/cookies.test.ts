// The Set-Cookie lines of callback and logout, to the letter: the table of cookies, over real processes.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { logInAt, OWN, startLoginRig, type LoginRig } from './login-rig.ts'

interface CookieRow {
  readonly id: string
  readonly realm: string
  readonly provider?: Readonly<Record<string, unknown>>
  readonly set: readonly string[]
  readonly clear: readonly string[]
}

interface LogoutRow {
  readonly id: string
  readonly query: string
  readonly clear: readonly string[]
}

const file = join(import.meta.dirname, '../../dataplane/oidc/cases/cookies.json')
const table = JSON.parse(await readFile(file, 'utf8')) as {
  readonly cases: readonly CookieRow[]
  readonly providers: readonly CookieRow[]
  readonly logout: readonly LogoutRow[]
}
const rows = [...table.cases, ...table.providers]

let rig: LoginRig

beforeAll(async () => {
  rig = await startLoginRig()
  const { issuer } = await rig.idp({ apis: [...rows.map(({ id }) => id), 'v1'] })
  await rig.serve({ name: 'v1', realm: 'com.example.realm', providers: { corp: { issuer } } })
})

afterAll(async () => {
  await rig[Symbol.asyncDispose]()
})

const JWT = /=[\w-]+\.[\w-]+\.[\w-]+;/
const UUID = /=[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12};/

/** Values as the table writes them. */
const masked = (lines: readonly string[]): readonly string[] =>
  lines.map((line) => line.replace(JWT, '=<ticket>;').replace(UUID, '=<csrf>;'))

describe('realms and providers', () => {
  it.each(rows)('$id: $realm', async ({ id, realm, provider, set, clear }) => {
    const { issuer } = await rig.idp({ apis: [id] })
    await rig.serve({ name: id, realm, providers: { corp: { issuer, ...provider } } })
    const browser = rig.browser()
    const page = await logInAt(browser, id)
    expect(masked(page.setCookies)).toEqual(set)
    const api = `${OWN}/${id}/me`
    expect((await browser.visit(api, { isFetch: true, from: new URL(OWN) })).status).toBe(200)
    const out = await browser.visit(`${OWN}/${id}/oidc/logout`)
    expect(out.setCookies).toEqual(clear)
    expect(browser.jar.cookies.filter(({ name }) => name.startsWith('svc_'))).toEqual([])
    expect((await browser.visit(api)).status).toBe(401)
  })

  it('what scripts may not read is the ticket alone', async () => {
    const { issuer } = await rig.idp({ apis: ['hidden'] })
    const corp = { issuer, cookie_http_only: true, cookie_domain: 'example.com' }
    await rig.serve({ name: 'hidden', realm: 'com.example.hidden', providers: { corp } })
    const page = await logInAt(rig.browser(), 'hidden')
    expect(masked(page.setCookies)).toEqual([
      'svc_ticket_com.example.hidden=<ticket>; Path=/; Max-Age=2592000; SameSite=Lax; Secure; HttpOnly; Domain=example.com',
      'svc_csrf_com.example.hidden=<csrf>; Path=/; Max-Age=2592000; SameSite=Lax; Secure; Domain=example.com',
    ])
  })
})

describe('logout', () => {
  it.each(table.logout)('$id: $query', async ({ query, clear }) => {
    const page = await rig.browser().visit(`${OWN}/v1/oidc/logout?${query}`)
    expect(page.setCookies).toEqual(clear)
  })
})
