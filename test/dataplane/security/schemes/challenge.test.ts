import { describe, expect, it } from '@jest/globals'
import {
  forbidden,
  rejected,
  tooManyFailures,
  unauthorized,
  uncheckable,
  withChallenges,
} from '../../../../dataplane/security/schemes/challenge.ts'
import { GatewayError } from '../../../../dataplane/gateway-error.ts'
import type { SchemeName } from '../../../../language/compile/security.ts'

const SCHEMES: readonly (readonly [SchemeName, string, boolean])[] = [
  ['basic', 'Basic realm="a.b", charset="UTF-8"', false],
  ['api_key', 'ApiKey realm="a.b"', false],
  ['oauth2', 'Bearer realm="a.b"', true],
  ['oidc', 'Bearer realm="a.b"', true],
]

describe('challenges', () => {
  it.each(SCHEMES)('of %s', (scheme, challenge, takesTokens) => {
    const missing = unauthorized(scheme, 'a.b')
    expect([missing.code, missing.headers]).toEqual([
      'svc.error.unauthorized',
      { 'www-authenticate': challenge },
    ])
    const wrong = rejected(scheme, 'a.b')
    expect(wrong.code).toBe('svc.error.unauthorized')
    const shown = String(wrong.headers['www-authenticate'])
    expect(shown.startsWith(challenge)).toBe(true)
    expect(shown.includes(', error="invalid_token", error_description="')).toBe(takesTokens)
  })

  it.each([
    ['com.acme', 'com.acme'],
    ['a"b\\c', 'a%22b%5Cc'],
    ['a\r\nb', 'a%0D%0Ab'],
    ['é', '%C3%A9'],
    ['\ud800', '%EF%BF%BD'],
    ['', ''],
  ])('the realm %j is %j', (realm, shown) => {
    expect(unauthorized('api_key', realm).headers['www-authenticate']).toBe(
      `ApiKey realm="${shown}"`,
    )
  })
})

describe('other refusals', () => {
  it.each<[SchemeName, readonly string[] | undefined, string | undefined]>([
    ['oauth2', ['read', 'write'], 'error="insufficient_scope", scope="read write"'],
    ['oauth2', ['re"ad\r\n'], 'scope="re%22ad%0D%0A"'],
    ['oauth2', undefined, undefined],
    ['oidc', ['read'], undefined],
    ['basic', ['read'], undefined],
  ])('%s that lacks %j', (scheme, scopes, shown) => {
    const { code, headers } = forbidden(scheme, 'a.b', scopes)
    expect(code).toBe('svc.error.forbidden')
    expect(headers['www-authenticate']?.slice(-(shown ?? '').length)).toBe(shown)
  })

  it.each(['oauth2', 'oidc'] as const)(
    'of %s beside other schemes keep why the token was refused',
    (scheme) => {
      const token = { reason: 'audience', claim: 'aud', expected: 'api' } as const
      const demand = {
        schemes: ['basic', scheme],
        realmUri: 'a.b',
        scheme,
        mode: undefined,
      } as const
      const error = withChallenges(rejected(scheme, 'a.b', token), demand)
      expect(error).toMatchObject({ token, status: undefined })
      expect(error instanceof GatewayError && error.respondingWith({ status: 302 })).toMatchObject({
        token,
        status: 302,
        headers: { 'www-authenticate': expect.any(Array) as unknown },
      })
    },
  )

  it('say when to try again', () => {
    expect(tooManyFailures(60)).toMatchObject({
      code: 'svc.error.too_many_requests',
      headers: { 'retry-after': '60' },
    })
    expect(uncheckable('Not now', 5)).toMatchObject({
      code: 'svc.error.overloaded',
      headers: { 'retry-after': '5' },
    })
  })
})
