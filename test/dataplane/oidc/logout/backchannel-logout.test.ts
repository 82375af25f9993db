import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { createHmac } from 'node:crypto'
import type { OidcResponse } from '../../../../dataplane/oidc/oidc-endpoint.ts'
import { SharedStateError } from '../../../../dataplane/shared/shared-state.ts'
import { FakeProvider, forge, newPair, type Claims } from '../fake-provider.ts'
import {
  Browser,
  headerOf,
  openRoom,
  providerRecord,
  realmRecord,
  REALM,
  requestOf,
  type TestRoom,
} from '../room.ts'

const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const pair = newPair('k1')
const other = newPair('k2')

let op: FakeProvider
let endpointDeps: TestRoom

beforeAll(async () => {
  op = await FakeProvider.open(pair)
})

afterAll(() => op.close())

beforeEach(() => {
  op.misbehaviour = {}
  op.published = [pair]
  endpointDeps = openRoom()
  const record = providerRecord(op.issuer)
  endpointDeps.realms.set(REALM, realmRecord(REALM, { corp: record, second: record }))
})

const logIn = async (claims: Claims = {}): Promise<string> => {
  op.misbehaviour = { claims }
  const browser = new Browser()
  const login = await browser.login(endpointDeps)
  await browser.callback(endpointDeps, op.authorize(headerOf(login, 'location') ?? ''))
  return browser.ticket()
}

let tokens = 0
const logoutClaims = (more: Claims = {}): Claims => {
  const now = Math.floor(Date.now() / 1000)
  const claims: Claims = {
    iss: op.issuer,
    aud: 'gateway',
    iat: now,
    exp: now + 120,
    jti: `jti-${(tokens += 1)}`,
    sid: 'session-1',
    events: { [EVENT]: {} },
    ...more,
  }
  return Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined))
}

const tell = (token: string, more = {}): Promise<OidcResponse> =>
  endpointDeps.oidc.backChannelLogout(
    requestOf({
      method: 'POST',
      path: '/v1/oidc/corp/backchannel-logout',
      pathProvider: 'corp',
      headers: FORM,
      body: new URLSearchParams({ logout_token: token }).toString(),
      ...more,
    }),
  )

const signed = (more: Claims = {}, header: Claims = { typ: 'logout+jwt' }): Promise<string> =>
  op.sign(logoutClaims(more), pair, header)

