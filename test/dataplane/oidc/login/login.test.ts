import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { decodeJwt } from 'jose'
import { BACKCHANNEL_STEPS } from '../../../../dataplane/oidc/logout/backchannel-logout.ts'
import { CALLBACK_STEPS } from '../../../../dataplane/oidc/login/callback.ts'
import { LOGIN_STEPS } from '../../../../dataplane/oidc/login/login.ts'
import { SESSION_STEPS } from '../../../../dataplane/oidc/logout/logout.ts'
import { SharedStateError } from '../../../../dataplane/shared/shared-state.ts'
import { MemoryState } from '../../../../dataplane/shared/memory-state.ts'
import { createGuard, readRules } from '../../../../dataplane/upstream/destinations/guard.ts'
import { createGuardedFetch } from '../../../../dataplane/upstream/destinations/guarded-fetch.ts'
import { eventually } from '../../../support/eventually.ts'
import { FakeProvider, newPair, sendJson } from '../fake-provider.ts'
import {
  Browser,
  headerOf,
  newRings,
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

const { cases: redirects } = JSON.parse(
  readFileSync(new URL('../cases/redirects.json', import.meta.url), 'utf8'),
) as {
  readonly cases: readonly {
    readonly id: string
    readonly redirect_uri?: string | null
    readonly query?: string
    readonly accept: readonly string[]
  }[]
}

const pair = newPair('k1')
let op: FakeProvider

beforeAll(async () => {
  op = await FakeProvider.open(pair)
})

afterAll(() => op.close())

beforeEach(() => {
  op.misbehaviour = {}
  op.jwksQuery = ''
  op.pair = pair
  op.published = [pair]
})

const open = (options: RoomOptions = {}): TestRoom => {
  const endpointDeps = openRoom(options)
  const record = providerRecord(op.issuer, {
    allowed_redirect_origins: ['https://app.example.com', 'http://localhost:5173'],
  })
  endpointDeps.realms.set(REALM, realmRecord(REALM, { corp: record, default: record }))
  return endpointDeps
}

const begin = async (
  endpointDeps: TestRoom,
  browser: Browser,
  query = '',
): Promise<URLSearchParams> => {
  const login = await browser.login(endpointDeps, { query })
  return op.authorize(headerOf(login, 'location') ?? '')
}

describe('the steps', () => {
  it('stand in this order', () => {
    expect(LOGIN_STEPS.names).toEqual([
      'read parameters',
      'find provider',
      'choose redirect',
      'discover metadata',
      'begin login',
      'seal state',
      'make authorization URL',
    ])
    expect(CALLBACK_STEPS.names).toEqual([
      'read parameters',
      'find provider',
      'unseal state',
      'match state',
      'check browser',
      'discover metadata',
      'use state once',
      'exchange code',
      'identify',
      'issue ticket',
    ])
    expect(SESSION_STEPS.names).toEqual(['read parameters', 'find session'])
    // Spent last: what could not be revoked may come again.
    expect(BACKCHANNEL_STEPS.names.slice(-2)).toEqual(['revoke tickets', 'use token once'])
  })
})

describe('login', () => {
  it('sends the browser to the provider with all that the flow needs', async () => {
    const endpointDeps = open()
    const response = await new Browser().login(endpointDeps)
    const url = new URL(headerOf(response, 'location') ?? '')

    expect(response.status).toBe(302)
    expect(`${url.origin}${url.pathname}`).toBe(`${op.issuer}/authorize`)
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: 'code',
      client_id: 'gateway',
      redirect_uri: `${OWN}/v1/oidc/corp/callback`,
      scope: 'openid profile email',
      state: expect.stringMatching(/^eyJ/),
      nonce: expect.stringMatching(/^[\w-]{22}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    })
    expect(headerOf(response, 'cache-control')).toBe('no-store')
    expect(headerOf(response, 'referrer-policy')).toBe('no-referrer')
  })

  it('never uses a value twice', async () => {
    const endpointDeps = open()
    const urls = await Promise.all([1, 2].map(() => new Browser().login(endpointDeps)))
    const [first, second] = urls.map((response) => new URL(headerOf(response, 'location') ?? ''))
    for (const name of ['state', 'nonce', 'code_challenge'])
      expect(first?.searchParams.get(name)).not.toBe(second?.searchParams.get(name))
    expect(op.count('/.well-known/openid-configuration')).toBeGreaterThan(0)
  })

  it.each([
    ['provider=nobody'],
    ['provider='],
    ['provider=corp&provider=corp'],
    ['provider=__proto__'],
    ['provider=constructor'],
  ])('with %s is 404', async (query) => {
    expect(await new Browser().login(open(), { query })).toMatchObject({
      status: 404,
      body: '{"error":"unknown_provider"}',
    })
  })

  it.each([
    ['the realm is not there', undefined],
    ['the realm has no providers', { uri: REALM, authmethods: ['oidcrp', 'cookie'] }],
    ['the realm no longer allows oidcrp', { ...realmRecord(REALM, {}), authmethods: ['cookie'] }],
  ])('is 404 where %s', async (_, realm) => {
    const endpointDeps = openRoom({ realm: () => realm })

    expect(await new Browser().login(endpointDeps)).toMatchObject({ status: 404 })
  })

  it('picks the provider of the query, else of the route', async () => {
    const endpointDeps = open()
    const query = await begin(endpointDeps, new Browser(), 'provider=default')
    const wrong = await new Browser().callback(endpointDeps, query, { headers: {} })
    const right = await new Browser().callback(endpointDeps, query, {
      headers: {},
      pathProvider: 'default',
    })

    expect([wrong.status, right.status]).toEqual([400, 302])
  })

  it.each([
    ['', 'all', 'all'],
    ['client_id=shop&device_id=phone%201', 'shop', 'phone 1'],
    ['client_id=&device_id=', 'all', 'all'],
    [`client_id=${'a'.repeat(128)}&device_id=${'a'.repeat(129)}`, 'a'.repeat(128), 'all'],
    ['client_id=a%0ab&device_id=%C3%BC', 'all', 'all'],
    ['client_id=a&client_id=b&device_id=__proto__', 'all', '__proto__'],
  ])('with %j scopes the ticket', async (query, client_id, device_id) => {
    const endpointDeps = open()
    const browser = new Browser()
    await browser.callback(endpointDeps, await begin(endpointDeps, browser, query))

    expect(decodeJwt(browser.ticket())).toMatchObject({
      scope: { realm: REALM, client_id, device_id },
    })
  })

  it.each(redirects)('ends where it may: $id', async ({ query, redirect_uri: uri, accept }) => {
    const endpointDeps = open()
    const browser = new Browser()
    const text =
      typeof uri === 'string' ? new URLSearchParams({ redirect_uri: uri }).toString() : ''
    const response = await browser.callback(
      endpointDeps,
      await begin(endpointDeps, browser, query ?? text),
    )

    expect(response.status).toBe(302)
    expect(accept).toContain(headerOf(response, 'location'))
  })

  it('says when to try again while the provider is away', async () => {
    const endpointDeps = openRoom()
    endpointDeps.realms.set(
      REALM,
      realmRecord(REALM, { corp: providerRecord('http://127.0.0.1:1') }),
    )
    const response = await new Browser().login(endpointDeps)

    expect([response.status, headerOf(response, 'retry-after')]).toEqual([503, '5'])
    expect(endpointDeps.counts).toEqual([{ endpoint: 'login', outcome: 'provider_unavailable' }])
    expect(endpointDeps.audits).toMatchObject([{ event: 'login', reason: 'provider_unavailable' }])
  })

  it('refuses a provider without TLS that may not be', async () => {
    const endpointDeps = openRoom()
    const record = providerRecord(op.issuer, { allow_unsafe_http: false })
    endpointDeps.realms.set(REALM, realmRecord(REALM, { corp: record }))

    expect(await new Browser().login(endpointDeps)).toMatchObject({ status: 503 })
  })

  it('goes to no provider that --upstream-deny names', async () => {
    const before = op.asked.length
    const guard = createGuard({ deny: readRules(['127.0.0.0/8']).rules })
    const endpointDeps = open({ fetch: createGuardedFetch({ guard, extraCa: [] }) })

    expect(await new Browser().login(endpointDeps)).toMatchObject({ status: 503 })
    expect(op.asked.length).toBe(before)
  })

  it('is an error of the contract whatever fails within', async () => {
    const endpointDeps = open({
      randomBytes: () => {
        throw new Error('no entropy')
      },
    })

    expect(await new Browser().login(endpointDeps)).toMatchObject({
      status: 500,
      body: '{"error":"authorization_url_failed"}',
    })
  })
})

