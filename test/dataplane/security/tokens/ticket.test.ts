import { beforeAll, describe, expect, it } from '@jest/globals'
import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import fc from 'fast-check'
import { decodeJwt, decodeProtectedHeader, exportJWK, SignJWT } from 'jose'
import { csrfValueOf } from '../../../../dataplane/security/tokens/csrf.ts'
import { ticketRevocationKeys } from '../../../../dataplane/security/tokens/ticket.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { anyText } from '../any-text.ts'
import { REALM, type SecurityHome, securityHome, ticketOrder } from '../security-home.ts'

let home: SecurityHome
let genuine: string

beforeAll(async () => {
  home = securityHome({ realms: [{ uri: REALM }, { uri: 'com.example.other' }] })
  genuine = (await home.tickets.issueTicket(ticketOrder())).jwt
})

const base64 = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

/** Signed by hand: nothing keeps an attacker from making what a library would refuse. */
const handmade = (header: object, claims: object, signature: (input: string) => Buffer): string => {
  const input = `${base64(header)}.${base64(claims)}`
  return `${input}.${signature(input).toString('base64url')}`
}

const es256 =
  (key: KeyObject) =>
  (input: string): Buffer =>
    sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' })

const parts = (jwt: string): [string, string, string] => jwt.split('.') as [string, string, string]

describe('issueTicket', () => {
  it('signs the claims of the specification, and when they end', async () => {
    const order = ticketOrder({
      oidc_id_token: 'a.b.c',
      oidc_access_token_expires_at: 5,
      oidc_sid: 'sid-1',
      oidc_sub: 'sub-1',
    })
    const { jwt, id, csrf } = await home.tickets.issueTicket(order)
    const key = home.keys.signingKey(REALM)
    expect(decodeProtectedHeader(jwt)).toEqual({
      alg: 'ES256',
      typ: 'svc-ticket+jwt',
      kid: key.kid,
    })
    expect(decodeJwt(jwt)).toEqual({
      ...order,
      id,
      authmethod: 'oidcrp',
      issued_by: 'alice',
      kid: key.kid,
      iat: order.issued_at,
      exp: order.expires_at,
    })
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(csrf).toBe(csrfValueOf(key, id))
    expect(await home.tickets.verifyTicket(REALM, jwt)).toMatchObject({ id, authid: 'alice' })
  })

  it('rejects for a realm that is not there', async () => {
    const order = ticketOrder({ authrealm: 'com.example.gone' })
    await expect(home.tickets.issueTicket(order)).rejects.toThrow('not there')
  })
})

