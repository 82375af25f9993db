import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { decodeJwt } from 'jose'
import { SharedStateError } from '../../../../dataplane/shared/shared-state.ts'
import type { OidcProviderRecord } from '../../../../language/realm/record.ts'
import { FakeProvider, newPair } from '../fake-provider.ts'
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
  type RoomOptions,
  type TestRoom,
} from '../room.ts'

let op: FakeProvider

beforeAll(async () => {
  op = await FakeProvider.open(newPair('k1'))
})

afterAll(() => op.close())

interface LoggedIn {
  readonly endpointDeps: TestRoom
  readonly browser: Browser
  readonly ticket: string
}

const logIn = async (
  more: Partial<OidcProviderRecord> = {},
  options: RoomOptions = {},
): Promise<LoggedIn> => {
  op.misbehaviour = {}
  const endpointDeps = openRoom(options)
  endpointDeps.realms.set(REALM, realmRecord(REALM, { corp: providerRecord(op.issuer, more) }))
  const browser = new Browser()
  const login = await browser.login(endpointDeps)
  await browser.callback(endpointDeps, op.authorize(headerOf(login, 'location') ?? ''))
  return { endpointDeps, browser, ticket: browser.ticket() }
}

const parameters = (location: string | undefined): unknown => {
  const url = new URL(location ?? '')
  return { to: url.origin + url.pathname, ...Object.fromEntries(url.searchParams) }
}

