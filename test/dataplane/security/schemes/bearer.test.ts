import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { createHmac, generateKeyPairSync, type KeyObject, sign as rawSign } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import fc from 'fast-check'
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose'
import { accessTokenKey, familyKey } from '../../../../dataplane/security/tokens/revocation-keys.ts'
import type { RealmRecord, TrustedIssuerRecord } from '../../../../language/realm/record.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import {
  callerOf,
  headersOf,
  REALM,
  type SecurityHome,
  securityHome,
  statusOf,
  ticketOrder,
} from '../security-home.ts'
import { AUDIENCE, startTestIssuer, type TestIssuer } from '../test-issuer.ts'

const OAUTH2 = {
  type: 'oauth2',
  flow: 'client_credentials',
  tokenPath: '/oauth/token',
  revokeTokenPath: '/oauth/revoke',
} as const

const USERS = [
  { username: 'alice', groups: ['staff', 'admins'], meta: { locale: 'es' } },
  { username: 'app', groups: ['api_clients'] },
]
const DRAFT = {
  realmUri: REALM,
  sub: 'alice',
  clientId: 'app',
  scopes: ['staff', 'former'],
  groups: ['staff', 'former'],
}

let home: SecurityHome
let issuer: TestIssuer
let issuerKey: KeyObject

beforeEach(async () => {
  issuer = await startTestIssuer()
  issuerKey = issuer.addKey('ES256')
  home = securityHome({ realms: [record()] })
})

afterEach(async () => {
  await issuer[Symbol.asyncDispose]()
})

const trusted = (more: Partial<TrustedIssuerRecord> = {}): TrustedIssuerRecord => ({
  issuer: issuer.issuer,
  jwks_uri: issuer.jwksUri,
  audience: AUDIENCE,
  ...more,
})

const record = (more: Partial<RealmRecord> = {}): RealmRecord => ({
  uri: REALM,
  users: USERS,
  trusted_issuers: [trusted()],
  ...more,
})

const ask = (token: string, scheme = 'Bearer') =>
  home.call(OAUTH2, [['Authorization', `${scheme} ${token}`]])

describe('presenting a token', () => {
  it.each<[string, readonly (readonly [string, string])[], boolean]>([
    ['no header', [], false],
    ['Basic credentials', [['Authorization', 'Basic YWxpY2U6eA==']], false],
    ['a scheme alone', [['Authorization', 'Bearer']], true],
    ['text', [['Authorization', 'Bearer garbage']], true],
    [
      'an unsigned token',
      [
        [
          'Authorization',
          'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSIsImV4cCI6OTk5OTk5OTk5OX0.',
        ],
      ],
      true,
    ],
    ['two parts of text', [['Authorization', 'Bearer a.b c.d']], true],
    ['200 kB', [['Authorization', `Bearer ${'a'.repeat(200_000)}`]], true],
    ['a cookie', [['Cookie', 'access_token=a.b.c']], false],
  ])('%s', async (_, headers, isToken) => {
    const verdict = await home.call(OAUTH2, headers)
    expect(statusOf(verdict)).toBe(401)
    const challenge = headersOf(verdict)['www-authenticate'] ?? ''
    expect(challenge.startsWith(`Bearer realm="${REALM}"`)).toBe(true)
    expect(challenge.includes('error="invalid_token"')).toBe(isToken)
    expect(home.audited).toHaveLength(isToken ? 1 : 0)
  })

  it('the scheme in any case', async () => {
    const { jwt } = await home.accessTokens.issue(DRAFT)
    for (const scheme of ['Bearer', 'bearer', 'BEARER'])
      expect(statusOf(await ask(jwt, scheme))).toBe(200)
  })
})

