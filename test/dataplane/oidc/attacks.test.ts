// Attacks of RFC 9700, RFC 8725 and OWASP's lists that are no row of a table: what a request says of its host, a
// provider that asks for less, headers of tokens, floods of cookies.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { FakeProvider, forge, newPair, rs256, sendJson } from './fake-provider.ts'
import {
  Browser,
  headerOf,
  openRoom,
  OWN,
  providerRecord,
  realmRecord,
  REALM,
  requestOf,
  setCookies,
  type TestRoom,
} from './room.ts'

const pair = newPair('k1')
let op: FakeProvider

beforeAll(async () => {
  op = await FakeProvider.open(pair)
})

beforeEach(() => {
  op.misbehaviour = {}
})

afterAll(() => op.close())

const open = (): TestRoom => {
  const endpointDeps = openRoom()
  endpointDeps.realms.set(REALM, realmRecord(REALM, { corp: providerRecord(op.issuer) }))
  return endpointDeps
}

describe('who a request says that we are', () => {
  it.each([
    { host: 'evil.example' },
    { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' },
    { forwarded: 'host=evil.example;proto=http' },
    { origin: 'https://evil.example', referer: 'https://evil.example/' },
    { 'x-original-url': '//evil.example/', 'x-rewrite-url': '//evil.example/' },
  ])('leads to no other site: %j', async (said) => {
    const endpointDeps = open()
    const browser = new Browser()
    const saying = () => ({ headers: { ...browser.headers(), ...said } })
    const login = await browser.login(endpointDeps, { ...saying(), query: 'redirect_uri=/done' })
    const location = headerOf(login, 'location') ?? ''
    const callback = await browser.callback(endpointDeps, op.authorize(location), saying())
    const elsewhere = await new Browser().logout(endpointDeps, {
      headers: said,
      query: 'redirect_uri=https://evil.example/done',
    })
    const logout = await browser.logout(endpointDeps, { ...saying(), query: 'redirect_uri=/bye' })

    expect(new URL(location).searchParams.get('redirect_uri')).toBe(`${OWN}/v1/oidc/corp/callback`)
    expect([callback.status, headerOf(callback, 'location')]).toEqual([302, '/done'])
    expect(headerOf(elsewhere, 'location')).toBe('/')
    const end = new URL(headerOf(logout, 'location') ?? '')
    expect(end.searchParams.get('post_logout_redirect_uri')).toBe(`${OWN}/bye`)
  })
})

describe('RFC 9700', () => {
  it.each([[['plain']], [[]], [undefined]])(
    '§4.8: PKCE is S256 whatever the provider lists: %j',
    async (listed) => {
      op.misbehaviour = {
        discovery: (response, document) => {
          sendJson(response, { ...document, code_challenge_methods_supported: listed })
        },
      }
      const endpointDeps = open()
      const browser = new Browser()
      const location = headerOf(await browser.login(endpointDeps), 'location') ?? ''

      expect(new URL(location).searchParams.get('code_challenge_method')).toBe('S256')
      // The provider of these tests takes no code without its verifier.
      expect((await browser.callback(endpointDeps, op.authorize(location))).status).toBe(302)
    },
  )

  it('§4.2: no response lets a code, a state or a hint leave as a referrer', async () => {
    const endpointDeps = open()
    const browser = new Browser()
    const login = await browser.login(endpointDeps)
    const query = op.authorize(headerOf(login, 'location') ?? '')
    const callback = await browser.callback(endpointDeps, query)
    const again = await browser.callback(endpointDeps, query)
    const form = requestOf({ method: 'POST', pathProvider: 'corp' })
    const responses = [
      login,
      callback,
      again,
      await browser.logout(endpointDeps),
      await endpointDeps.oidc.backChannelLogout(form),
    ]

    expect(responses.map(({ status }) => status)).toEqual([302, 302, 400, 302, 400])
    for (const response of responses) {
      expect(headerOf(response, 'referrer-policy')).toBe('no-referrer')
      expect(headerOf(response, 'cache-control')).toBe('no-store')
    }
    expect(headerOf(again, 'x-content-type-options')).toBe('nosniff')
  })

  it('§4.12: a POST that logs out is never sent on as a POST', async () => {
    const endpointDeps = open()
    const response = await endpointDeps.oidc.logout(
      requestOf({ method: 'POST', path: '/v1/oidc/logout' }),
    )
    expect(response.status).toBe(302)
  })
})

describe('RFC 8725', () => {
  it.each([
    ['a critical header that is unknown', { crit: ['exp'], exp: 1 }],
    ['a payload that is not encoded', { crit: ['b64'], b64: false }],
    ['an empty list of critical headers', { crit: [] }],
  ])('an ID token with %s is none', async (_, header) => {
    op.misbehaviour = {
      idToken: (claims) => {
        const unsigned = forge({ alg: 'RS256', kid: 'k1', ...header }, claims, '').slice(0, -1)
        return `${unsigned}.${rs256(unsigned, pair)}`
      },
    }
    const endpointDeps = open()
    const browser = new Browser()
    const login = await browser.login(endpointDeps)
    const response = await browser.callback(
      endpointDeps,
      op.authorize(headerOf(login, 'location') ?? ''),
    )

    expect(response).toMatchObject({ status: 400, body: '{"error":"token_exchange_failed"}' })
    expect(browser.ticket()).toBe('')
  })
})

describe('cookies that somebody has planted', () => {
  it('by the hundred are ended some at a time, and the login goes on', async () => {
    const endpointDeps = open()
    const browser = new Browser()
    for (let each = 0; each < 150; each++)
      browser.jar.set(`__Host-svc_oidc_planted${String(each).padStart(8, '0')}`, 'x')
    const login = await browser.login(endpointDeps)
    const lines = setCookies(login)

    expect(lines.length).toBeLessThanOrEqual(21)
    expect(lines.filter((line) => !line.includes('; Max-Age=0;'))).toHaveLength(1)
    const response = await browser.callback(
      endpointDeps,
      op.authorize(headerOf(login, 'location') ?? ''),
    )
    expect(response.status).toBe(302)
  })

  it.each<[string, (name: string, value: string) => string, number]>([
    ['alone is no login', (name) => `${name}=planted`, 400],
    [
      'before the genuine one has it refused',
      (name, value) => `${name}=planted; ${name}=${value}`,
      400,
    ],
    [
      'behind the genuine one does nothing',
      (name, value) => `${name}=${value}; ${name}=planted`,
      302,
    ],
    ['with nothing in it is no login', (name) => `${name}=`, 400],
    [
      'that is no plain text is no login, whatever it holds',
      (name, value) => `${name}=j:["${value}"]`,
      400,
    ],
  ])('one %s', async (_, cookie, status) => {
    const endpointDeps = open()
    const browser = new Browser()
    const login = await browser.login(endpointDeps)
    const query = op.authorize(headerOf(login, 'location') ?? '')
    const [[name = '', value = ''] = []] = browser.jar

    // As a program: without any such cookie the callback would pass.
    const response = await browser.callback(endpointDeps, query, {
      headers: { cookie: cookie(name, value) },
    })
    expect(response.status).toBe(status)
  })
})
