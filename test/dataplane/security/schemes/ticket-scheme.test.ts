import { beforeEach, describe, expect, it } from '@jest/globals'
import { createHmac, generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, EncryptJWT, SignJWT } from 'jose'
import {
  oidcSessionKey,
  oidcSubjectKeysUntil,
  ticketKey,
} from '../../../../dataplane/security/tokens/revocation-keys.ts'
import type { IssuedTicket, TicketOrder } from '../../../../dataplane/security/tokens/ticket.ts'
import {
  headersOf,
  REALM,
  type SecurityHome,
  securityHome,
  statusOf,
  ticketOrder,
} from '../security-home.ts'

const OTHER = 'com.example.other'
const METHODS = ['oidcrp', 'cookie']
const OIDC = { type: 'oidc', provider: 'corp' } as const

let home: SecurityHome
let alice: IssuedTicket
let bob: IssuedTicket

const issue = (more: Partial<TicketOrder> = {}): Promise<IssuedTicket> =>
  home.tickets.issueTicket(ticketOrder(more))

beforeEach(async () => {
  home = securityHome({
    realms: [REALM, OTHER].map((uri) => ({ uri, authmethods: METHODS })),
  })
  alice = await issue()
  bob = await issue({ authid: 'bob' })
})

type Headers = readonly (readonly [string, string])[]

const cookies = (...values: readonly string[]): Headers => [
  ['Cookie', ['a=1', ...values.map((value) => `svc_ticket_${REALM}=${value}`), 'b=2'].join('; ')],
]
const bearer = (token: string, scheme = 'Bearer'): Headers => [
  ['Authorization', `${scheme} ${token}`],
]
const withCsrf = (headers: Headers, header: string | undefined, cookie?: string): Headers => [
  ...headers,
  ...(header === undefined ? [] : ([['X-CSRF-Token', header]] as const)),
  ...(cookie === undefined ? [] : ([['Cookie', `svc_csrf_${REALM}=${cookie}`]] as const)),
]
const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

const forged = (header: object, sign: (input: string) => string): string => {
  const merged = { ...decodeProtectedHeader(alice.jwt), ...header }
  const input = `${base64(merged)}.${base64(decodeJwt(alice.jwt))}`
  return `${input}.${sign(input)}`
}

/** The same claims under the genuine kid, signed by somebody else. */
const strangers = (): Promise<string> =>
  new SignJWT(decodeJwt(alice.jwt))
    .setProtectedHeader({ ...decodeProtectedHeader(alice.jwt), alg: 'ES256' })
    .sign(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey)

const changed = (change: object): string => {
  const [header, , signature] = alice.jwt.split('.')
  return [header, base64({ ...decodeJwt(alice.jwt), ...change }), signature].join('.')
}

const state = (): Promise<string> =>
  new EncryptJWT({ realm: REALM })
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', typ: 'svc-state+jwt' })
    .encrypt(randomBytes(32))

const idToken = (): Promise<string> =>
  new SignJWT({ iss: 'https://idp.example', sub: 'alice', aud: 'gw', exp: 9_999_999_999 })
    .setProtectedHeader({ alg: 'ES256', kid: 'idp-1', typ: 'JWT' })
    .sign(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey)

const revoke = async (): Promise<string> => {
  await home.shared.revoke(ticketKey(alice.id), 9_999_999_999)
  return alice.jwt
}

