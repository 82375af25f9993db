import { describe, expect, it } from '@jest/globals'
import { checkMetadata, isSafeUrl } from '../../../../dataplane/oidc/provider/provider-metadata.ts'

const issuer = 'https://idp.example'
const good = {
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/jwks`,
  end_session_endpoint: `${issuer}/end`,
}

describe('the metadata of a provider', () => {
  it.each([
    ['another issuer', { issuer: 'https://evil.example' }],
    ['the issuer with a slash', { issuer: `${issuer}/` }],
    ['the issuer in upper case', { issuer: 'https://IDP.example' }],
    ['a token endpoint without TLS', { token_endpoint: 'http://idp.example/token' }],
    ['no token endpoint', { token_endpoint: undefined }],
    ['a key set without TLS', { jwks_uri: 'http://idp.example/jwks' }],
    ['a key set of a file', { jwks_uri: 'file:///etc/passwd' }],
    [
      'an authorization endpoint that is a script',
      { authorization_endpoint: 'javascript:alert(1)' },
    ],
    [
      'an authorization endpoint with a user',
      { authorization_endpoint: 'https://a:b@idp.example/' },
    ],
    ['a number for an endpoint', { token_endpoint: 7 as unknown as string }],
  ])('is of no use with %s', (_, change) => {
    const found = { ...good, ...change } as typeof good

    expect(() => checkMetadata(found, { issuer })).toThrow(/^discovery names/)
  })

  it('may be plain http where the entry says so', () => {
    const plain = JSON.parse(JSON.stringify(good).replaceAll('https:', 'http:')) as typeof good
    const record = { issuer: plain.issuer, allow_unsafe_http: true }

    expect(checkMetadata(plain, record)).toEqual(plain)
  })

  it('loses an end-session endpoint that is not https, and nothing else for it', () => {
    const found = { ...good, end_session_endpoint: 'http://idp.example/end' }

    expect(checkMetadata(found, { issuer })).not.toHaveProperty('end_session_endpoint')
  })

  it('never names symmetric algorithms, or none', () => {
    const algorithms = ['none', 'HS256', 'RS256', 'ES256', 'constructor']
    const found = { ...good, id_token_signing_alg_values_supported: algorithms }

    expect(checkMetadata(found, { issuer }).id_token_signing_alg_values_supported).toEqual([
      'RS256',
      'ES256',
    ])
  })

  it.each(['', 'idp.example', '//idp.example', 'data:text/html,x', 'https://'])(
    'takes %j for no endpoint',
    (url) => {
      expect(isSafeUrl(url, { allow_unsafe_http: true })).toBe(false)
    },
  )
})
