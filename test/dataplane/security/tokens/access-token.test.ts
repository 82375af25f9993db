import { beforeAll, describe, expect, it } from '@jest/globals'
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose'
import { accessTokenRevocationKeys } from '../../../../dataplane/security/tokens/access-token.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { REALM, type SecurityHome, securityHome, ticketOrder } from '../security-home.ts'

const DRAFT = {
  realmUri: REALM,
  sub: 'alice',
  clientId: 'app',
  scopes: ['staff', 'read'],
  groups: ['staff'],
}

let home: SecurityHome

beforeAll(() => {
  home = securityHome({ realms: [{ uri: REALM }, { uri: 'com.example.other' }] })
})

describe('access tokens', () => {
  it('say who may do what, for 900 seconds', async () => {
    const { jwt, jti, expiresIn } = await home.accessTokens.issue({ ...DRAFT, family: 'f-1' })
    const iat = Math.floor(home.clock.now() / 1000)
    expect(expiresIn).toBe(900)
    expect(decodeProtectedHeader(jwt)).toEqual({
      alg: 'ES256',
      typ: 'at+jwt',
      kid: home.keys.signingKey(REALM).kid,
    })
    const claims = {
      iss: REALM,
      aud: REALM,
      sub: 'alice',
      client_id: 'app',
      scope: 'staff read',
      groups: ['staff'],
      jti,
      iat,
      exp: iat + 900,
      family: 'f-1',
    }
    expect(decodeJwt(jwt)).toEqual(claims)
    const verified = await home.accessTokens.verify(REALM, jwt)
    expect(verified).toEqual(claims)
    expect(accessTokenRevocationKeys(claims)).toEqual([`token:${jti}`, 'family:f-1'])
  })

  it('without a family are revoked by themselves alone', async () => {
    const { claims } = await home.accessTokens.issue(DRAFT)
    expect(accessTokenRevocationKeys(claims)).toEqual([`token:${claims.jti}`])
  })

  it('end', async () => {
    const { jwt, claims } = await home.accessTokens.issue(DRAFT)
    const before = home.clock
    home.clock = createManualClock({ startMs: claims.exp * 1000 - 1 })
    expect(await home.accessTokens.verify(REALM, jwt)).toBeDefined()
    home.clock.advance(1)
    expect(await home.accessTokens.verify(REALM, jwt)).toBeUndefined()
    home.clock = before
  })

  it('are no tickets, and tickets are none', async () => {
    const token = (await home.accessTokens.issue(DRAFT)).jwt
    const ticket = (await home.tickets.issueTicket(ticketOrder())).jwt
    expect(await home.tickets.verifyTicket(REALM, token)).toBeUndefined()
    expect(await home.accessTokens.verify(REALM, ticket)).toBeUndefined()
    expect(await home.accessTokens.verify('com.example.other', token)).toBeUndefined()
  })

  it.each([
    ['another issuer', { iss: 'com.example.other' }],
    ['another audience', { aud: 'com.example.other' }],
    ['several audiences', { aud: [REALM, 'x'] }],
    ['no subject', { sub: '' }],
    ['no id', { jti: undefined }],
    ['no end', { exp: undefined }],
    ['an end that is no number', { exp: '9999999999' }],
    ['groups that are no list', { groups: 'staff' }],
    ['groups that are no texts', { groups: [1] }],
    ['scopes that are no text', { scope: ['staff'] }],
    ['a family that is no text', { family: 1 }],
  ])('with %s count for nothing', async (_, change) => {
    const { claims } = await home.accessTokens.issue(DRAFT)
    const key = home.keys.signingKey(REALM)
    const sign = (more: object): Promise<string> =>
      new SignJWT({ ...claims, ...more })
        .setProtectedHeader({ alg: 'ES256', kid: key.kid, typ: 'at+jwt' })
        .sign(key.privateKey)
    expect(await home.accessTokens.verify(REALM, await sign({}))).toBeDefined()
    expect(await home.accessTokens.verify(REALM, await sign(change))).toBeUndefined()
  })
})