describe('a ticket', () => {
  it.each<[string, () => Headers | Promise<Headers>, object]>([
    ['no JWT', () => bearer('text'), { reason: 'malformed' }],
    ['a long text', () => bearer('a'.repeat(9000)), { reason: 'size' }],
    ['a key of another', async () => bearer(await strangers()), { reason: 'signature' }],
    ['a kid of another', () => bearer(forged({ kid: 'x' }, () => 'AA')), { reason: 'unknown_key' }],
    ['an ID token', async () => bearer(await idToken()), { reason: 'type', claim: 'typ' }],
    [
      'another realm',
      async () => cookies((await issue({ authrealm: OTHER })).jwt),
      { reason: 'realm', claim: 'authrealm', expected: REALM },
    ],
    [
      'its end',
      async () => cookies((await issue({ expires_at: 1 })).jwt),
      { reason: 'expired', claim: 'expires_at' },
    ],
    ['its revocation', async () => cookies(await revoke()), { reason: 'revoked' }],
    [
      'a forged one beside one that has ended',
      async () => cookies((await issue({ expires_at: 1 })).jwt, 'text'),
      { reason: 'malformed' },
    ],
  ])('is refused for %s, which the audit log tells', async (_, headers, event) => {
    const verdict = await home.call(OIDC, await headers())
    expect(headersOf(verdict)['www-authenticate']).toContain('error="invalid_token"')
    expect(home.audited).toMatchObject([{ scheme: 'oidc', ...event }])
  })

  it.each<[string, () => Headers | Promise<Headers>, number]>([
    ['genuine-cookie', () => cookies(alice.jwt), 200],
    ['genuine-bearer', () => bearer(alice.jwt), 200],
    ['none', () => [], 401],
    ['empty', () => cookies(''), 401],
    ['garbage', () => cookies('text'), 401],
    ['alg-none', () => cookies(forged({ alg: 'none' }, () => '')), 401],
    [
      'hs256-public',
      () =>
        cookies(
          forged({ alg: 'HS256' }, (input) =>
            createHmac(
              'sha256',
              home.keys.signingKey(REALM).publicKey.export({ format: 'pem', type: 'spki' }),
            )
              .update(input)
              .digest('base64url'),
          ),
        ),
      401,
    ],
    [
      'hs256-empty',
      () =>
        cookies(
          forged({ alg: 'HS256' }, (input) =>
            createHmac('sha256', '').update(input).digest('base64url'),
          ),
        ),
      401,
    ],
    ['other-key', async () => cookies(await strangers()), 401],
    ['kid-missing', () => cookies(forged({ kid: undefined }, () => 'AAAA')), 401],
    ['tampered-authid', () => cookies(changed({ authid: 'root' })), 401],
    ['tampered-roles', () => cookies(changed({ authroles: ['root'] })), 401],
    ['tampered-expiry', () => cookies(changed({ expires_at: 9_999_999_999 })), 401],
    ['signature-cut', () => cookies(alice.jwt.slice(0, -10)), 401],
    ['other-realm', async () => cookies((await issue({ authrealm: OTHER })).jwt), 401],
    ['other-realm-bearer', async () => bearer((await issue({ authrealm: OTHER })).jwt), 401],
    ['id-token', async () => bearer(await idToken()), 401],
    ['state', async () => bearer(await state()), 401],
    [
      'access-token',
      async () =>
        bearer(
          (
            await home.accessTokens.issue({
              realmUri: REALM,
              sub: 'alice',
              clientId: 'app',
              scopes: [],
              groups: [],
            })
          ).jwt,
        ),
      401,
    ],
    [
      'expired',
      async () => cookies((await issue({ expires_at: Math.floor(home.clock.now() / 1000) })).jwt),
      401,
    ],
    ['revoked', async () => cookies(await revoke()), 401],
    ['revoked-bearer', async () => bearer(await revoke()), 401],
    ['two-cookies-forged-first', async () => cookies(await strangers(), alice.jwt), 200],
    ['two-cookies-forged-last', async () => cookies(alice.jwt, await strangers()), 200],
    ['two-cookies-garbage-first', () => cookies('text', '', alice.jwt), 200],
    ['two-cookies-two-users', () => cookies(alice.jwt, bob.jwt), 401],
    ['two-cookies-one-user', async () => cookies(alice.jwt, (await issue()).jwt), 200],
    ['two-cookies-same', () => cookies(alice.jwt, alice.jwt), 200],
    [
      'two-cookies-two-providers',
      async () => cookies(alice.jwt, (await issue({ oidc_provider: 'other' })).jwt),
      401,
    ],
    ['two-cookies-one-revoked', async () => cookies(await revoke(), bob.jwt), 200],
    ['two-credentials', () => [...bearer(bob.jwt), ...cookies(alice.jwt)], 200],
    ['bad-bearer-good-cookie', () => [...bearer('text'), ...cookies(alice.jwt)], 401],
    ['empty-header-good-cookie', () => [['Authorization', ''], ...cookies(alice.jwt)], 401],
    ['two-headers', () => [...bearer(alice.jwt), ...bearer(alice.jwt)], 401],
    ['huge-bearer', () => bearer('A'.repeat(200_000)), 401],
    ['lower-case-scheme', () => bearer(alice.jwt, 'bearer'), 200],
    ['basic', () => bearer(Buffer.from(`alice:${alice.jwt}`).toString('base64'), 'Basic'), 401],
    [
      'another cookie',
      () => [['Cookie', `svc_ticket_${OTHER}=${alice.jwt}; xsvc_ticket_${REALM}=${alice.jwt}`]],
      401,
    ],
    ['the query or another header', () => [['X-Ticket', alice.jwt]], 401],
  ])('%s', async (_, headers, status) => {
    const given = await headers()
    for (let round = 0; round < 2; round++) {
      const verdict = await home.call(OIDC, given)
      expect(statusOf(verdict)).toBe(status)
      expect(headersOf(verdict)['www-authenticate']?.startsWith(`Bearer realm="${REALM}"`)).toBe(
        status === 401 ? true : undefined,
      )
    }
    expect(JSON.stringify(home.audited)).not.toContain('eyJ')
  })

  it('says who logged in', async () => {
    const expected = {
      kind: 'identity',
      identity: {
        type: 'oidc',
        realm_uri: REALM,
        authid: 'alice',
        username: 'alice',
        authmethod: 'oidcrp',
        authroles: ['staff', 'admins'],
        groups: ['staff', 'admins'],
        client_id: 'all',
        session: alice.id,
        scope: { realm: REALM, client_id: 'all', device_id: 'all' },
        locale: '',
        meta: {},
      },
    }
    for (const headers of [cookies(alice.jwt), bearer(alice.jwt), cookies(alice.jwt)])
      expect(await home.call(OIDC, headers)).toMatchObject(expected)
  })

  it('is not the user of the realm that has the same name', async () => {
    const users = [{ username: 'alice', groups: ['root'], meta: { dept: 'hats' } }]
    home.realms.set(REALM, { uri: REALM, authmethods: METHODS, users })
    expect(await home.call(OIDC, cookies(alice.jwt))).toMatchObject({
      identity: { groups: ['staff', 'admins'], meta: {} },
    })
  })

  it('is known at once the second time, and never again when it has expired', async () => {
    const order = { expires_at: Math.floor(home.clock.now() / 1000) + 10 }
    const { jwt } = await issue(order)
    const { callerOf } = await import('../security-home.ts')
    const ask = () => home.authenticate(OIDC, REALM, callerOf(cookies(jwt)))
    expect(ask()).toBeInstanceOf(Promise)
    await ask()
    expect(ask()).toMatchObject({ kind: 'identity' })
    home.clock.advance(order.expires_at * 1000 - home.clock.now())
    expect(statusOf(await ask())).toBe(401)
  })
})

