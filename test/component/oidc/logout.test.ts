// Leaving: by the browser, by way of the provider, and by the provider itself behind the browser's back.

import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals'
import { decodeJwt } from 'jose'
import { eventually } from '../../support/eventually.ts'
import { request } from '../../support/http-request.ts'
import type { IdpProxy } from '../../support/idp-proxy.ts'
import type { Browser, Page } from '../../support/login-driver.ts'
import { loginOf, logInAt, OWN, startLoginRig, ticketOf, type LoginRig } from './login-rig.ts'

const REALM = 'com.example.realm'
const BYE = `${OWN}/bye`

let rig: LoginRig
let proxy: IdpProxy

beforeAll(async () => {
  // The provider of these tests warns, inside jest alone, that it can't guard what it calls.
  jest.spyOn(console, 'warn').mockImplementation(() => undefined)
  rig = await startLoginRig()
  proxy = await rig.idp({
    apis: ['v1', 'away'],
    postLogoutRedirectUris: [BYE],
    backChannelLogoutUri: `${rig.gateway.public}/v1/oidc/corp/backchannel-logout`,
  })
  const providers = { corp: { issuer: proxy.issuer } }
  await rig.serve({ name: 'v1', realm: REALM, providers })
})

afterEach(() => {
  proxy.behave({})
})

afterAll(async () => {
  await rig[Symbol.asyncDispose]()
  jest.restoreAllMocks()
})

const statusOf = async (ticket: string): Promise<number> => {
  const headers = { authorization: `Bearer ${ticket}` }
  return (await request(`${rig.gateway.public}/v1/me`, { headers })).status
}

const enter = async (username = 'alice'): Promise<{ browser: Browser; ticket: string }> => {
  const browser = rig.browser()
  await logInAt(browser, 'v1', username)
  return { browser, ticket: ticketOf(browser, REALM) }
}

const LOGOUT = `${OWN}/v1/oidc/logout?redirect_uri=/bye`

describe('logout', () => {
  it.each(['GET', 'POST'])(
    'by %s leads to the provider with exactly two parameters',
    async (method) => {
      const { browser, ticket } = await enter()
      const page = await browser.visit(LOGOUT, { method, from: new URL(`${OWN}/app`) })
      expect(page.status).toBe(302)
      expect(page.location?.href.split('?')[0]).toBe(`${proxy.issuer}/session/end`)
      expect([...(page.location?.searchParams ?? [])]).toEqual([
        ['id_token_hint', decodeJwt(ticket)['oidc_id_token']],
        ['post_logout_redirect_uri', BYE],
      ])
      expect(await statusOf(ticket)).toBe(401)
    },
  )

  it('ends the session at the provider too, and comes back', async () => {
    const { browser } = await enter()
    const question = (await browser.follow(LOGOUT)) as Page
    const end = await browser.submit(question, {}, ({ origin }) => origin === OWN)
    expect(end).toEqual(new URL(BYE))
    // Who comes again is asked for a name again.
    const form = (await browser.follow(loginOf('v1'))) as Page
    expect(form.text).toContain('<form')
  })

  it('leaves other sessions of the same user alone', async () => {
    const [first, second] = [await enter(), await enter()]
    await first.browser.visit(LOGOUT)
    expect([await statusOf(first.ticket), await statusOf(second.ticket)]).toEqual([401, 200])
  })

  it('works while the provider is away, and for a realm that is gone', async () => {
    const away = await rig.idp({ apis: ['away'] })
    const providers = { corp: { issuer: away.issuer } }
    await rig.serve({ name: 'away', realm: 'com.example.away', providers })
    const browser = rig.browser()
    await logInAt(browser, 'away')
    await away.close()
    const out = await browser.visit(`${OWN}/away/oidc/logout?redirect_uri=/bye`)
    expect([out.status, browser.jar.get('svc_ticket_com.example.away')]).toEqual([302, undefined])
    await request(`${rig.gateway.management}/realms/com.example.away`, { method: 'DELETE' })
    const again = await browser.visit(`${OWN}/away/oidc/logout?redirect_uri=/bye`)
    expect([again.status, again.headers['location'], again.setCookies.length]).toEqual([
      302,
      '/bye',
      2,
    ])
  })
})

describe('back-channel logout', () => {
  it('ends the tickets of that session everywhere, and no others', async () => {
    const [left, stays] = [await enter(), await enter()]
    const other = await enter('bob')
    expect(await statusOf(left.ticket)).toBe(200)
    // At the provider itself, not at the gateway.
    const hint = String(decodeJwt(left.ticket)['oidc_id_token'])
    const end = new URL(`${proxy.issuer}/session/end`)
    end.searchParams.set('id_token_hint', hint)
    end.searchParams.set('post_logout_redirect_uri', BYE)
    const question = (await left.browser.follow(end)) as Page
    await left.browser.submit(question, {}, ({ origin }) => origin === OWN)
    await eventually(async () => {
      expect(await statusOf(left.ticket)).toBe(401)
    })
    expect([await statusOf(stays.ticket), await statusOf(other.ticket)]).toEqual([200, 200])
  })

  it.each(['nonsense', 'a.b.c', ''])('is refused with the token %j', async (token) => {
    const response = await request(`${rig.gateway.public}/v1/oidc/corp/backchannel-logout`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ logout_token: token }).toString(),
    })
    expect(response.status).toBe(400)
    expect(response.headers['cache-control']).toBe('no-store')
  })

  it('takes no ID token for a logout token', async () => {
    const { ticket } = await enter()
    const response = await request(`${rig.gateway.public}/v1/oidc/corp/backchannel-logout`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({
        logout_token: String(decodeJwt(ticket)['oidc_id_token']),
      }).toString(),
    })
    expect([response.status, await statusOf(ticket)]).toEqual([400, 200])
  })
})
