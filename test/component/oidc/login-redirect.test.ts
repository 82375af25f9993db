// A page that asks for a login, opened in a browser that is not logged in: there and back, over real processes, and
// never round in circles.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { authorize, logIn, type Browser, type Page } from '../../support/login-driver.ts'
import { post } from '../gateway-client.ts'
import { OWN, startLoginRig, type LoginRig } from './login-rig.ts'

const REALM = 'com.example.realm'
const PAGE = `${OWN}/shop/v1/page?tab=2&q=a%20b`

let rig: LoginRig

beforeAll(async () => {
  rig = await startLoginRig()
  const { issuer } = await rig.idp()
  await rig.serve({ name: 'v1', realm: REALM, providers: { corp: { issuer } } })
  const page = { action: { type: 'static', body: '{{security.authid}}' }, response: {} }
  const secured = (more: object): object => ({
    security: { type: 'oidc', provider: 'corp', unauthenticated: 'redirect', ...more },
    get: page,
  })
  const { status, text } = await post(rig.gateway, '/api_specs', {
    id: 'shop',
    host: '_',
    realm_uri: REALM,
    versions: {
      v1: {
        base_path: '/shop/[v1]',
        paths: { '/page': secured({}), '/admins': secured({ roles: ['nobody'] }) },
      },
    },
  })
  if (status !== 204) throw new Error(text)
})

afterAll(async () => {
  await rig[Symbol.asyncDispose]()
})

/** The response of the callback, whose cookies the browser keeps. */
const comeBack = async (browser: Browser): Promise<Page> => {
  const callback = await logIn(browser, PAGE, 'alice')
  if (callback.location === undefined) throw new Error(`${callback.status} ${callback.text}`)
  return callback
}

/** As when a browser blocks or drops it. */
const lose = (browser: Browser, name: string): void => {
  browser.jar.keep(new URL(PAGE), [`${name}=; Path=/; Max-Age=0; Secure`])
}

it('is shown after the login, as it was requested', async () => {
  const browser = rig.browser()
  const callback = await comeBack(browser)
  expect(callback.headers['location']).toBe('/shop/v1/page?tab=2&q=a%20b')
  expect(callback.setCookies.map((line) => line.split('=')[0])).toEqual([
    `svc_ticket_${REALM}`,
    `svc_csrf_${REALM}`,
    `__Host-svc_oidc_.returned.${REALM}`,
  ])
  expect(callback.setCookies[2]).toMatch(/=1; Path=\/; Max-Age=10; SameSite=Lax; Secure; HttpOnly$/)
  const page = await browser.visit(PAGE)
  expect([page.status, page.text]).toEqual([200, '"alice"'])
})

it('is 401 with the reason where the ticket was lost on the way, and asks no provider again', async () => {
  const browser = rig.browser()
  await comeBack(browser)
  lose(browser, `svc_ticket_${REALM}`)
  const page = await browser.visit(PAGE)
  expect([page.status, page.location]).toEqual([401, undefined])
  expect(page.text).toContain('just come back')
  lose(browser, `__Host-svc_oidc_.returned.${REALM}`)
  expect((await browser.visit(PAGE)).location?.pathname).toBe('/shop/v1/oidc/login')
})

it('ends at the callback where no cookie is kept at all', async () => {
  const callbackUrl = await authorize(rig.browser(), PAGE, 'alice')
  const callback = await rig.browser().visit(callbackUrl)
  expect([callback.status, callback.text]).toEqual([400, '{"error":"invalid_state"}'])
})

it('is requested again at once after a logout', async () => {
  const browser = rig.browser()
  await comeBack(browser)
  const logout = await browser.visit(`${OWN}/shop/oidc/logout`)
  expect(logout.setCookies.map((line) => line.split('=')[0])).toEqual([
    `svc_ticket_${REALM}`,
    `svc_csrf_${REALM}`,
    `__Host-svc_oidc_.returned.${REALM}`,
  ])
  expect((await browser.visit(PAGE)).location?.pathname).toBe('/shop/v1/oidc/login')
})

it('a role that is missing is 403, before and after the login', async () => {
  const browser = rig.browser()
  await comeBack(browser)
  const page = await browser.visit(`${OWN}/shop/admins`)
  expect([page.status, page.location]).toEqual([403, undefined])
})

it.each([
  ['a script of the page', { isFetch: true }],
  ['a form', { method: 'POST' }],
])('%s is not redirected', async (_name, visit) => {
  const page = await rig.browser().visit(PAGE, visit)
  expect(page.location).toBeUndefined()
  expect([401, 405]).toContain(page.status)
})

it('a login that began without a redirect sets the two cookies of a session alone', async () => {
  const callback = await logIn(rig.browser(), `${OWN}/shop/oidc/login?redirect_uri=/x`, 'alice')
  expect([callback.status, callback.setCookies.length]).toEqual([302, 2])
})
