// Whatever somebody presents to a protected API: the tables of tickets and CSRF, over real processes.

import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { decodeJwt, decodeProtectedHeader, SignJWT, type JWTPayload } from 'jose'
import { request, type HttpResponse } from '../../support/http-request.ts'
import { authorize } from '../../support/login-driver.ts'
import {
  loginOf,
  logInAt,
  newSigningKey,
  OWN,
  startLoginRig,
  ticketOf,
  type LoginRig,
} from './login-rig.ts'

interface TicketRow {
  readonly id: string
  readonly request: string
  readonly status: number
  readonly or?: readonly { readonly status: number }[]
}

const file = join(import.meta.dirname, 'cases/tickets.json')
const table = JSON.parse(await readFile(file, 'utf8')) as {
  readonly cases: readonly TicketRow[]
  readonly csrf: readonly TicketRow[]
}

const REALM = 'com.example.realm'
const OTHER = 'com.example.other'

interface Session {
  readonly ticket: string
  readonly csrf: string
}

let rig: LoginRig
let alice: Session
let bob: Session
let stranger: Session
let state: string
const signingKey = newSigningKey()
const own = createPrivateKey({ key: { ...signingKey }, format: 'jwk' })
const foreign = generateKeyPairSync('ec', { namedCurve: 'P-256' })

beforeAll(async () => {
  rig = await startLoginRig()
  const { issuer } = await rig.idp({ apis: ['v1', 'other'] })
  const providers = { corp: { issuer } }
  await rig.serve({ name: 'v1', realm: REALM, providers, signingKeys: [signingKey] })
  await rig.serve({ name: 'other', realm: OTHER, providers })
  alice = await openSession('v1', REALM, 'alice')
  bob = await openSession('v1', REALM, 'bob')
  stranger = await openSession('other', OTHER, 'alice')
  const callback = await authorize(rig.browser(), loginOf('v1'), 'alice')
  state = callback.searchParams.get('state') ?? ''
})

afterAll(async () => {
  await rig[Symbol.asyncDispose]()
})

const openSession = async (api: string, realm: string, username: string): Promise<Session> => {
  const browser = rig.browser()
  await logInAt(browser, api, username)
  const csrf = browser.jar.get(`svc_csrf_${realm}`)?.value ?? ''
  return { ticket: ticketOf(browser, realm), csrf }
}

type Headers = Readonly<Record<string, string>>

const ask = (headers: Headers, method = 'GET'): Promise<HttpResponse> =>
  request(`${rig.gateway.public}/v1/me`, { method, headers })

const cookie = (...tickets: readonly string[]): Headers => ({
  cookie: tickets.map((ticket) => `svc_ticket_${REALM}=${ticket}`).join('; '),
})

const bearer = (token: string, scheme = 'Bearer'): Headers => ({
  authorization: `${scheme} ${token}`,
})

type Change = Readonly<Record<string, unknown>>

/** The same claims and header, but for what is changed, signed anew. */
const signed = (
  key: KeyObject | Uint8Array,
  { header = {}, claims = {} }: { readonly header?: Change; readonly claims?: Change } = {},
): Promise<string> => {
  const { kid = '', typ = '' } = decodeProtectedHeader(alice.ticket)
  return new SignJWT({ ...decodeJwt(alice.ticket), ...claims })
    .setProtectedHeader({ alg: 'ES256', kid, typ, ...header })
    .sign(key)
}

/** Other claims under the old signature. */
const tampered = (change: (claims: JWTPayload) => Change): string => {
  const [header = '', , signature = ''] = alice.ticket.split('.')
  const claims = decodeJwt(alice.ticket)
  const body = Buffer.from(JSON.stringify({ ...claims, ...change(claims) })).toString('base64url')
  return `${header}.${body}.${signature}`
}

const unsigned = (): string => {
  const { kid, typ } = decodeProtectedHeader(alice.ticket)
  const header = Buffer.from(JSON.stringify({ alg: 'none', kid, typ })).toString('base64url')
  return `${header}.${alice.ticket.split('.')[1] ?? ''}.`
}

const forged = (): Promise<string> => signed(foreign.privateKey)

const revoked = async (): Promise<string> => {
  const browser = rig.browser()
  await logInAt(browser, 'v1')
  const ticket = ticketOf(browser, REALM)
  expect((await ask(bearer(ticket))).status).toBe(200)
  await browser.visit(`${OWN}/v1/oidc/logout`)
  return ticket
}

const publicPem = (): Uint8Array =>
  Buffer.from(createPublicKey(own).export({ type: 'spki', format: 'pem' }))