describe('logging out', () => {
  it('goes to the provider with exactly two parameters, and revokes the ticket', async () => {
    const { endpointDeps, browser, ticket } = await logIn()
    const before = await endpointDeps.isRevoked(ticket)
    const response = await browser.logout(endpointDeps, { query: 'redirect_uri=/bye?x=1' })

    expect(response.status).toBe(302)
    expect(parameters(headerOf(response, 'location'))).toEqual({
      to: `${op.issuer}/end`,
      id_token_hint: decodeJwt(ticket)['oidc_id_token'],
      post_logout_redirect_uri: `${OWN}/bye?x=1`,
    })
    expect([before, await endpointDeps.isRevoked(ticket)]).toEqual([false, true])
    expect([...browser.jar.keys()].filter((name) => name.startsWith('svc_'))).toEqual([])
    expect(endpointDeps.audits.at(-1)).toEqual({
      event: 'logout',
      outcome: 'success',
      reason: '',
      realm: REALM,
      scheme: 'oidc',
      authid: 'alice',
      clientId: 'all',
      provider: 'corp',
      address: '203.0.113.7',
      requestId: 'req-1',
    })
  })

  it('works by POST too, from any page', async () => {
    const { endpointDeps, browser, ticket } = await logIn()
    await browser.logout(endpointDeps, {
      method: 'POST',
      body: 'redirect_uri=https://evil.example',
    })

    expect(await endpointDeps.isRevoked(ticket)).toBe(true)
  })

  it('prefers the configured end-session endpoint, and keeps its query', async () => {
    const { endpointDeps, browser } = await logIn({
      end_session_endpoint: 'https://idp.example/out?a=1',
    })
    const response = await browser.logout(endpointDeps)

    expect(parameters(headerOf(response, 'location'))).toMatchObject({
      to: 'https://idp.example/out',
      a: '1',
      post_logout_redirect_uri: `${OWN}/`,
    })
  })

  it('resolves a path against --base-url first', async () => {
    const { endpointDeps, browser } = await logIn()
    const response = await browser.logout(endpointDeps, { ownOrigin: 'https://gw.example/base' })

    expect(parameters(headerOf(response, 'location'))).toMatchObject({
      post_logout_redirect_uri: 'https://gw.example/',
    })
  })

  it('still gives the hint when the ticket has expired', async () => {
    const { endpointDeps, browser } = await logIn({ ticket_expiry_secs: 60 })
    endpointDeps.clock.advance(120_000)
    const response = await browser.logout(endpointDeps)

    expect(headerOf(response, 'location')).toContain('id_token_hint=')
  })

  const withoutProvider = (endpointDeps: TestRoom): void => {
    endpointDeps.realms.set(REALM, realmRecord(REALM, {}))
  }
  it.each([
    ['the provider is gone', {}, withoutProvider],
    ['the realm is gone', {}, (endpointDeps: TestRoom) => endpointDeps.realms.delete(REALM)],
    ['the ticket holds no ID token', { role_mapping: {} }, undefined],
  ] as const)('goes straight on when %s', async (_, more, change) => {
    const { endpointDeps, browser } = await logIn(more)
    change?.(endpointDeps)
    if (change === undefined) {
      const order = { realm: REALM, client_id: 'all', device_id: 'all' }
      const now = Math.floor(Date.now() / 1000)
      const { jwt } = await endpointDeps.tickets.issueTicket({
        authrealm: REALM,
        authid: 'alice',
        authroles: [],
        issued_on: 'n',
        issued_at: now,
        expires_at: now + 60,
        scope: order,
        oidc_provider: 'corp',
      })
      browser.jar.set(`svc_ticket_${REALM}`, jwt)
    }
    const response = await browser.logout(endpointDeps, { query: 'redirect_uri=/bye' })

    expect([response.status, headerOf(response, 'location')]).toEqual([302, '/bye'])
    expect(setCookies(response)).toHaveLength(2)
  })

  it('goes straight on when the provider can not be called', async () => {
    const { endpointDeps, browser, ticket } = await logIn()
    // Another entry: what was discovered counts no more.
    endpointDeps.realms.set(
      REALM,
      realmRecord(REALM, { corp: providerRecord('http://127.0.0.1:1') }),
    )
    const response = await browser.logout(endpointDeps, { query: 'redirect_uri=/bye' })

    expect([response.status, headerOf(response, 'location')]).toEqual([302, '/bye'])
    expect(await endpointDeps.isRevoked(ticket)).toBe(true)
  })

  it('goes on where nothing can be revoked, and says so in the audit log', async () => {
    const { endpointDeps, browser } = await logIn()
    endpointDeps.shared.revoke = () => Promise.reject(new SharedStateError('unavailable', 'away'))
    const response = await browser.logout(endpointDeps)

    expect([response.status, setCookies(response).length]).toEqual([302, 2])
    expect(endpointDeps.audits.at(-1)).toMatchObject({ outcome: 'failure', reason: 'not_revoked' })
  })

  const SITE = 'sec-fetch-site'
  const MODE = 'sec-fetch-mode'
  it.each<[string, Readonly<Record<string, string>>, boolean]>([
    ['a prefetch', { 'sec-purpose': 'prefetch' }, false],
    ['a prefetch of an older browser', { purpose: 'prefetch' }, false],
    ['a prefetch of an older Firefox', { 'x-moz': 'prefetch' }, false],
    ['a prerendering', { 'sec-purpose': 'prefetch;prerender', [MODE]: 'navigate' }, false],
    ['a prefetch of the own page', { 'sec-purpose': 'prefetch', [SITE]: 'same-origin' }, false],
    ['an image of another site', { [SITE]: 'cross-site', [MODE]: 'no-cors' }, false],
    ['a script of another site', { [SITE]: 'cross-site', [MODE]: 'cors' }, false],
    ['a WebSocket of another site', { [SITE]: 'cross-site', [MODE]: 'websocket' }, false],
    ['a link or form of another site', { [SITE]: 'cross-site', [MODE]: 'navigate' }, true],
    ['a script of a neighbour', { [SITE]: 'same-site', [MODE]: 'cors' }, true],
    ['a script of the own page', { [SITE]: 'same-origin', [MODE]: 'cors' }, true],
    ['the address bar', { [SITE]: 'none', [MODE]: 'navigate' }, true],
    ["Node's own fetch, which says its mode alone", { [MODE]: 'cors' }, true],
    ['a program', {}, true],
  ])('by %s (%j) happens: %s', async (_, headers, isDone) => {
    const { endpointDeps, browser, ticket } = await logIn()
    const cookie = browser.headers().cookie ?? ''
    for (const method of ['GET', 'POST']) {
      const request = { method, query: 'redirect_uri=/bye', headers: { ...headers, cookie } }
      const response = await endpointDeps.oidc.logout(requestOf(request))
      const location = headerOf(response, 'location')
      expect([response.status, location === '/', setCookies(response).length]).toEqual(
        isDone ? [302, false, 2] : [302, true, 0],
      )
    }
    expect(await endpointDeps.isRevoked(ticket)).toBe(isDone)
    expect(endpointDeps.audits.some(({ event }) => event === 'logout')).toBe(isDone)
  })

  it.each<[string, boolean]>([
    ['corp', true],
    ['other', false],
  ])('from anywhere where %s, of the ticket or not, allows it: %s', async (name, isDone) => {
    const { endpointDeps, browser, ticket } = await logIn()
    const corp = providerRecord(op.issuer)
    const providers = { corp, other: corp, [name]: { ...corp, logout_from_anywhere: true } }
    endpointDeps.realms.set(REALM, realmRecord(REALM, providers))
    const headers = { ...browser.headers(), 'sec-purpose': 'prefetch', [MODE]: 'no-cors' }
    const request = { routeProvider: 'other', headers }
    const response = await endpointDeps.oidc.logout(requestOf(request))

    expect([await endpointDeps.isRevoked(ticket), setCookies(response).length]).toEqual(
      isDone ? [true, 2] : [false, 0],
    )
  })

  it('that no person meant clears nothing where everything fails within', async () => {
    const endpointDeps = openRoom({ realm: () => { throw new Error('broken') } }) // prettier-ignore
    const response = await endpointDeps.oidc.logout(
      requestOf({ headers: { 'sec-purpose': 'prefetch' } }),
    )

    expect([response.status, headerOf(response, 'location')]).toEqual([302, '/'])
    expect(setCookies(response)).toEqual([])
  })

  it('answers 302 and clears cookies whatever fails within', async () => {
    const endpointDeps = openRoom({ realm: () => { throw new Error('broken') } }) // prettier-ignore
    const response = await endpointDeps.oidc.logout(requestOf({ query: 'redirect_uri=/bye' }))

    expect([response.status, headerOf(response, 'location')]).toEqual([302, '/'])
    expect(setCookies(response)).toHaveLength(2)
  })

  it.each([
    ['a forged ticket', 'abc.def.ghi'],
    ['no ticket', ''],
    ['an unsigned ticket', 'eyJhbGciOiJub25lIn0.eyJhdXRoaWQiOiJ4In0.'],
  ])('tells the provider nothing about %s', async (_, value) => {
    const { endpointDeps } = await logIn()
    const headers = { cookie: `svc_ticket_${REALM}=${value}` }
    const response = await endpointDeps.oidc.logout(requestOf({ headers }))

    expect(headerOf(response, 'location')).toBe('/')
    expect(endpointDeps.audits.filter(({ event }) => event === 'logout')).toEqual([])
  })

  it('revokes every genuine ticket of the cookie, planted ones in between or not', async () => {
    const first = await logIn()
    const login = await first.browser.login(first.endpointDeps)
    await first.browser.callback(
      first.endpointDeps,
      op.authorize(headerOf(login, 'location') ?? ''),
    )
    const second = first.browser.ticket()
    const name = `svc_ticket_${REALM}`
    const cookie = `${name}=${first.ticket}; ${name}=forged; x=1; ${name}=${second}`
    await first.endpointDeps.oidc.logout(requestOf({ headers: { cookie } }))

    expect(await first.endpointDeps.isRevoked(first.ticket)).toBe(true)
    expect(await first.endpointDeps.isRevoked(second)).toBe(true)
  })

  it('never lets another realm widen where one may go', async () => {
    const { endpointDeps } = await logIn()
    const open = providerRecord(op.issuer, { allowed_redirect_origins: ['*'] })
    endpointDeps.realms.set('com.example.other', realmRecord('com.example.other', { corp: open }))
    const query = 'realm=com.example.other&redirect_uri=https://evil.example/'
    const response = await endpointDeps.oidc.logout(requestOf({ query }))

    expect(headerOf(response, 'location')).toBe('/')
  })

  it.each([
    ['', REALM],
    ['realm=', REALM],
    [`realm=${'a'.repeat(256)}`, REALM],
    ['realm=a%0d%0ab', REALM],
    ['realm=%F0%9F%98%80', REALM],
    ['realm=a&realm=b', REALM],
    ['realm=__proto__', '__proto__'],
    ['realm=urn:x', 'urn%3Ax'],
  ])('with %j clears the cookies of %s', async (query, realm) => {
    const response = await openRoom().oidc.logout(requestOf({ query }))

    expect(setCookies(response)[0]).toMatch(
      new RegExp(`^svc_ticket_${realm.replaceAll('.', '\\.')}=; Path=/; Max-Age=0;`),
    )
  })
})
