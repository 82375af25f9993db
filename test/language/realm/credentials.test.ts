// Which credentials a realm may have, and what is said of those that it may not.

import { describe, expect, it } from '@jest/globals'
import { factsOf } from '../../../language/realm/facts.ts'
import type { RealmRecord } from '../../../language/realm/record.ts'
import { validateRealm } from '../../../language/validate-realm.ts'
import { createCertificateAuthority } from '../../support/certificates.ts'

const ORIGINS = { origins: ['https://billing.example'] }
const CLIENT = {
  token_endpoint: 'https://idp.example/token',
  client_id: 'gw',
  client_secret: 'hush',
}
const pair = createCertificateAuthority('CA').issue('gw')
const CERTIFICATE = { certificate: pair.cert, private_key: pair.key }

const problemsOf = (credential: object): readonly (readonly [string, string])[] => {
  const validation = validateRealm({ uri: 'com.acme', credentials: { billing: credential } })
  return validation.ok
    ? []
    : validation.problems.map(({ path, message }) => [path, message] as const)
}

describe('a credential', () => {
  it.each<[string, object]>([
    ['bearer', { ...ORIGINS, bearer: { token: 'a.b-c_d~e+f/g==' } }],
    ['basic', { ...ORIGINS, basic: { username: 'gw', password: 'p:w ü' } }],
    ['client_credentials', { ...ORIGINS, client_credentials: { ...CLIENT, scopes: ['a', 'b:c'] } }],
    ['token_exchange', { ...ORIGINS, token_exchange: { ...CLIENT, audience: 'x' } }],
    [
      'certificate',
      { ...ORIGINS, certificate: { ...CERTIFICATE, ca: pair.cert, server_name: 'a.b' } },
    ],
    ['for http in a cluster', { origins: ['http://billing.shop:8080'], bearer: { token: 'x' } }],
    [
      'of plain http on purpose',
      {
        ...ORIGINS,
        client_credentials: { ...CLIENT, token_endpoint: 'http://a/', allow_unsafe_http: true },
      },
    ],
  ])('may be %s', (_, credential) => {
    expect(problemsOf(credential)).toEqual([])
  })

  it.each<[string, object, string, RegExp]>([
    ['no kind', ORIGINS, '', /needs one of bearer, basic/],
    [
      'two kinds',
      { ...ORIGINS, bearer: { token: 'x' }, basic: { username: 'a', password: 'b' } },
      '',
      /one kind, not bearer and basic/,
    ],
    ['no origins', { bearer: { token: 'x' } }, '/origins', /origins/],
    ['an empty list of them', { origins: [], bearer: { token: 'x' } }, '/origins', /./],
    [
      'an origin without scheme',
      { origins: ['billing.example'], bearer: { token: 'x' } },
      '/origins/0',
      /./,
    ],
    [
      'a path in an origin',
      { origins: ['https://a/b'], bearer: { token: 'x' } },
      '/origins/0',
      /path/,
    ],
    [
      'a user in an origin',
      { origins: ['https://u@a'], bearer: { token: 'x' } },
      '/origins/0',
      /user/,
    ],
    [
      'a pattern as origin',
      { origins: ['https://*.a.example/*'], bearer: { token: 'x' } },
      '/origins/0',
      /./,
    ],
    [
      'a line break in a token',
      { ...ORIGINS, bearer: { token: 'x\n' } },
      '/bearer/token',
      /line break/,
    ],
    [
      'Bearer before a token',
      { ...ORIGINS, bearer: { token: 'Bearer x' } },
      '/bearer/token',
      /"Bearer" before/,
    ],
    [
      'a line break in a password',
      { ...ORIGINS, basic: { username: 'a', password: 'b\n' } },
      '/basic/password',
      /line break/,
    ],
    [
      'a colon in a name',
      { ...ORIGINS, basic: { username: 'a:b', password: 'c' } },
      '/basic/username',
      /./,
    ],
    [
      'a misspelt member',
      { ...ORIGINS, client_credentials: { ...CLIENT, scope: 'a' } },
      '/client_credentials/scope',
      /Did you mean 'scopes'/,
    ],
    [
      'no secret',
      { ...ORIGINS, client_credentials: { token_endpoint: 'https://a/', client_id: 'b' } },
      '/client_credentials/client_secret',
      /./,
    ],
    [
      'plain http',
      { ...ORIGINS, client_credentials: { ...CLIENT, token_endpoint: 'http://a/' } },
      '/client_credentials/token_endpoint',
      /https/,
    ],
    [
      'a user in the endpoint',
      { ...ORIGINS, token_exchange: { ...CLIENT, token_endpoint: 'https://u:p@a/' } },
      '/token_exchange/token_endpoint',
      /without user/,
    ],
    [
      'a certificate for http',
      { origins: ['http://a'], certificate: CERTIFICATE },
      '/origins/0',
      /https origins alone/,
    ],
    [
      'a certificate in DER',
      { ...ORIGINS, certificate: { ...CERTIFICATE, certificate: 'MIIB' } },
      '/certificate/certificate',
      /PEM/,
    ],
    [
      'a key that is encrypted',
      {
        ...ORIGINS,
        certificate: {
          ...CERTIFICATE,
          private_key:
            '-----BEGIN ENCRYPTED PRIVATE KEY-----\nA\n-----END ENCRYPTED PRIVATE KEY-----',
        },
      },
      '/certificate/private_key',
      /not encrypted/,
    ],
    [
      'an address as server name',
      { ...ORIGINS, certificate: { ...CERTIFICATE, server_name: '10.1.2.3' } },
      '/certificate/server_name',
      /an address is none/,
    ],
  ])('may not have %s', (_, credential, path, message) => {
    const problems = problemsOf(credential)
    expect(problems).toContainEqual([`/credentials/billing${path}`, expect.stringMatching(message)])
    expect(JSON.stringify(problems)).not.toContain('hush')
  })

  it('tells documents its kind and origins, and nothing else', () => {
    const realm: RealmRecord = {
      uri: 'a',
      credentials: { billing: { origins: ['https://A.example:443/'], client_credentials: CLIENT } },
    }
    expect(factsOf(realm).credentials).toEqual({
      billing: { kind: 'client_credentials', origins: ['https://a.example'] },
    })
  })
})