const PRESENTED: Readonly<Record<string, () => Promise<Headers> | Headers>> = {
  'genuine-cookie': () => cookie(alice.ticket),
  'genuine-bearer': () => bearer(alice.ticket),
  none: () => ({}),
  empty: () => cookie(''),
  garbage: () => cookie('text'),
  'alg-none': () => cookie(unsigned()),
  'hs256-public': async () => cookie(await signed(publicPem(), { header: { alg: 'HS256' } })),
  'hs256-empty': () => {
    const header = Buffer.from(
      JSON.stringify({ ...decodeProtectedHeader(alice.ticket), alg: 'HS256' }),
    ).toString('base64url')
    const [, claims = ''] = alice.ticket.split('.')
    return cookie(`${header}.${claims}.${hmacOfNothing(`${header}.${claims}`)}`)
  },
  'other-key': async () => cookie(await forged()),
  rs256: async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    return cookie(await signed(privateKey, { header: { alg: 'RS256' } }))
  },
  'jwk-header': async () => {
    const jwk = foreign.publicKey.export({ format: 'jwk' })
    return cookie(await signed(foreign.privateKey, { header: { jwk } }))
  },
  'kid-missing': async () =>
    cookie(await signed(foreign.privateKey, { header: { kid: undefined } })),
  'tampered-authid': () => cookie(tampered(() => ({ authid: 'bob' }))),
  'tampered-roles': () => cookie(tampered(() => ({ authroles: ['root'] }))),
  'tampered-expiry': () =>
    cookie(tampered(({ exp = 0 }) => ({ exp: exp + 9999, expires_at: exp + 9999 }))),
  'signature-cut': () => cookie(alice.ticket.slice(0, -20)),
  'other-realm': () => cookie(stranger.ticket),
  'other-realm-bearer': () => bearer(stranger.ticket),
  'id-token': () => bearer(String(decodeJwt(alice.ticket)['oidc_id_token'])),
  state: () => bearer(state),
  expired: async () => {
    const past = Math.floor(Date.now() / 1000) - 1
    const claims = { iat: past - 60, issued_at: past - 60, exp: past, expires_at: past }
    return cookie(await signed(own, { claims }))
  },
  revoked: async () => cookie(await revoked()),
  'revoked-bearer': async () => bearer(await revoked()),
  'two-cookies-forged-first': async () => cookie(await forged(), alice.ticket),
  'two-cookies-forged-last': async () => cookie(alice.ticket, await forged()),
  'two-cookies-two-users': () => cookie(alice.ticket, bob.ticket),
  'two-credentials': () => ({ ...bearer(alice.ticket), ...cookie(bob.ticket) }),
  'bad-bearer-good-cookie': () => ({ ...bearer('broken'), ...cookie(alice.ticket) }),
  'huge-bearer': () => bearer('x'.repeat(200_000)),
  'lower-case-scheme': () => bearer(alice.ticket, 'bearer'),
  basic: () => bearer(Buffer.from(`alice:${alice.ticket}`).toString('base64'), 'Basic'),
}

const hmacOfNothing = (text: string): string =>
  createHmac('sha256', '').update(text).digest('base64url')

const withCsrf = (token: string | undefined, cookieValue: string | undefined): Headers => {
  const csrf = cookieValue === undefined ? '' : `; svc_csrf_${REALM}=${cookieValue}`
  return {
    cookie: `svc_ticket_${REALM}=${alice.ticket}${csrf}`,
    ...(token === undefined ? {} : { 'x-csrf-token': token }),
  }
}

const MADE_UP = '01234567-89ab-8def-8123-456789abcdef'

const POSTED: Readonly<Record<string, () => readonly [method: string, headers: Headers]>> = {
  'csrf-none': () => ['POST', withCsrf(undefined, alice.csrf)],
  'csrf-empty': () => ['POST', withCsrf('', alice.csrf)],
  'csrf-wrong': () => ['POST', withCsrf(MADE_UP, alice.csrf)],
  'csrf-no-cookie': () => ['POST', withCsrf(alice.csrf, undefined)],
  'csrf-tossed': () => ['POST', withCsrf(MADE_UP, MADE_UP)],
  'csrf-right': () => ['POST', withCsrf(alice.csrf, alice.csrf)],
  'csrf-put-none': () => ['PUT', withCsrf(undefined, alice.csrf)],
  'csrf-patch-none': () => ['PATCH', withCsrf(undefined, alice.csrf)],
  'csrf-delete-none': () => ['DELETE', withCsrf(undefined, alice.csrf)],
  'csrf-get': () => ['GET', withCsrf(undefined, alice.csrf)],
  'csrf-bearer': () => ['POST', bearer(alice.ticket)],
}

describe('presented to an API', () => {
  it.each(table.cases)('$id, $request: $status', async ({ id, status, or = [] }) => {
    const present = PRESENTED[id]
    if (present === undefined) throw new Error(`no case presents ${id}`)
    const response = await ask(await present())
    expect([status, ...or.map((each) => each.status)]).toContain(response.status)
    const challenge = response.headers['www-authenticate'] ?? ''
    expect(challenge.startsWith('Bearer realm=')).toBe(response.status === 401)
    expect(response.text).not.toMatch(/eyJ|at .*\.ts/)
  })

  it('the header says whose request it is', async () => {
    const response = await ask({ ...bearer(alice.ticket), ...cookie(bob.ticket) })
    expect(response.json()).toEqual({ authid: 'alice', roles: ['customer', 'admin'] })
  })

  it('what these tests sign with the realm key is a ticket: they fail for what they change', async () => {
    expect((await ask(cookie(await signed(own)))).status).toBe(200)
    expect((await ask(cookie(await signed(own, { header: { typ: 'JWT' } })))).status).toBe(401)
    expect((await ask(cookie(await signed(own, { claims: { authrealm: OTHER } })))).status).toBe(
      401,
    )
  })
})

describe('against other sites', () => {
  it.each(table.csrf)('$id, $request: $status', async ({ id, status }) => {
    const send = POSTED[id]
    if (send === undefined) throw new Error(`no case sends ${id}`)
    const [method, headers] = send()
    const response = await ask(headers, method)
    expect(response.status).toBe(status)
    const refusal = JSON.stringify({ error: 'csrf_validation_failed' })
    expect(response.text === refusal).toBe(status === 403)
  })

  it("a value of another user's ticket does not count", async () => {
    expect((await ask(withCsrf(bob.csrf, bob.csrf), 'POST')).status).toBe(403)
  })
})
