// Several schemes and networks as clients see them: through a whole listener, with real credentials.

import { afterEach, describe, expect, it } from '@jest/globals'
import type { RealmRecord } from '../../../language/realm/record.ts'
import { quickHash } from '../security/phc.ts'
import { type SecurityHome, securityHome, ticketOrder } from '../security/security-home.ts'
import { answers, apiOf, serveGateway, type ServedGateway } from './served-gateway.ts'

const REALM: RealmRecord = {
  uri: 'com.acme',
  authmethods: ['oidcrp', 'cookie'],
  users: [{ username: 'alice', password_hash: quickHash('wonderland') }],
  info: {
    oidc_providers: {
      default: {
        issuer: 'https://idp.test',
        client_id: 'c',
        client_secret: 's',
        redirect_uri: 'https://a.test/v1/oidc/default/callback',
        cookie_domain: 'a.test',
      },
    },
  },
}

let gateway: ServedGateway

afterEach(async () => {
  await gateway[Symbol.asyncDispose]()
})

const serve = async (
  security: unknown,
  { trustedProxies = [] }: { readonly trustedProxies?: readonly string[] } = {},
): Promise<SecurityHome> => {
  const home = securityHome({ realms: [REALM] })
  const realms = new Map([[REALM.uri, REALM]])
  const authenticate = (...given: Parameters<SecurityHome['authenticate']>) =>
    home.authenticate(...given)
  gateway = await serveGateway({ authenticate, realms, trustedProxies })
  const body = '{{security |> get(type, nobody)}}'
  const methods = { get: answers(body), post: answers(body) }
  await gateway.load(apiOf({ '/x': { security, ...methods } }))
  return home
}

const ticketOf = async (home: SecurityHome, more: object = {}): Promise<string> => {
  const order = ticketOrder({ authrealm: REALM.uri, oidc_provider: 'default', ...more })
  return `svc_ticket_com.acme=${(await home.tickets.issueTicket(order)).jwt}`
}

const PAGE = { host: 'a.test', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
const LOGIN = { type: 'oidc', unauthenticated: 'redirect' }
const KEY = { type: 'api_key', header_name: 'x-key' }

describe('a ticket of a list', () => {
  it('that is forged is refused, and the response clears it', async () => {
    await serve([{ type: 'oidc' }, {}])
    const cookie = await ticketOf(securityHome({ realms: [REALM] }))
    const response = await gateway.ask('GET', '/x', { headers: { cookie } })
    expect(response.status).toBe(401)
    expect(response.headers['set-cookie']).toEqual([
      'svc_ticket_com.acme=; Path=/; Max-Age=0; SameSite=Lax; Secure; Domain=a.test',
      'svc_csrf_com.acme=; Path=/; Max-Age=0; SameSite=Lax; Secure; Domain=a.test',
    ])
    expect(gateway.authentications).toEqual(['several unknown_key'])
  })

  it('that has expired counts as none', async () => {
    const home = await serve([{ type: 'oidc' }, {}])
    const past = Math.floor(Date.now() / 1000) - 60
    const cookie = await ticketOf(home, { issued_at: past - 60, expires_at: past })
    const response = await gateway.ask('GET', '/x', { headers: { cookie } })
    expect([response.status, response.text]).toEqual([200, '"nobody"'])
    expect(response.headers['set-cookie']).toBeUndefined()
    expect(gateway.authentications).toEqual(['none anonymous'])
  })

  it('is of no use to another site: without the CSRF value it does not make the caller anonymous either', async () => {
    const home = await serve([{ type: 'oidc' }, {}])
    const cookie = await ticketOf(home)
    const read = await gateway.ask('GET', '/x', { headers: { cookie } })
    expect([read.status, read.text]).toEqual([200, '"oidc"'])
    const written = await gateway.ask('POST', '/x', { headers: { cookie } })
    expect([written.status, written.text]).toEqual([403, '{"error":"csrf_validation_failed"}'])
  })
})

describe('the login of a list', () => {
  it.each<[string, unknown, Readonly<Record<string, string>>, number]>([
    ['where nothing came', [KEY, LOGIN], PAGE, 302],
    ['not for scripts', [KEY, LOGIN], { ...PAGE, 'sec-fetch-mode': 'cors' }, 401],
    ['not where a key came that is wrong', [KEY, LOGIN], { ...PAGE, 'x-key': 'guess' }, 401],
    ['not where nothing is needed', [LOGIN, {}], PAGE, 200],
    [
      'not from a network that its entry is not for',
      [KEY, { ...LOGIN, networks: ['192.0.2.7'] }],
      PAGE,
      401,
    ],
    ['not from a network that no entry is for', [{ ...LOGIN, networks: ['192.0.2.7'] }], PAGE, 403],
  ])('%s', async (...[, security, headers, status]) => {
    await serve(security)
    const response = await gateway.ask('GET', '/x', { headers })
    expect(response.status).toBe(status)
  })

  it('clears a forged ticket on the way', async () => {
    await serve([KEY, LOGIN])
    const cookie = await ticketOf(securityHome({ realms: [REALM] }))
    const response = await gateway.ask('GET', '/x', { headers: { ...PAGE, cookie } })
    expect(response.status).toBe(302)
    expect(response.headers['set-cookie']).toHaveLength(2)
  })
})

describe('the challenges of a list', () => {
  const LINES = [
    'Basic realm="com.acme", charset="UTF-8"',
    'ApiKey realm="com.acme"',
    'Bearer realm="com.acme"',
  ]

  it.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
    ['are lines in its order', {}, LINES],
    ['are the same for a page', { 'sec-fetch-mode': 'navigate' }, LINES],
    ['are without Basic for a script', { 'sec-fetch-mode': 'cors' }, LINES.slice(1)],
  ])('%s', async (_, headers, lines) => {
    await serve([{ type: 'basic' }, KEY, { type: 'oidc' }])
    const response = await gateway.ask('GET', '/x', { headers })
    expect(response.status).toBe(401)
    // Node's client joins the lines.
    expect(response.headers['www-authenticate']).toBe(lines.join(', '))
  })
})

