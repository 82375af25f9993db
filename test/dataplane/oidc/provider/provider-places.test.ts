import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { decodeJwt } from 'jose'
import type { OidcProviderRecord } from '../../../../language/realm/record.ts'
import {
  type Claims,
  FakeProvider,
  type Misbehaviour,
  newPair,
  sendJson,
} from '../fake-provider.ts'
import {
  Browser,
  headerOf,
  openRoom,
  providerRecord,
  realmRecord,
  REALM,
  type TestRoom,
} from '../room.ts'

const NAME = 'https://id.acme.test/realms/shop'
const PATTERN = 'https://login.acme.test/{tenantid}/v2.0'
const issuerOf = (tenant: string): string => `https://login.acme.test/${tenant}/v2.0`

const pair = newPair('k1')
const stranger = newPair('k1')
let op: FakeProvider

beforeAll(async () => {
  op = await FakeProvider.open(pair)
})

afterAll(() => op.close())

beforeEach(() => {
  op.misbehaviour = {}
  op.asked.length = 0
})

/** The metadata that it publishes name an issuer, and no `iss` comes with the code. */
const naming = (issuer: string, more: Claims = {}): Misbehaviour => ({
  discovery: (response, document) => {
    const ofIssuer = { issuer, authorization_response_iss_parameter_supported: false }
    sendJson(response, { ...document, ...ofIssuer, ...more })
  },
  response: { iss: undefined },
})

const roomOf = (more: Partial<OidcProviderRecord>, issuer = NAME): TestRoom => {
  const room = openRoom()
  room.realms.set(REALM, realmRecord(REALM, { corp: providerRecord(issuer, more) }))
  return room
}

const metadataUrl = (): string => `${op.issuer}/.well-known/openid-configuration`

/** The status of the login if that ends there, else of the callback, and where the browser was sent. */
const logIn = async (room: TestRoom): Promise<{ status: number; at: string; browser: Browser }> => {
  const browser = new Browser()
  const begun = await browser.login(room)
  const at = headerOf(begun, 'location') ?? ''
  if (begun.status !== 302) return { status: begun.status, at, browser }
  const { status } = await browser.callback(room, op.authorize(at))
  return { status, at, browser }
}

describe('metadata elsewhere than below the issuer', () => {
  it('are read there, and must name the issuer', async () => {
    op.misbehaviour = { ...naming(NAME), claims: { iss: NAME } }
    const { status, browser } = await logIn(roomOf({ discovery_url: metadataUrl() }))
    expect(status).toBe(302)
    expect(decodeJwt(browser.ticket())).toMatchObject({ authid: 'alice' })
  })

  it.each(['https://id.acme.test/realms/other', `${NAME}/`, 'https://evil.test'])(
    'that name %s are refused',
    async (other) => {
      op.misbehaviour = naming(other)
      const room = roomOf({ discovery_url: metadataUrl() })
      expect((await logIn(room)).status).toBe(503)
      expect(room.logged.join('\n')).toContain(`"found":"${other}"`)
    },
  )

  it('that can not be had are named with their setting', async () => {
    const room = roomOf({ discovery_url: `${op.issuer}/gone/.well-known/openid-configuration` })
    expect((await logIn(room)).status).toBe(503)
    expect(room.logged.join('\n')).toContain('info.oidcProviders.corp.discoveryUrl')
  })

  it('do not make the token of another issuer count', async () => {
    op.misbehaviour = { ...naming(NAME), claims: { iss: op.issuer } }
    expect((await logIn(roomOf({ discovery_url: metadataUrl() }))).status).toBe(400)
  })
})