describe('a back-channel logout', () => {
  it('ends the session that it names, and no other', async () => {
    const mine = await logIn()
    const elsewhere = await logIn({ sid: 'session-2' })
    const response = await tell(await signed())

    expect([response.status, response.body]).toEqual([200, ''])
    expect(headerOf(response, 'cache-control')).toBe('no-store')
    expect([await endpointDeps.isRevoked(mine), await endpointDeps.isRevoked(elsewhere)]).toEqual([
      true,
      false,
    ])
    expect(endpointDeps.audits.at(-1)).toMatchObject({ event: 'revocation', outcome: 'success' })
  })

  it('with sid and sub ends that session alone', async () => {
    const mine = await logIn()
    const elsewhere = await logIn({ sid: 'session-2' })
    await tell(await signed({ sub: 'u-alice' }))

    expect([await endpointDeps.isRevoked(mine), await endpointDeps.isRevoked(elsewhere)]).toEqual([
      true,
      false,
    ])
  })

  it('with sub alone ends all that the person has, but not what comes later', async () => {
    const before = [await logIn(), await logIn({ sid: undefined }), await logIn({ sid: 's-9' })]
    const stranger = await logIn({ sub: 'u-bob', sid: 's-b' })
    endpointDeps.clock.advance(1000)
    const response = await tell(await signed({ sid: undefined, sub: 'u-alice' }))
    endpointDeps.clock.advance(2000)
    const after = await logIn()

    expect(response.status).toBe(200)
    expect(await Promise.all(before.map((each) => endpointDeps.isRevoked(each)))).toEqual([
      true,
      true,
      true,
    ])
    expect([await endpointDeps.isRevoked(stranger), await endpointDeps.isRevoked(after)]).toEqual([
      false,
      false,
    ])
  })

  it('means the provider that was called', async () => {
    const mine = await logIn()
    const response = await tell(await signed(), { pathProvider: 'second' })

    expect([response.status, await endpointDeps.isRevoked(mine)]).toEqual([200, false])
  })

  it.each([
    ['a typ of JWT', { typ: 'JWT' }, {}],
    ['no typ', {}, {}],
    ['no exp, as older providers send it', { typ: 'logout+jwt' }, { exp: undefined }],
    ['several audiences', { typ: 'LOGOUT+JWT' }, { aud: ['x', 'gateway'] }],
    ['sid and an odd event member', {}, { events: { [EVENT]: { x: 1 }, y: {} } }],
  ] as const)('is taken with %s', async (_, header, claims) => {
    expect(await tell(await signed(claims, header))).toMatchObject({ status: 200 })
  })

  const now = Math.floor(Date.now() / 1000)
  it.each([
    ['another issuer', { iss: 'https://evil.example' }],
    ['another audience', { aud: 'another' }],
    ['no iat', { iat: undefined }],
    ['an iat of an hour ago', { iat: now - 3600, exp: now + 60 }],
    ['an iat ahead', { iat: now + 3600, exp: now + 7200 }],
    ['an exp that has passed', { exp: now - 60 }],
    ['no jti', { jti: undefined }],
    ['an empty jti', { jti: '' }],
    ['a jti that is a number', { jti: 7 }],
    ['no events', { events: undefined }],
    ['another event', { events: { 'http://schemas.openid.net/event/other': {} } }],
    ['an inherited event', { events: Object.create({ [EVENT]: {} }) as object }],
    ['an event that is no object', { events: { [EVENT]: true } }],
    ['events as a list', { events: [EVENT] }],
    ['a nonce', { nonce: 'n' }],
    ['neither sid nor sub', { sid: undefined }],
    ['a sid that is a number', { sid: 7 }],
    ['an empty sub and no sid', { sid: undefined, sub: '' }],
  ])('is refused with %s', async (_, claims) => {
    const mine = await logIn()
    const response = await tell(await signed(claims))

    expect([response.status, response.body]).toEqual([400, '{"error":"invalid_request"}'])
    expect(headerOf(response, 'cache-control')).toBe('no-store')
    expect(await endpointDeps.isRevoked(mine)).toBe(false)
  })

  it.each([
    ['an access token', { typ: 'at+jwt' }],
    ['a ticket', { typ: 'svc-ticket+jwt' }],
  ])('is refused as %s', async (_, header) => {
    expect(await tell(await signed({}, header))).toMatchObject({ status: 400 })
  })

  it.each([
    ['an ID token', async () => op.sign(op.goodClaims('n'))],
    ['no token', () => 'nonsense'],
    ['an unsigned one', () => forge({ alg: 'none' }, logoutClaims(), '')],
    ['one of another key', () => op.sign(logoutClaims(), other)],
    ['one of another key under the kid', () => op.sign(logoutClaims(), { ...other, kid: 'k1' })],
    [
      'one keyed with the client secret',
      () => {
        const unsigned = forge({ alg: 'HS256', kid: 'k1' }, logoutClaims(), '').slice(0, -1)
        const mac = createHmac('sha256', 'client-secret/with:odd%chars').update(unsigned)
        return `${unsigned}.${mac.digest('base64url')}`
      },
    ],
    ['a huge one', () => 'a'.repeat(20_000)],
  ])('is refused as %s', async (_, make) => {
    expect(await tell(await make())).toMatchObject({
      status: 400,
      body: '{"error":"invalid_request"}',
    })
  })

  it.each([
    ['nothing', ''],
    ['an empty token', 'logout_token='],
    ['two tokens', 'logout_token=a&logout_token=b'],
  ])('is refused with %s', async (_, body) => {
    expect(await tell('', { body })).toMatchObject({ status: 400 })
  })

  it('is a form', async () => {
    const body = new URLSearchParams({ logout_token: await signed() }).toString()
    const headers = { 'content-type': 'application/json' }

    expect(await tell('', { body, headers })).toMatchObject({ status: 400 })
  })

  it('is good once', async () => {
    const token = await signed()
    const responses = [await tell(token), await tell(token)]

    expect(responses.map(({ status }) => status)).toEqual([200, 400])
  })

  it('that could not be done is taken when it comes again', async () => {
    const mine = await logIn()
    const token = await signed()
    const revoke = endpointDeps.shared.revoke.bind(endpointDeps.shared)
    endpointDeps.shared.revoke = () => Promise.reject(new SharedStateError('unavailable', 'away'))
    const away = await tell(token)
    endpointDeps.shared.revoke = revoke
    const again = await tell(token)

    expect([away.status, again.status, await endpointDeps.isRevoked(mine)]).toEqual([
      503,
      200,
      true,
    ])
    expect(await tell(token)).toMatchObject({ status: 400 })
  })

  it('by sub, that comes again, ends nothing that began since', async () => {
    const token = await signed({ sid: undefined, sub: 'u-alice' })
    await tell(token)
    endpointDeps.clock.advance(3000)
    const after = await logIn()

    expect([(await tell(token)).status, await endpointDeps.isRevoked(after)]).toEqual([400, false])
  })

  it('takes a key that the provider has only now', async () => {
    await logIn()
    op.published = [pair, other]
    endpointDeps.clock.advance(10_000)
    const token = await op.sign(logoutClaims(), other)

    expect(await tell(token)).toMatchObject({ status: 200 })
  })

  it.each(['nobody', '__proto__', 'constructor'])('of provider %s is 404', async (pathProvider) => {
    expect(await tell(await signed(), { pathProvider })).toMatchObject({
      status: 404,
      body: '{"error":"unknown_provider"}',
    })
  })

  it('is to be tried again where nothing can be said of it', async () => {
    op.misbehaviour = { jwks: (response) => response.writeHead(500).end() }
    const keysAway = await tell(await signed())
    op.misbehaviour = {}
    endpointDeps.shared.revoke = () => Promise.reject(new SharedStateError('unavailable', 'away'))
    const stateAway = await tell(await signed())

    expect([keysAway.status, stateAway.status]).toEqual([503, 503])
    expect(headerOf(stateAway, 'retry-after')).toMatch(/^[0-9]+$/)
  })
})