describe('a ticket that was known', () => {
  const known = async (more: Partial<TicketOrder> = {}): Promise<Headers> => {
    alice = await issue(more)
    const headers = cookies(alice.jwt)
    for (let round = 0; round < 2; round++)
      expect(statusOf(await home.call(OIDC, headers))).toBe(200)
    return headers
  }

  it.each<[string, Partial<TicketOrder>, () => Promise<unknown> | undefined, number]>([
    ['revoked by its id', {}, () => revoke(), 401],
    [
      'revoked by its session',
      { oidc_sid: 's' },
      () =>
        home.shared.revoke(
          oidcSessionKey({ realmUri: REALM, provider: 'corp' }, 's'),
          9_999_999_999,
        ),
      401,
    ],
    [
      'of another session',
      { oidc_sid: 's2' },
      () =>
        home.shared.revoke(
          oidcSessionKey({ realmUri: REALM, provider: 'corp' }, 's'),
          9_999_999_999,
        ),
      200,
    ],
    [
      'of a session at another provider',
      { oidc_sid: 's' },
      () =>
        home.shared.revoke(oidcSessionKey({ realmUri: REALM, provider: 'x' }, 's'), 9_999_999_999),
      200,
    ],
    [
      'of a realm with new keys',
      {},
      () =>
        void home.realms.set(REALM, {
          uri: REALM,
          authmethods: METHODS,
          signing_keys: [
            generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
              format: 'pem',
              type: 'pkcs8',
            }) as string,
          ],
        }),
      401,
    ],
    [
      'of a realm that changed otherwise',
      {},
      () => void home.realms.set(REALM, { uri: REALM, authmethods: METHODS }),
      200,
    ],
    ['of a realm that is gone', {}, () => void home.realms.delete(REALM), 401],
    [
      'of a realm without oidcrp',
      {},
      () => void home.realms.set(REALM, { uri: REALM, authmethods: ['cookie'] }),
      401,
    ],
    [
      'of a realm without cookie',
      {},
      () => void home.realms.set(REALM, { uri: REALM, authmethods: ['oidcrp'] }),
      401,
    ],
    ['of a realm without authmethods', {}, () => void home.realms.set(REALM, { uri: REALM }), 401],
    ['while revocations may be missed', {}, () => void (home.health = 'away'), 503],
  ])('%s', async (_, order, happens, status) => {
    const headers = await known(order)
    await happens()
    expect(statusOf(await home.call(OIDC, headers))).toBe(status)
    expect(statusOf(await home.call(OIDC, headers))).toBe(status)
  })

  it('of a subject that was logged out counts no more; the next one does', async () => {
    const now = Math.floor(home.clock.now() / 1000)
    const headers = await known({ oidc_sub: 'u', issued_at: now })
    const ended = { until: now, lifetimeSeconds: 2_592_000 }
    for (const key of oidcSubjectKeysUntil({ realmUri: REALM, provider: 'corp' }, 'u', ended))
      await home.shared.revoke(key, 9_999_999_999)
    expect(statusOf(await home.call(OIDC, headers))).toBe(401)
    const next = await issue({ oidc_sub: 'u', issued_at: now + 1 })
    expect(statusOf(await home.call(OIDC, cookies(next.jwt)))).toBe(200)
  })

  it('counts while the shared state is away, where that is wanted', async () => {
    home = securityHome({ realms: [{ uri: REALM, authmethods: METHODS }], redisAway: 'accept' })
    const headers = await known()
    home.health = 'away'
    expect(statusOf(await home.call(OIDC, headers))).toBe(200)
    await revoke()
    expect(statusOf(await home.call(OIDC, headers))).toBe(401)
  })

  it('says when to come again, and why in the audit log', async () => {
    const headers = await known()
    home.health = 'away'
    expect(headersOf(await home.call(OIDC, headers))).toEqual({ 'retry-after': '5' })
    expect(home.audited).toMatchObject([{ reason: 'revocations_unknown', authid: 'alice' }])
  })
})