describe('networks and preflights', () => {
  const preflight = { origin: 'https://a.test', 'access-control-request-method': 'GET' }

  it.each<[string, object, object, number]>([
    ['a declared OPTIONS', { options: answers('inside') }, {}, 403],
    ['a declared OPTIONS, with two headers', { options: answers('inside') }, preflight, 403],
    ['an OPTIONS without an action', { options: { action: {}, response: {} } }, {}, 403],
    [
      'an OPTIONS without an action, with two headers',
      { options: { action: {}, response: {} } },
      preflight,
      204,
    ],
    ['the OPTIONS of the gateway', {}, {}, 204],
    ['the OPTIONS of the gateway, with two headers', {}, preflight, 204],
    [
      'cors, though OPTIONS is declared',
      { options: answers('inside'), cors: { origins: ['https://a.test'] } },
      preflight,
      204,
    ],
  ])('outside, %s', async (...[, path, headers, status]) => {
    const security = { networks: ['192.0.2.0/24'] }
    await serve(security)
    await gateway.load(apiOf({ '/x': { security, get: answers('x'), ...path } }))
    const response = await gateway.ask('OPTIONS', '/x', { headers: { ...headers } })
    expect(response.status).toBe(status)
    expect(response.text).not.toContain('inside')
  })
})

describe('networks that the proxy in front is in', () => {
  it.each<[string, string, number, string | undefined]>([
    ['no client outside, with a port', '203.0.113.9:4711', 403, 'network_forwarded'],
    ['no client that is hidden', 'unknown', 403, 'network_unknown'],
    ['no client before a comma', '203.0.113.9,', 403, 'network_unknown'],
    ['a client inside, with a port', '127.0.0.5:4711', 200, undefined],
  ])('let in %s', async (...[, forwardedFor, status, reason]) => {
    await serve({ networks: ['127.0.0.0/8'] }, { trustedProxies: ['127.0.0.1'] })
    const headers = { 'x-forwarded-for': forwardedFor }
    expect((await gateway.ask('GET', '/x', { headers })).status).toBe(status)
    expect(gateway.failures.map(({ failure }) => failure.reason)).toEqual(
      reason === undefined ? [] : [reason],
    )
  })
})

describe('networks behind a proxy', () => {
  const security = { networks: ['192.0.2.0/24', '2001:db8::/32'] }

  it.each<[string, readonly string[], string | undefined, number, string | undefined]>([
    ['that is not trusted', [], '192.0.2.7', 403, 'network_proxy'],
    ['that there is not', [], undefined, 403, 'network_connection'],
    ['that names a client within', ['127.0.0.1'], '192.0.2.7', 200, undefined],
    ['that names one in a mapped form', ['127.0.0.1'], '::ffff:192.0.2.7', 200, undefined],
    ['that names one with a zone', ['127.0.0.1'], '2001:db8::1%eth0', 200, undefined],
    ['that names one outside', ['127.0.0.1'], '203.0.113.7', 403, 'network_forwarded'],
    [
      'whose client says what it likes',
      ['127.0.0.1'],
      '192.0.2.7, 203.0.113.7',
      403,
      'network_forwarded',
    ],
    ['that names none', ['127.0.0.1'], undefined, 403, 'network_unknown'],
    ['that names one with a port', ['127.0.0.1'], '192.0.2.7:4711', 200, undefined],
    ['that names one in brackets', ['127.0.0.1'], '[2001:db8::1]:443', 200, undefined],
  ])('%s', async (...[, trustedProxies, forwardedFor, status, reason]) => {
    await serve(security, { trustedProxies })
    const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }
    const response = await gateway.ask('GET', '/x', { headers })
    expect([response.status, response.headers['www-authenticate']]).toEqual([status, undefined])
    expect(gateway.failures.map(({ failure }) => failure.reason)).toEqual(
      reason === undefined ? [] : [reason],
    )
  })
})