describe('a token of the token endpoint', () => {
  it('stands for its user, with those groups that both have', async () => {
    const { jwt, jti } = await home.accessTokens.issue(DRAFT)
    for (let round = 0; round < 2; round++)
      expect(await ask(jwt)).toMatchObject({
        kind: 'identity',
        identity: {
          type: 'oauth2',
          realm_uri: REALM,
          authid: 'alice',
          username: 'alice',
          authmethod: 'oauth2',
          authroles: ['staff'],
          groups: ['staff'],
          client_id: 'app',
          session: jti,
          scope: ['staff'],
          locale: 'es',
          meta: { locale: 'es' },
        },
      })
    expect(issuer.asked).toBe(0)
  })

  it('may have no scopes', async () => {
    const { jwt } = await home.accessTokens.issue({ ...DRAFT, scopes: [] })
    expect(await ask(jwt)).toMatchObject({ identity: { scope: [] } })
  })

  it.each<[string, (id: { jti: string }) => unknown, number]>([
    ['nothing happened', () => undefined, 200],
    ['it was revoked', ({ jti }) => home.shared.revoke(accessTokenKey(jti), 9_999_999_999), 401],
    ['its family was revoked', () => home.shared.revoke(familyKey('f'), 9_999_999_999), 401],
    ['another was revoked', () => home.shared.revoke(accessTokenKey('x'), 9_999_999_999), 200],
    ['its user is gone', () => home.realms.set(REALM, record({ users: [] })), 401],
    ['its realm is gone', () => home.realms.delete(REALM), 401],
    [
      '900 seconds have gone',
      () => {
        home.clock.advance(900_000)
      },
      401,
    ],
    ['revocations may be missed', () => (home.health = 'away'), 503],
  ])('after use, when %s', async (_, happens, status) => {
    const { jwt, jti } = await home.accessTokens.issue({ ...DRAFT, family: 'f' })
    expect(statusOf(await ask(jwt))).toBe(200)
    await happens({ jti })
    expect(statusOf(await ask(jwt))).toBe(status)
    expect(statusOf(await ask(jwt))).toBe(status)
  })

  it('loses a group with its user, and the scope that names it', async () => {
    const { jwt } = await home.accessTokens.issue(DRAFT)
    const demand = { ...OAUTH2, scopes: ['staff'] }
    const headers = [['authorization', `Bearer ${jwt}`]] as const
    expect(statusOf(await home.call(demand, headers))).toBe(200)
    home.realms.set(REALM, record({ users: [{ username: 'alice', groups: ['admins', 'former'] }] }))
    expect(await ask(jwt)).toMatchObject({ identity: { groups: ['former'], scope: ['former'] } })
    expect(statusOf(await home.call(demand, headers))).toBe(403)
  })

  it('of a user who is gone is reported as such', async () => {
    const { jwt } = await home.accessTokens.issue({ ...DRAFT, sub: 'constructor' })
    expect(statusOf(await ask(jwt))).toBe(401)
    expect(home.audited).toMatchObject([{ reason: 'unknown_user' }])
  })

  it('is known at once the second time', async () => {
    const { jwt } = await home.accessTokens.issue(DRAFT)
    const again = () =>
      home.authenticate(OAUTH2, REALM, callerOf([['authorization', `Bearer ${jwt}`]]))
    expect(again()).toBeInstanceOf(Promise)
    await again()
    expect(again()).toMatchObject({ kind: 'identity' })
  })

  it('is none of another realm, and no ticket is one', async () => {
    home.realms.set('com.example.other', record({ uri: 'com.example.other' }))
    const { jwt } = await home.accessTokens.issue({ ...DRAFT, realmUri: 'com.example.other' })
    expect(statusOf(await ask(jwt))).toBe(401)
    expect(statusOf(await ask((await home.tickets.issueTicket(ticketOrder())).jwt))).toBe(401)
  })
})

