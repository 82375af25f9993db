// Where a browser is sent after login and logout: the table of redirects, over real processes.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { authorize } from '../../support/login-driver.ts'
import { OWN, startLoginRig, type LoginRig } from './login-rig.ts'

interface RedirectRow {
  readonly id: string
  readonly redirect_uri?: string | null
  readonly query?: string
  readonly accept: readonly string[]
}

const file = join(import.meta.dirname, '../../dataplane/oidc/cases/redirects.json')
const table = JSON.parse(await readFile(file, 'utf8')) as {
  readonly base_url: string
  readonly allowed_redirect_origins: readonly string[]
  readonly cases: readonly RedirectRow[]
}

let rig: LoginRig

beforeAll(async () => {
  rig = await startLoginRig()
  const { issuer } = await rig.idp()
  const corp = { issuer, allowed_redirect_origins: table.allowed_redirect_origins }
  await rig.serve({ name: 'v1', realm: 'com.example.realm', providers: { corp } })
})

afterAll(async () => {
  await rig[Symbol.asyncDispose]()
})

const queryOf = ({ query, redirect_uri: wanted }: RedirectRow): string =>
  query ?? (typeof wanted === 'string' ? `redirect_uri=${encodeURIComponent(wanted)}` : '')

it('the table speaks of this gateway', () => {
  expect(table.base_url).toBe(OWN)
})

describe('after login', () => {
  it.each(table.cases)('$id goes to $accept.0', async (row) => {
    const browser = rig.browser()
    const login = `${OWN}/v1/oidc/login?${queryOf(row)}`
    const page = await browser.visit(await authorize(browser, login, 'alice'))
    expect(page.status).toBe(302)
    expect(row.accept).toContain(page.headers['location'])
    expect(page.setCookies.map((line) => line.split('=')[0])).toEqual([
      'svc_ticket_com.example.realm',
      'svc_csrf_com.example.realm',
    ])
  })
})

describe.each(['GET', 'POST'])('after logout by %s', (method) => {
  it.each(table.cases)('$id goes to $accept.0', async (row) => {
    const page = await rig.browser().visit(`${OWN}/v1/oidc/logout?${queryOf(row)}`, { method })
    expect(page.status).toBe(302)
    expect(row.accept).toContain(page.headers['location'])
  })
})

describe('the own endpoints', () => {
  it.each(['/v1/oidc/logout', '/v1/oidc/login?redirect_uri=/x', `${OWN}/v1/oidc/logout`])(
    '%s is no target: the browser is not sent round in circles, or out again',
    async (target) => {
      const browser = rig.browser()
      const query = new URLSearchParams({ redirect_uri: target }).toString()
      const login = `${OWN}/v1/oidc/login?${query}`
      const page = await browser.visit(await authorize(browser, login, 'alice'))
      expect(page.headers['location']).toBe('/')
    },
  )
})