describe('the ticket of a login', () => {
  it('says what the contract says', async () => {
    const endpointDeps = open()
    const browser = new Browser()
    await browser.callback(endpointDeps, await begin(endpointDeps, browser))
    const claims = decodeJwt<Record<string, unknown>>(browser.ticket())
    const issuedAt = claims['issued_at'] as number

    expect(claims).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4/),
      authrealm: REALM,
      authid: 'alice',
      authmethod: 'oidcrp',
      authroles: ['customer', 'admin'],
      issued_by: 'alice',
      issued_on: 'node-1',
      issued_at: issuedAt,
      expires_at: issuedAt + 2_592_000,
      iat: issuedAt,
      exp: issuedAt + 2_592_000,
      scope: { realm: REALM, client_id: 'all', device_id: 'all' },
      kid: expect.any(String),
      oidc_provider: 'corp',
      oidc_id_token: expect.stringMatching(/^eyJ/),
      oidc_access_token_expires_at: issuedAt + 120,
      oidc_sid: 'session-1',
      oidc_sub: 'u-alice',
    })
    expect(endpointDeps.counts).toEqual([
      { endpoint: 'login', outcome: 'ok' },
      { endpoint: 'callback', outcome: 'ok' },
    ])
  })

  it('loses the ID token before it is too large for a cookie, and that is logged', async () => {
    op.misbehaviour = { claims: { picture: 'p'.repeat(4000) } }
    const endpointDeps = open()
    const browser = new Browser()
    await browser.callback(endpointDeps, await begin(endpointDeps, browser))

    expect(endpointDeps.counts).toContainEqual({
      endpoint: 'callback',
      outcome: 'id_token_left_out',
    })
    expect(endpointDeps.logged.join()).toContain('left out')
  })

  it('is never one byte over 4096 with its name', async () => {
    const endpointDeps = open()
    const sizes: number[] = []
    for (let size = 400; size < 2600; size += 100) {
      op.misbehaviour = { claims: { picture: 'p'.repeat(size) } }
      const browser = new Browser()
      await browser.callback(endpointDeps, await begin(endpointDeps, browser))
      sizes.push(`svc_ticket_${REALM}=`.length + browser.ticket().length)
    }
    expect(Math.max(...sizes)).toBeLessThanOrEqual(4096)
    expect(Math.max(...sizes)).toBeGreaterThan(3800)
  })

  it('is not issued when it can not be signed', async () => {
    const endpointDeps = open()
    endpointDeps.tickets.issueTicket = () => Promise.reject(new Error('no key'))
    const browser = new Browser()
    const response = await browser.callback(endpointDeps, await begin(endpointDeps, browser))

    expect(response).toMatchObject({ status: 500, body: '{"error":"ticket_issue_failed"}' })
    expect(setCookies(response)).toEqual([])
  })
})