describe('a token of a trusted issuer', () => {
  it.each<[object, object]>([
    [{}, { scope: [], groups: [], authroles: [], client_id: '', session: '', locale: '' }],
    [
      {
        scope: 'read  write',
        groups: ['g', 1, null],
        roles: ['r'],
        client_id: 'c',
        jti: 'j',
        locale: 'fr',
      },
      {
        scope: ['read', 'write'],
        groups: ['g'],
        authroles: ['r'],
        client_id: 'c',
        session: 'j',
        locale: 'fr',
      },
    ],
    [
      { scope: ['read', 'write'], azp: 'z' },
      { scope: ['read', 'write'], client_id: 'z' },
    ],
    [
      { scp: 'User.Read', roles: 'one', groups: 'a b' },
      { scope: ['User.Read'], authroles: ['one'], groups: ['a b'] },
    ],
    [{ scope: '', scp: 'x' }, { scope: [] }],
    [
      { groups: { 0: 'root' }, roles: true, scope: 7, client_id: 7 },
      { groups: [], authroles: [], scope: [], client_id: '' },
    ],
    [{ aud: ['https://other.example', AUDIENCE] }, {}],
    [{ sub: '__proto__' }, { authid: '__proto__', username: '__proto__' }],
    [{ sub: 'alice' }, { authid: 'alice', groups: [], meta: {} }],
    [{ iat: undefined }, {}],
    [{ nbf: Math.floor(Date.now() / 1000) - 10 }, {}],
  ])('%j', async (claims, expected) => {
    const token = await issuer.sign(claims)
    for (let round = 0; round < 2; round++)
      expect(await ask(token)).toMatchObject({
        kind: 'identity',
        identity: { type: 'oauth2', authmethod: 'oauth2', authid: 'carol', ...expected },
      })
    expect(issuer.asked).toBe(1)
  })

  const soon = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds

  it.each<[string, () => object, object, string, string | undefined]>([
    ['another issuer', () => ({ iss: 'https://evil.example/' }), {}, 'issuer', 'iss'],
    ['an issuer without the slash', () => ({ iss: 'x' }), {}, 'issuer', 'iss'],
    ['no issuer', () => ({ iss: undefined }), {}, 'issuer', 'iss'],
    ['an issuer of a reserved name', () => ({ iss: '__proto__' }), {}, 'issuer', 'iss'],
    ['another audience', () => ({ aud: 'https://other.example' }), {}, 'audience', 'aud'],
    ['no audience', () => ({ aud: undefined }), {}, 'audience', 'aud'],
    ['a longer audience', () => ({ aud: `${AUDIENCE}/x` }), {}, 'audience', 'aud'],
    ['no subject', () => ({ sub: undefined }), {}, 'no_subject', 'sub'],
    ['an empty subject', () => ({ sub: '' }), {}, 'no_subject', 'sub'],
    ['a subject that is no text', () => ({ sub: 7 }), {}, 'no_subject', 'sub'],
    ['a subject of 2 kB', () => ({ sub: 'x'.repeat(2000) }), {}, 'no_subject', 'sub'],
    ['a line break in the subject', () => ({ sub: 'a\r\nb' }), {}, 'no_subject', 'sub'],
    ['no end', () => ({ exp: undefined }), {}, 'expired', 'exp'],
    ['an end that is no number', () => ({ exp: 'tomorrow' }), {}, 'expired', 'exp'],
    ['an end', () => ({ exp: soon(-31) }), {}, 'expired', 'exp'],
    ['a beginning in the future', () => ({ nbf: soon(60) }), {}, 'not_yet_valid', 'nbf'],
    ['an issue in the future', () => ({ iat: soon(120) }), {}, 'not_yet_valid', 'iat'],
    ['an at_hash: an ID token', () => ({ at_hash: 'x' }), {}, 'type', 'at_hash'],
    ['a nonce: an ID token', () => ({ nonce: 'x' }), {}, 'type', 'nonce'],
    ['more than 8 KiB', () => ({ note: 'a'.repeat(6144) }), {}, 'size', undefined],
    ['a c_hash: another one', () => ({ c_hash: 'x' }), {}, 'type', 'c_hash'],
    ['events: a logout token', () => ({ events: {} }), {}, 'type', 'events'],
    ['a key of its holder', () => ({ cnf: { jkt: 'x' } }), {}, 'type', 'cnf'],
    ['the type of an ID token that says so', () => ({}), { typ: 'id+jwt' }, 'type', 'typ'],
    ['the type of a logout token', () => ({}), { typ: 'logout+jwt' }, 'type', 'typ'],
    ['the type of a ticket', () => ({}), { typ: 'svc-ticket+jwt' }, 'type', 'typ'],
    ['the type of a DPoP proof', () => ({}), { typ: 'dpop+jwt' }, 'type', 'typ'],
    ['a kid that is not published', () => ({}), { kid: 'key-99' }, 'unknown_key', 'kid'],
    ['a kid of a reserved name', () => ({}), { kid: '__proto__' }, 'unknown_key', 'kid'],
  ])('is refused for %s', async (...[, claims, header, reason, claim]) => {
    const verdict = await ask(await issuer.sign(claims(), header))
    expect(statusOf(verdict)).toBe(401)
    expect(headersOf(verdict)['www-authenticate']).toBe(
      `Bearer realm="${REALM}", error="invalid_token", error_description="The token is wrong, has expired or was revoked"`,
    )
    expect(home.audited).toMatchObject([{ reason, scheme: 'oauth2' }])
    expect(home.audited[0]?.claim).toBe(claim)
  })

  it.each<[string, () => Promise<string>, object]>([
    ['an audience', () => issuer.sign({ aud: 'x' }), { reason: 'audience', expected: AUDIENCE }],
    [
      'an issuer',
      () => issuer.sign({ iss: 'https://evil.example/' }),
      { reason: 'issuer', expected: expect.stringContaining(REALM) as unknown },
    ],
    [
      'a key',
      () => issuer.sign({}, { kid: 'x' }),
      { reason: 'unknown_key', expected: expect.stringContaining('/jwks') as unknown },
    ],
    [
      'a signature',
      async () => `${(await issuer.sign()).slice(0, -8)}AAAAAAAA`,
      { reason: 'signature' },
    ],
    [
      'a token of the gateway that has another key',
      () => issuer.sign({ iss: REALM }),
      { reason: 'unknown_key', claim: 'kid', expected: 'a key of the realm' },
    ],
    ['claims that are none', () => Promise.resolve('e30.bnVsbA.AAAA'), { reason: 'malformed' }],
    ['a text', () => Promise.resolve('text'), { reason: 'malformed', expected: 'a signed JWT' }],
  ])('tells in the audit log what was expected of %s', async (_, make, event) => {
    await ask(await make())
    expect(home.audited).toMatchObject([event])
  })

  it('tells of two entries of one issuer what the one says whose key has signed', async () => {
    const wrong = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey
    const entries = [trusted({ audience: 'y' }), trusted({ jwks_uri: `${issuer.jwksUri}?other` })]
    const { keys } = issuer
    let asked = 0
    issuer.answer = (response) => {
      const other = { ...wrong.export({ format: 'jwk' }), kid: 'key-1' }
      response.end(JSON.stringify({ keys: asked++ === 0 ? keys : [other] }))
    }
    home.realms.set(REALM, record({ trusted_issuers: entries }))
    await ask(await issuer.sign({ aud: 'x' }))
    expect(home.audited).toMatchObject([{ reason: 'audience', claim: 'aud', expected: 'y' }])
  })

  it('cuts and escapes what it tells', async () => {
    const audience = `\u202e${'a'.repeat(400)}`
    home.realms.set(REALM, record({ trusted_issuers: [trusted({ audience })] }))
    await ask(await issuer.sign({ aud: 'x' }))
    expect(home.audited[0]?.expected).toBe(`\\u202e${'a'.repeat(199)}`)
  })

  it.each([['JWT'], ['at+JWT'], ['application/at+jwt'], [undefined]])(
    'may be of type %s',
    async (typ) => {
      expect(statusOf(await ask(await issuer.sign({}, { typ })))).toBe(200)
    },
  )

  it.each<[string, string | undefined, number]>([
    ['at+jwt', 'at+jwt', 200],
    ['at+jwt', 'AT+JWT', 200],
    ['at+jwt', 'application/at+jwt', 200],
    ['application/at+jwt', 'at+jwt', 200],
    ['at+jwt', 'JWT', 401],
    ['at+jwt', undefined, 401],
    ['at+jwt', '', 401],
    ['at+jwt', 'at+jwt ', 401],
    ['at+jwt', 'xat+jwt', 401],
    ['JWT', 'JWT', 200],
    ['JWT', 'at+jwt', 401],
    ['JWT', undefined, 401],
    ['acme-access+jwt', 'acme-access+jwt', 200],
    ['acme-access+jwt', 'at+jwt', 401],
  ])('where its issuer must say %s, may say %s: %d', async (required, typ, status) => {
    home.realms.set(REALM, record({ trusted_issuers: [trusted({ require_typ: required })] }))
    expect(statusOf(await ask(await issuer.sign({}, { typ })))).toBe(status)
  })

  it.each([
    ['exp', () => ({ exp: soon(-20) })],
    ['nbf', () => ({ nbf: soon(20) })],
    ['iat', () => ({ iat: soon(45) })],
  ])('may differ a little in time: %s', async (_, claims) => {
    expect(statusOf(await ask(await issuer.sign(claims())))).toBe(200)
  })

  it.each([['RS256'], ['PS512'], ['ES256'], ['ES384'], ['ES512'], ['EdDSA'], ['Ed25519']])(
    'may be signed %s',
    async (alg) => {
      issuer.addKey(alg)
      expect(statusOf(await ask(await issuer.sign()))).toBe(200)
    },
  )

  it('is signed as the realm says', async () => {
    home.realms.set(REALM, record({ trusted_issuers: [trusted({ algorithms: ['RS256'] })] }))
    expect(statusOf(await ask(await issuer.sign()))).toBe(401)
    issuer.addKey('RS256')
    home.clock.advance(10_000)
    expect(statusOf(await ask(await issuer.sign()))).toBe(200)
  })

  describe('under attack', () => {
    const base64 = (value: unknown): string =>
      Buffer.from(JSON.stringify(value)).toString('base64url')
    const handmade = async (header: object, sign: (input: string) => Buffer): Promise<string> => {
      const genuine = await issuer.sign({ sub: 'root' })
      const merged = { ...decodeProtectedHeader(genuine), ...header }
      const input = `${base64(merged)}.${base64(decodeJwt(genuine))}`
      return `${input}.${sign(input).toString('base64url')}`
    }
    const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const signedWith = (key: KeyObject) => (input: string) =>
      rawSign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' })
    const byStranger = signedWith(stranger.privateKey)
    const byIssuer = (input: string): Buffer => signedWith(issuerKey)(input)
    const hmac = (key: string) => (input: string) =>
      createHmac('sha256', key).update(input).digest()

    it('but what is so made of the key of the issuer counts', async () => {
      expect(statusOf(await ask(await handmade({}, byIssuer)))).toBe(200)
    })

    it.each<[string, () => Promise<string>]>([
      ['alg none', () => handmade({ alg: 'none' }, () => Buffer.alloc(0))],
      ['alg nOnE', () => handmade({ alg: 'nOnE' }, () => Buffer.alloc(0))],
      ['another key', () => handmade({}, byStranger)],
      ['jwk', () => handmade({ jwk: stranger.publicKey.export({ format: 'jwk' }) }, byStranger)],
      ['jku', () => handmade({ jku: issuer.jwksUri }, byStranger)],
      ['x5u', () => handmade({ x5u: issuer.jwksUri }, byStranger)],
      ['no kid', () => handmade({ kid: undefined }, byStranger)],
      [
        'HS256 with the published key',
        () => handmade({ alg: 'HS256' }, hmac(JSON.stringify(issuer.keys[0]))),
      ],
      ['HS256 with an empty key', () => handmade({ alg: 'HS256' }, hmac(''))],
      ['a critical extension', () => handmade({ crit: ['x'], x: 1 }, byIssuer)],
      ['a payload that is not encoded', () => handmade({ crit: ['b64'], b64: false }, byIssuer)],
      ['the name of another algorithm', () => handmade({ alg: 'ES384' }, byIssuer)],
      ['a key id that is a path', () => handmade({ kid: '../../../../dev/null' }, byIssuer)],
    ])('%s', async (_, make) => {
      expect(statusOf(await ask(await make()))).toBe(401)
    })

    it('a shared secret that the issuer published by mistake is no key', async () => {
      const k = Buffer.from('known to everybody, and long enough')
      issuer.keys = [{ kty: 'oct', kid: 'hs', k: k.toString('base64url') }]
      // No schema lets this pass.
      const algorithms = ['HS256', 'RS256'] as unknown as TrustedIssuerRecord['algorithms'] & object
      home.realms.set(REALM, record({ trusted_issuers: [trusted({ algorithms })] }))
      const token = await new SignJWT({
        iss: issuer.issuer,
        aud: AUDIENCE,
        sub: 'root',
        exp: soon(60),
      })
        .setProtectedHeader({ alg: 'HS256', kid: 'hs' })
        .sign(k)
      expect(statusOf(await ask(token))).toBe(401)
    })

    it('an RSA key that is too short is no key', async () => {
      const short = generateKeyPairSync('rsa', { modulusLength: 1024 })
      issuer.keys = [{ ...short.publicKey.export({ format: 'jwk' }), kid: 'short', alg: 'RS256' }]
      const claims = { iss: issuer.issuer, aud: AUDIENCE, sub: 'root', exp: soon(60) }
      const input = `${base64({ alg: 'RS256', kid: 'short' })}.${base64(claims)}`
      const signature = rawSign('sha256', Buffer.from(input), short.privateKey)
      expect(statusOf(await ask(`${input}.${signature.toString('base64url')}`))).toBe(401)
    })

    it('a token for encryption or of another use', async () => {
      issuer.addKey('ES256', { use: 'enc' })
      expect(statusOf(await ask(await issuer.sign()))).toBe(401)
    })

    it('whatever is changed in a token', async () => {
      const genuine = await issuer.sign()
      expect(statusOf(await ask(genuine))).toBe(200)
      const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_. '.split('')
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 0, max: genuine.length - 2 }),
          fc.constantFrom(...letters),
          async (at, letter) => {
            fc.pre(genuine[at] !== letter)
            const changed = genuine.slice(0, at) + letter + genuine.slice(at + 1)
            expect(statusOf(await ask(changed))).toBe(401)
          },
        ),
        { numRuns: 200 },
      )
    })
  })

  it('is none of ours, and ours is none of its', async () => {
    const own = home.keys.signingKey(REALM)
    const claims = {
      iss: REALM,
      aud: REALM,
      sub: 'alice',
      client_id: 'app',
      scope: '',
      groups: ['staff'],
      jti: 'j',
      iat: soon(0),
      exp: soon(60),
    }
    const key = issuer.addKey('ES256', { kid: own.kid })
    const token = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: own.kid })
      .sign(key)
    expect(statusOf(await ask(token))).toBe(401)
  })

  it('counts while revocations may be missed: it can not be revoked here', async () => {
    home.health = 'away'
    const token = await issuer.sign()
    for (let round = 0; round < 2; round++) expect(statusOf(await ask(token))).toBe(200)
  })

  it('may be for one of two audiences that the realm has', async () => {
    const two = [trusted({ audience: 'https://first.example' }), trusted()]
    home.realms.set(REALM, record({ trusted_issuers: two }))
    expect(statusOf(await ask(await issuer.sign()))).toBe(200)
  })

  it('counts no more when the realm does not trust its issuer any more', async () => {
    const token = await issuer.sign()
    expect(statusOf(await ask(token))).toBe(200)
    home.realms.set(REALM, record({ trusted_issuers: [] }))
    expect(statusOf(await ask(token))).toBe(401)
  })
})

