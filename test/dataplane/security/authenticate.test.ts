import { describe, expect, it } from '@jest/globals'
import { authenticate } from '../../../dataplane/security/authenticate.ts'
import { unauthorized } from '../../../dataplane/security/challenge.ts'
import type { CompiledSecurity } from '../../../spec/compiled.ts'

const SCHEMES: readonly (readonly [CompiledSecurity, string])[] = [
  [{ type: 'basic' }, 'Basic realm="a.b"'],
  [{ type: 'api_key', headerName: 'x-key' }, 'ApiKey realm="a.b"'],
  [
    { type: 'oauth2', flow: 'implicit', tokenPath: '/t', revokeTokenPath: '/r' },
    'Bearer realm="a.b"',
  ],
  [{ type: 'oidc', provider: 'default' }, 'Bearer realm="a.b"'],
]

describe('authenticate', () => {
  it('lets everybody in where security is anonymous, and nowhere else', () => {
    expect(authenticate({ type: 'anonymous' }, 'a.b').refusal).toBeUndefined()
    for (const [security] of SCHEMES)
      expect(authenticate(security, 'a.b').refusal?.code).toBe('svc.error.unauthorized')
  })

  it.each(SCHEMES)('%j challenges', (security, challenge) => {
    expect(authenticate(security, 'a.b').refusal?.headers).toEqual({
      'www-authenticate': challenge,
    })
  })
})

describe('the realm of a challenge', () => {
  it.each([
    ['com.acme', 'com.acme'],
    ['a"b\\c', 'a%22b%5Cc'],
    ['a\r\nb', 'a%0D%0Ab'],
    ['é', '%C3%A9'],
    ['\ud800', '%EF%BF%BD'],
    ['', ''],
  ])('%j is %j', (realm, shown) => {
    expect(unauthorized('basic', realm).headers['www-authenticate']).toBe(`Basic realm="${shown}"`)
  })
})