describe('single endpoints', () => {
  const inCluster = (): Partial<OidcProviderRecord> => ({
    token_endpoint: `${op.issuer}/token`,
    jwks_uri: `${op.issuer}/jwks`,
  })

  it('stand over those of discovery: browsers and the cluster know two names', async () => {
    const elsewhere = {
      token_endpoint: 'http://127.0.0.1:1/token',
      jwks_uri: 'http://127.0.0.1:1/jwks',
      authorization_endpoint: `${NAME}/auth`,
    }
    op.misbehaviour = { ...naming(NAME, elsewhere), claims: { iss: NAME } }
    const { status, at } = await logIn(roomOf({ discovery_url: metadataUrl(), ...inCluster() }))
    expect([status, at.startsWith(`${NAME}/auth?`)]).toEqual([302, true])
  })

  it('stand in place of discovery if they are all there', async () => {
    op.misbehaviour = { claims: { iss: NAME }, response: { iss: undefined } }
    const room = roomOf({ authorization_endpoint: `${NAME}/auth`, ...inCluster() })
    expect((await logIn(room)).status).toBe(302)
    expect(op.asked).toEqual(['/token', '/jwks'])
  })

  it('in place of discovery take the token of no other issuer, nor a response of one', async () => {
    const entry = { authorization_endpoint: `${NAME}/auth`, ...inCluster() }
    op.misbehaviour = { response: { iss: undefined } }
    expect((await logIn(roomOf(entry))).status).toBe(400)
    op.misbehaviour = { claims: { iss: NAME }, response: { iss: 'https://evil.test' } }
    expect((await logIn(roomOf(entry))).status).toBe(400)
  })

  it.each(['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const)(
    'without TLS are refused: %s',
    async (name) => {
      const entry = {
        authorization_endpoint: `${NAME}/auth`,
        token_endpoint: `${NAME}/token`,
        jwks_uri: `${NAME}/jwks`,
        [name]: `${op.issuer}/x`,
        allow_unsafe_http: false,
      }
      expect((await logIn(roomOf(entry))).status).toBe(503)
      expect(op.asked).toEqual([])
    },
  )
})

describe('a provider of many tenants', () => {
  const entry = (): Partial<OidcProviderRecord> => ({
    issuer_pattern: PATTERN,
    tenants: ['t-1', 't-2'],
  })

  it.each<[string, Claims, number]>([
    ['of a listed tenant', { tid: 't-1', iss: issuerOf('t-1') }, 302],
    ['of another listed tenant', { tid: 't-2', iss: issuerOf('t-2') }, 302],
    ['of a tenant that is not listed', { tid: 't-3', iss: issuerOf('t-3') }, 400],
    ['of a tenant in other letters', { tid: 'T-1', iss: issuerOf('T-1') }, 400],
    ['whose issuer is of another listed tenant', { tid: 't-1', iss: issuerOf('t-2') }, 400],
    ['whose issuer is of a tenant that is not listed', { tid: 't-1', iss: issuerOf('t-3') }, 400],
    ['whose issuer is the pattern', { tid: 't-1', iss: PATTERN }, 400],
    ['whose issuer has more', { tid: 't-1', iss: `${issuerOf('t-1')}/` }, 400],
    ['whose tenant is the placeholder', { tid: '{tenantid}', iss: PATTERN }, 400],
    ['without a tenant', { iss: issuerOf('t-1') }, 400],
    ['whose tenant is a list', { tid: ['t-1'], iss: issuerOf('t-1') }, 400],
    ['for another client', { tid: 't-1', iss: issuerOf('t-1'), aud: 'other' }, 400],
    ['of another login', { tid: 't-1', iss: issuerOf('t-1'), nonce: 'other' }, 400],
    ['that has expired', { tid: 't-1', iss: issuerOf('t-1'), exp: 1000 }, 400],
  ])('takes an ID token %s: %j is %d', async (_, claims, status) => {
    op.misbehaviour = { ...naming(PATTERN), claims }
    expect((await logIn(roomOf(entry(), op.issuer))).status).toBe(status)
    expect(op.count('/token')).toBe(1)
  })

  it('takes no ID token that a stranger has signed', async () => {
    const claims = { tid: 't-1', iss: issuerOf('t-1') }
    const idToken = (all: Claims): Promise<string> => op.sign(all, stranger)
    op.misbehaviour = { ...naming(PATTERN), claims, idToken }
    expect((await logIn(roomOf(entry(), op.issuer))).status).toBe(400)
  })

  it.each(['https://id.acme.test', issuerOf('t-1')])(
    'is not one whose metadata name %s',
    async (issuer) => {
      op.misbehaviour = naming(issuer)
      expect((await logIn(roomOf(entry(), op.issuer))).status).toBe(503)
    },
  )

  it('has an error of its own at the token endpoint', async () => {
    op.misbehaviour = {
      ...naming(PATTERN),
      token: (response) => {
        sendJson(response, { error: 'invalid_grant' }, 400)
      },
    }
    const room = roomOf(entry(), op.issuer)
    expect((await logIn(room)).status).toBe(400)
    expect(room.logged.join('\n')).toContain('info.oidcProviders.corp.redirectUri')
  })
})