describe('a flow that the gateway does not serve', () => {
  const demands = (['authorization_code', 'implicit'] as const).map((flow) => ({ ...OAUTH2, flow }))

  it.each(demands)('$flow takes tokens of trusted issuers alone', async (demand) => {
    const own = [['authorization', `Bearer ${(await home.accessTokens.issue(DRAFT)).jwt}`]] as const
    const theirs = [['authorization', `Bearer ${await issuer.sign()}`]] as const
    for (let round = 0; round < 2; round++) {
      expect(statusOf(await home.call(demand, theirs))).toBe(200)
      expect(statusOf(await home.call(OAUTH2, theirs))).toBe(200)
      // What the connection, or the process, has just let in elsewhere.
      expect(statusOf(await home.call(OAUTH2, own))).toBe(200)
      const verdict = await home.call(demand, own)
      expect(statusOf(verdict)).toBe(401)
      expect(headersOf(verdict)['www-authenticate']).toContain('error="invalid_token"')
    }
    expect(home.audited[0]).toMatchObject({ reason: 'issuer', claim: 'iss', authid: 'alice' })
    home.realms.set(REALM, record({ trusted_issuers: [] }))
    for (const headers of [own, theirs])
      expect(statusOf(await home.call(demand, headers))).toBe(401)
  })
})