describe('CSRF', () => {
  const other = randomUUID()

  it.each<[string, string, () => Headers, number]>([
    ['csrf-none', 'POST', () => withCsrf(cookies(alice.jwt), undefined, alice.csrf), 403],
    ['csrf-empty', 'POST', () => withCsrf(cookies(alice.jwt), '', alice.csrf), 403],
    ['csrf-wrong', 'POST', () => withCsrf(cookies(alice.jwt), other, alice.csrf), 403],
    ['csrf-no-cookie', 'POST', () => withCsrf(cookies(alice.jwt), alice.csrf), 403],
    ['csrf-tossed', 'POST', () => withCsrf(cookies(alice.jwt), other, other), 403],
    ['csrf-of-another', 'POST', () => withCsrf(cookies(alice.jwt), bob.csrf, bob.csrf), 403],
    [
      'csrf-two-headers',
      'POST',
      () => [['X-Csrf-Token', other], ...withCsrf(cookies(alice.jwt), alice.csrf, alice.csrf)],
      403,
    ],
    ['csrf-right', 'POST', () => withCsrf(cookies(alice.jwt), alice.csrf, alice.csrf), 200],
    [
      'csrf-right before a tossed cookie',
      'POST',
      () => [
        ...withCsrf(cookies(alice.jwt), alice.csrf, alice.csrf),
        ['Cookie', `svc_csrf_${REALM}=${other}`],
      ],
      200,
    ],
    [
      'csrf-right behind a tossed cookie',
      'POST',
      () => [
        ['Cookie', `svc_csrf_${REALM}=${other}`],
        ...withCsrf(cookies(alice.jwt), alice.csrf, alice.csrf),
      ],
      403,
    ],
    [
      'csrf-right in a cookie that is no plain text',
      'POST',
      () => withCsrf(cookies(alice.jwt), alice.csrf, `j:["${alice.csrf}"]`),
      403,
    ],
    ['csrf-put-none', 'PUT', () => cookies(alice.jwt), 403],
    ['csrf-patch-none', 'PATCH', () => cookies(alice.jwt), 403],
    ['csrf-delete-none', 'DELETE', () => cookies(alice.jwt), 403],
    ['csrf-unknown-method', 'PROPFIND', () => cookies(alice.jwt), 403],
    ['csrf-get', 'GET', () => cookies(alice.jwt), 200],
    ['csrf-head', 'HEAD', () => cookies(alice.jwt), 200],
    ['csrf-options', 'OPTIONS', () => cookies(alice.jwt), 200],
    ['csrf-bearer', 'POST', () => bearer(alice.jwt), 200],
    ['csrf-bearer beside a cookie', 'POST', () => [...bearer(alice.jwt), ...cookies(bob.jwt)], 200],
    ['no ticket is 401, not 403', 'POST', () => [], 401],
    ['a forged ticket is 401, not 403', 'POST', () => cookies('text'), 401],
  ])('%s', async (_, method, headers, status) => {
    const verdict = await home.call(OIDC, headers(), { method })
    expect(statusOf(verdict)).toBe(status)
    const reason = status === 403 ? 'csrf' : undefined
    expect(verdict).toMatchObject(
      status === 200 ? { kind: 'identity' } : { error: { name: 'GatewayError', reason } },
    )
  })

  it('value says which of two tickets of one user is meant', async () => {
    const again = await issue()
    const headers = withCsrf(cookies(alice.jwt, again.jwt), again.csrf, again.csrf)
    expect(await home.call(OIDC, headers, { method: 'POST' })).toMatchObject({
      identity: { session: again.id },
    })
  })
})

describe('many cookies', () => {
  it('are looked at up to a bound', async () => {
    const forgery = await strangers()
    const some = Array.from({ length: 15 }, () => forgery)
    expect(statusOf(await home.call(OIDC, cookies(...some, alice.jwt)))).toBe(200)
    expect(statusOf(await home.call(OIDC, cookies(...some, forgery, alice.jwt)))).toBe(401)
  })
})