describe('verifyTicket', () => {
  const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })

  const forge = (
    header: (genuineHeader: object) => object,
    signature: (input: string) => Buffer,
    claims: (genuineClaims: object) => object = (same) => same,
  ): string =>
    handmade(header(decodeProtectedHeader(genuine)), claims(decodeJwt(genuine)), signature)

  const own = (): KeyObject => home.keys.signingKey(REALM).privateKey
  const pem = (): string =>
    home.keys.signingKey(REALM).publicKey.export({ type: 'spki', format: 'pem' }) as string
  const hs256 = (key: string | Buffer) => (input: string) =>
    createHmac('sha256', key).update(input).digest()
  const nothing = (): Buffer => Buffer.alloc(0)

  it.each<[string, () => string | Promise<string>]>([
    ['text', () => 'garbage'],
    ['nothing', () => ''],
    ['dots', () => '..'],
    ['text in three parts', () => 'abc.def.ghi'],
    ['alg none', () => forge((header) => ({ ...header, alg: 'none' }), nothing)],
    ['alg None', () => forge((header) => ({ ...header, alg: 'None' }), nothing)],
    [
      'alg none, signature kept',
      () =>
        `${base64({ ...decodeProtectedHeader(genuine), alg: 'none' })}.${parts(genuine)[1]}.${parts(genuine)[2]}`,
    ],
    ['no alg', () => forge((header) => ({ ...header, alg: undefined }), es256(own()))],
    [
      'HS256 with the public key',
      () => forge((header) => ({ ...header, alg: 'HS256' }), hs256(pem())),
    ],
    ['HS256 with an empty key', () => forge((header) => ({ ...header, alg: 'HS256' }), hs256(''))],
    ['ES384 in name', () => forge((header) => ({ ...header, alg: 'ES384' }), es256(own()))],
    ['another key under the kid', () => forge((header) => header, es256(stranger.privateKey))],
    [
      'RS256 under the kid',
      () =>
        forge(
          (header) => ({ ...header, alg: 'RS256' }),
          (input) => sign('sha256', Buffer.from(input), rsa.privateKey),
        ),
    ],
    [
      'a key in the header',
      async () => {
        const jwk = await exportJWK(stranger.publicKey)
        return forge((header) => ({ ...header, jwk }), es256(stranger.privateKey))
      },
    ],
    [
      'a key in the header, no kid',
      async () => {
        const jwk = await exportJWK(stranger.publicKey)
        return forge(
          () => ({ alg: 'ES256', typ: 'svc-ticket+jwt', jwk }),
          es256(stranger.privateKey),
        )
      },
    ],
    [
      'a key set to fetch',
      () =>
        forge(
          (header) => ({ ...header, jku: 'http://127.0.0.1:9/jwks' }),
          es256(stranger.privateKey),
        ),
    ],
    [
      'a certificate to fetch',
      () =>
        forge(
          (header) => ({ ...header, x5u: 'http://127.0.0.1:9/cert' }),
          es256(stranger.privateKey),
        ),
    ],
    [
      'a certificate',
      () => forge((header) => ({ ...header, x5c: ['AAAA'] }), es256(stranger.privateKey)),
    ],
    ['no kid, our key', () => forge((header) => ({ ...header, kid: undefined }), es256(own()))],
    [
      'no kid, another key',
      () => forge((header) => ({ ...header, kid: undefined }), es256(stranger.privateKey)),
    ],
    ...['__proto__', 'constructor', 'toString', '../../dev/null', "x' OR '1'='1", ''].map(
      (kid): [string, () => string] => [
        `kid ${kid}`,
        () => forge((header) => ({ ...header, kid }), es256(own())),
      ],
    ),
    ['kid no text', () => forge((header) => ({ ...header, kid: ['a'] }), es256(own()))],
    [
      'a kid claim of another key',
      () =>
        forge(
          (header) => header,
          es256(own()),
          (claims) => ({ ...claims, kid: 'other' }),
        ),
    ],
    [
      'a critical extension',
      () => forge((header) => ({ ...header, crit: ['exp'], exp: 1 }), es256(own())),
    ],
    [
      'an unencoded payload',
      () => forge((header) => ({ ...header, crit: ['b64'], b64: false }), es256(own())),
    ],
    ['no typ', () => forge((header) => ({ ...header, typ: undefined }), es256(own()))],
    ...['JWT', 'at+jwt', 'svc-state+jwt', 'logout+jwt'].map((typ): [string, () => string] => [
      `typ ${typ}`,
      () => forge((header) => ({ ...header, typ }), es256(own())),
    ]),
    [
      'authid changed',
      () =>
        forge(
          (header) => header,
          () => Buffer.from(parts(genuine)[2], 'base64url'),
          (claims) => ({ ...claims, authid: 'bob' }),
        ),
    ],
    [
      'roles changed',
      () =>
        forge(
          (header) => header,
          () => Buffer.from(parts(genuine)[2], 'base64url'),
          (claims) => ({ ...claims, authroles: ['root'] }),
        ),
    ],
    [
      'a longer life',
      () =>
        forge(
          (header) => header,
          () => Buffer.from(parts(genuine)[2], 'base64url'),
          (claims) => ({ ...claims, expires_at: 9_999_999_999, exp: 9_999_999_999 }),
        ),
    ],
    ['signature cut', () => genuine.slice(0, -8)],
    ['no signature', () => `${parts(genuine)[0]}.${parts(genuine)[1]}.`],
    [
      'a signature of zeros',
      () =>
        forge(
          (header) => header,
          () => Buffer.alloc(64),
        ),
    ],
    [
      'a signature as DER',
      () =>
        forge(
          (header) => header,
          (input) => sign('sha256', Buffer.from(input), own()),
        ),
    ],
    ['a part more', () => `${genuine}.x`],
    ['blanks around', () => ` ${genuine}`],
    ['a line more', () => `${genuine}\n`],
    ['200 kB', () => `${parts(genuine)[0]}.${'A'.repeat(200_000)}.${parts(genuine)[2]}`],
    [
      'claims no map',
      () =>
        forge(
          (header) => header,
          es256(own()),
          () => [],
        ),
    ],
    [
      'no claims',
      () =>
        forge(
          (header) => header,
          es256(own()),
          () => ({}),
        ),
    ],
    ...[
      'id',
      'authrealm',
      'authid',
      'issued_at',
      'expires_at',
      'authroles',
      'scope',
      'oidc_provider',
      'authmethod',
    ].map((claim): [string, () => string] => [
      `without ${claim}`,
      () =>
        forge(
          (header) => header,
          es256(own()),
          (claims) => ({ ...claims, [claim]: undefined }),
        ),
    ]),
    [
      'another authmethod',
      () =>
        forge(
          (header) => header,
          es256(own()),
          (claims) => ({ ...claims, authmethod: 'password' }),
        ),
    ],
    [
      'an endless life',
      () =>
        forge(
          (header) => header,
          es256(own()),
          (claims) => ({ ...claims, expires_at: '9999999999' }),
        ),
    ],
    [
      'another realm in scope',
      () =>
        forge(
          (header) => header,
          es256(own()),
          (claims) => ({ ...claims, scope: { realm: 'x', client_id: 'all', device_id: 'all' } }),
        ),
    ],
    [
      'roles no list',
      () =>
        forge(
          (header) => header,
          es256(own()),
          (claims) => ({ ...claims, authroles: 'staff' }),
        ),
    ],
    [
      'roles no texts',
      () =>
        forge(
          (header) => header,
          es256(own()),
          (claims) => ({ ...claims, authroles: [1] }),
        ),
    ],
    ['an encrypted one', () => 'eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..aaaa.bbbb.cccc'],
  ])('refuses %s', async (_, make) => {
    expect(await home.tickets.verifyTicket(REALM, await make())).toBeUndefined()
  })

  it('takes what it refuses for one reason only when that is mended', async () => {
    const mended = forge((header) => header, es256(own()))
    expect(await home.tickets.verifyTicket(REALM, mended)).toMatchObject({ authid: 'alice' })
  })

  it('refuses a ticket of another realm, also one with the same keys', async () => {
    expect(await home.tickets.verifyTicket('com.example.other', genuine)).toBeUndefined()
    expect(await home.tickets.verifyTicket('com.example.gone', genuine)).toBeUndefined()
    const signingKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
      format: 'pem',
      type: 'pkcs8',
    }) as string
    const shared = securityHome({
      realms: [REALM, 'com.example.other'].map((uri) => ({ uri, signing_keys: [signingKey] })),
    })
    const { jwt } = await shared.tickets.issueTicket(ticketOrder())
    expect(await shared.tickets.verifyTicket(REALM, jwt)).toBeDefined()
    expect(await shared.tickets.verifyTicket('com.example.other', jwt)).toBeUndefined()
  })

  it('refuses from the very second of expires_at, whatever exp says; logging out may ask nevertheless', async () => {
    const expiresAt = Math.floor(home.clock.now() / 1000) + 100
    const claims = { ...decodeJwt(genuine), expires_at: expiresAt, exp: expiresAt + 1000 }
    const key = home.keys.signingKey(REALM)
    const jwt = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'ES256', kid: key.kid, typ: 'svc-ticket+jwt' })
      .sign(key.privateKey)
    const before = home.clock
    try {
      home.clock = createManualClock({ startMs: expiresAt * 1000 - 1 })
      expect(await home.tickets.verifyTicket(REALM, jwt)).toBeDefined()
      home.clock.advance(1)
      expect(await home.tickets.verifyTicket(REALM, jwt)).toBeUndefined()
      expect(await home.tickets.verifyTicket(REALM, jwt, { ignoreExpiry: false })).toBeUndefined()
      expect(await home.tickets.verifyTicket(REALM, jwt, { ignoreExpiry: true })).toBeDefined()
      expect(
        await home.tickets.verifyTicket('com.example.other', jwt, { ignoreExpiry: true }),
      ).toBeUndefined()
    } finally {
      home.clock = before
    }
  })

  it('refuses whatever is changed in a token', async () => {
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.'
    const [, , signature] = parts(genuine)
    // The last letter of a signature holds four bits that are not read: other spellings of the same token.
    const last = genuine.length - 1
    expect(signature).toHaveLength(86)
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: last - 1 }),
        fc.constantFrom(...letters.split('')),
        async (at, letter) => {
          fc.pre(genuine[at] !== letter)
          const changed = genuine.slice(0, at) + letter + genuine.slice(at + 1)
          expect(await home.tickets.verifyTicket(REALM, changed)).toBeUndefined()
        },
      ),
      { numRuns: 300 },
    )
  })

  it('never throws at what is no token', async () => {
    await fc.assert(
      fc.asyncProperty(anyText(), async (text) => {
        expect(await home.tickets.verifyTicket(REALM, text)).toBeUndefined()
        expect(await home.tickets.verifyTicket(text, genuine)).toBeUndefined()
      }),
    )
  })
})

describe('ticketRevocationKeys', () => {
  it('are its id, and what its provider may end', async () => {
    const claims = await home.tickets.verifyTicket(REALM, genuine)
    if (claims === undefined) throw new Error('not genuine')
    expect(ticketRevocationKeys(claims)).toEqual([`ticket:${claims.id}`])
    const keys = ticketRevocationKeys({ ...claims, oidc_sid: 's', oidc_sub: 'u' })
    expect(keys.map((key) => key.split(':')[0])).toEqual([
      'ticket',
      'oidc-sid',
      ...Array.from({ length: 12 }, () => 'oidc-sub'),
    ])
  })
})