describe('two gateways', () => {
  it('take each other’s callbacks, each state once', async () => {
    const rings = newRings()
    const shared = new MemoryState({ now: Date.now })
    const [a, b] = [open({ rings, shared }), open({ rings, shared })]
    const browser = new Browser()
    const query = await begin(a, browser)
    const headers = browser.headers()
    const first = await browser.callback(b, query, { headers })
    const replayed = await browser.callback(a, query, { headers })

    expect([first.status, replayed.status]).toEqual([302, 400])
    expect(replayed.body).toBe('{"error":"invalid_state"}')
    expect(
      await a.tickets.verifyTicket(REALM, browser.ticket(), { ignoreExpiry: false }),
    ).toBeDefined()
    await shared.close()
  })

  it('let one of two callbacks at the same time through', async () => {
    const endpointDeps = open()
    const browser = new Browser()
    const query = await begin(endpointDeps, browser)
    const headers = browser.headers()
    const responses = await Promise.all(
      [1, 2, 3, 4].map(() => browser.callback(endpointDeps, query, { headers })),
    )
    expect(responses.map(({ status }) => status).sort()).toEqual([302, 400, 400, 400])
  })

  it('do not read each other’s states with other keys', async () => {
    const browser = new Browser()
    const query = await begin(open(), browser)

    expect(await browser.callback(open(), query)).toMatchObject({
      status: 400,
      body: '{"error":"invalid_state"}',
    })
  })

  it('read states of an older key of the ring', async () => {
    const [old, fresh] = [newRings(), newRings()]
    const both = { ...old, state: { keys: [...fresh.state.keys, ...old.state.keys] } }
    const browser = new Browser()
    const query = await begin(open({ rings: old }), browser)

    expect(await browser.callback(open({ rings: both }), query)).toMatchObject({ status: 302 })
  })
})

describe('while the shared state is away', () => {
  const away = () => Promise.reject(new SharedStateError('unavailable', 'away'))

  it.each([
    ['refuse', 503],
    ['allow', 302],
  ] as const)(
    'a callback is handled as its configuration says: %s',
    async (whenSharedAway, status) => {
      const endpointDeps = open({ whenSharedAway })
      endpointDeps.shared.takeOnce = away
      const browser = new Browser()
      const response = await browser.callback(endpointDeps, await begin(endpointDeps, browser))

      expect(response.status).toBe(status)
    },
  )
})

describe('endpoints of the provider', () => {
  it('may move, and are looked up again after the login that did not find them', async () => {
    const endpointDeps = open()
    const browser = new Browser()
    await browser.callback(endpointDeps, await begin(endpointDeps, browser))
    op.misbehaviour = {
      discovery: (response, document) => {
        sendJson(response, { ...document, jwks_uri: `${op.issuer}/jwks?moved` })
      },
    }
    op.jwksQuery = '?moved'
    endpointDeps.clock.advance(301_000)
    expect((await browser.callback(endpointDeps, await begin(endpointDeps, browser))).status).toBe(
      400,
    )
    await eventually(async () => {
      expect(
        (await browser.callback(endpointDeps, await begin(endpointDeps, browser))).status,
      ).toBe(302)
    })
  })
})