describe('keys of an issuer', () => {
  it('are fetched again for a key that is not known, at most every 10 s', async () => {
    expect(statusOf(await ask(await issuer.sign()))).toBe(200)
    issuer.addKey('RS256')
    const rotated = await issuer.sign()
    expect(statusOf(await ask(rotated))).toBe(401)
    expect(issuer.asked).toBe(1)
    home.clock.advance(10_000)
    expect(statusOf(await ask(rotated))).toBe(200)
    expect(issuer.asked).toBe(2)
    for (let time = 0; time < 20; time++)
      expect(statusOf(await ask(await issuer.sign({}, { kid: `made-up-${time}` })))).toBe(401)
    expect(issuer.asked).toBe(2)
  })

  it('are fetched again at once when the clock was set back', async () => {
    const before = home.clock
    home.clock = createManualClock({ startMs: before.now() + 3_600_000 })
    issuer.answer = (response) => response.writeHead(503).end()
    expect(statusOf(await ask(await issuer.sign()))).toBe(503)
    issuer.answer = undefined
    home.clock = before
    expect(statusOf(await ask(await issuer.sign()))).toBe(200)
  })

  it('that are withdrawn verify nothing after ten minutes, known token or not', async () => {
    const token = await issuer.sign()
    expect(statusOf(await ask(token))).toBe(200)
    issuer.keys = []
    issuer.addKey('ES256', { kid: 'fresh' })
    home.clock.advance(600_000)
    expect(statusOf(await ask(token))).toBe(401)
  })

  it('are used on while the issuer is away, for a day', async () => {
    const hour = 3_600_000
    const token = await issuer.sign({ exp: Math.floor(Date.now() / 1000) + 200_000 })
    expect(statusOf(await ask(token))).toBe(200)
    issuer.answer = (response) => response.writeHead(503).end()
    home.clock.advance(hour)
    expect(statusOf(await ask(token))).toBe(200)
    home.clock.advance(22.9 * hour)
    expect(statusOf(await ask(token))).toBe(200)
    home.clock.advance(0.1 * hour)
    expect(statusOf(await ask(token))).toBe(503)
    issuer.answer = undefined
    home.clock.advance(5000)
    expect(statusOf(await ask(token))).toBe(200)
  })

  it.each<[string, (response: ServerResponse) => unknown]>([
    ['an error', (response) => response.writeHead(500).end()],
    ['a redirect', (response) => response.writeHead(302, { location: '/jwks' }).end()],
    ['no JSON', (response) => response.end('<html>')],
    ['no key set', (response) => response.end('[]')],
    ['null', (response) => response.end('null')],
    ['keys that are no list', (response) => response.end('{"keys": {}}')],
    [
      'too many keys',
      (response) => response.end(JSON.stringify({ keys: Array(201).fill({ kty: 'EC' }) })),
    ],
    ['too much', (response) => response.end(`{"keys": [], "x": "${'x'.repeat(1 << 21)}"}`)],
    ['a hang-up', (response) => response.destroy()],
  ])('can not be had: %s', async (_, response) => {
    issuer.answer = response
    const token = await issuer.sign()
    const verdict = await ask(token)
    expect([statusOf(verdict), headersOf(verdict)]).toEqual([503, { 'retry-after': '5' }])
    expect(home.audited).toMatchObject([{ reason: 'issuer_unavailable' }])
    const asked = issuer.asked
    expect(statusOf(await ask(token))).toBe(503)
    expect(issuer.asked).toBe(asked)
    issuer.answer = undefined
    home.clock.advance(5000)
    expect(statusOf(await ask(token))).toBe(200)
  })

  it('of odd shape do not hide the good ones', async () => {
    issuer.keys = [
      null as never,
      7 as never,
      { kty: 'XX' },
      { kty: 7 },
      { kid: 'key-1' },
      ...issuer.keys,
    ]
    expect(statusOf(await ask(await issuer.sign()))).toBe(200)
  })

  it('are requested once by many', async () => {
    const tokens = await Promise.all(
      Array.from({ length: 20 }, (_, n) => issuer.sign({ jti: String(n) })),
    )
    const verdicts = await Promise.all(tokens.map((token) => ask(token)))
    expect(verdicts.map(statusOf)).toEqual(Array(20).fill(200))
    expect(issuer.asked).toBe(1)
  })

  it('are never requested an issuer that the realm does not trust', async () => {
    await ask(await issuer.sign({ iss: 'https://evil.example/' }))
    expect(issuer.asked).toBe(0)
  })
})