describe('the redirect_uri of an entry', () => {
  it.each([
    'https://API.example.com:443/v1/oidc/corp/callback',
    'https://api.example.com/v1/oidc/corp/callback?tenant=a%20b',
    'https://api.example.com',
  ])('goes to the provider as it was written, both times: %s', async (written) => {
    const endpointDeps = open()
    const record = providerRecord(op.issuer, { redirect_uri: written })
    endpointDeps.realms.set(REALM, realmRecord(REALM, { corp: record }))
    const browser = new Browser()
    const login = await browser.login(endpointDeps)
    const location = headerOf(login, 'location') ?? ''
    expect(new URL(location).searchParams.get('redirect_uri')).toBe(written)
    expect((await browser.callback(endpointDeps, op.authorize(location))).status).toBe(302)
  })
})

describe('keys of the provider', () => {
  it('may change at any time', async () => {
    const endpointDeps = open()
    const browser = new Browser()
    await browser.callback(endpointDeps, await begin(endpointDeps, browser))
    const next = newPair('k2')
    op.pair = next
    op.published = [pair, next]
    endpointDeps.clock.advance(11_000)
    const response = await browser.callback(endpointDeps, await begin(endpointDeps, browser))

    expect(response.status).toBe(302)
  })

  it('are not requested again and again by tokens of unknown keys', async () => {
    const endpointDeps = open()
    const browser = new Browser()
    await browser.callback(endpointDeps, await begin(endpointDeps, browser))
    const before = op.count('/jwks')
    const unknown = newPair('k9')
    op.misbehaviour = { idToken: (claims, provider) => provider.sign(claims, unknown) }
    const statuses: number[] = []
    for (let each = 0; each < 4; each++)
      statuses.push(
        (await browser.callback(endpointDeps, await begin(endpointDeps, browser))).status,
      )

    expect(statuses).toEqual([400, 400, 400, 400])
    expect(op.count('/jwks') - before).toBe(0)
  })

  it('and metadata are requested once', async () => {
    const endpointDeps = open()
    const before = [op.count('/.well-known/openid-configuration'), op.count('/jwks')]
    for (let each = 0; each < 3; each++) {
      const browser = new Browser()
      await browser.callback(endpointDeps, await begin(endpointDeps, browser))
    }
    const after = [op.count('/.well-known/openid-configuration'), op.count('/jwks')]

    expect(after.map((count, index) => count - (before[index] ?? 0))).toEqual([1, 1])
  })
})

describe('every response', () => {
  it('echoes the Origin and never allows credentials', async () => {
    const endpointDeps = open()
    const headers = { origin: 'https://app.test' }
    const responses = await Promise.all([
      endpointDeps.oidc.login(requestOf({ headers })),
      endpointDeps.oidc.login(requestOf({ headers, query: 'provider=nobody' })),
      endpointDeps.oidc.callback(requestOf({ headers, pathProvider: 'corp' })),
      endpointDeps.oidc.logout(requestOf({ headers })),
    ])
    for (const response of responses) {
      expect(headerOf(response, 'access-control-allow-origin')).toBe('https://app.test')
      expect(headerOf(response, 'vary')).toBe('Origin')
      expect(headerOf(response, 'access-control-allow-credentials')).toBeUndefined()
      expect(headerOf(response, 'cache-control')).toBe('no-store')
    }
  })
})

describe('what is logged', () => {
  it('holds no secret, code, token or cookie of a login that failed or succeeded', async () => {
    const endpointDeps = open()
    const browser = new Browser()
    const good = await begin(endpointDeps, browser)
    await browser.callback(endpointDeps, good)
    op.misbehaviour = { claims: { nonce: 'other' } }
    const bad = await begin(endpointDeps, browser)
    await browser.callback(endpointDeps, bad)
    await browser.logout(endpointDeps)
    const text = endpointDeps.logged.join() + JSON.stringify(endpointDeps.audits)

    expect(text).toContain('token_exchange_failed')
    for (const secret of [good.get('code'), bad.get('code'), 'eyJ', 'client-secret', 'svc_oidc'])
      expect(text).not.toContain(secret)
  })

  it('cuts down what the provider says', async () => {
    const endpointDeps = open()
    await new Browser().callback(endpointDeps, 'error=%0a<script>&error_description=hello&state=x')

    expect(endpointDeps.logged.join()).toContain('unreadable')
    expect(endpointDeps.logged.join()).not.toMatch(/script|hello/)
  })
})
