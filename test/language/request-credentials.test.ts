// Tests what is known of the credentials of a request before any is verified.

import { describe, expect, it } from '@jest/globals'
import type { CompiledSecurity } from '../../language/compile/security.ts'
import { findCredentials, securityOfMethod } from '../../language/request-credentials.ts'

const BASIC = { type: 'basic' } as const
const OIDC = { type: 'oidc', provider: 'default' } as const
const OAUTH2 = {
  type: 'oauth2',
  flow: 'implicit',
  tokenPath: '/oauth/token',
  revokeTokenPath: '/oauth/revoke',
} as const
const ANYBODY = { type: 'anonymous' } as const
const INSIDE = { type: 'anonymous', networks: ['10.0.0.0/8'], pointer: '/security/0' } as const

const jwtOf = (header: unknown): string =>
  `Bearer ${Buffer.from(JSON.stringify(header)).toString('base64url')}.e30.c2ln`

describe('a token of a list that takes tickets too', () => {
  it.each<[string, string, string]>([
    ['of the type of tickets', jwtOf({ typ: 'svc-ticket+jwt' }), 'oidc'],
    ['of another type', jwtOf({ typ: 'at+jwt' }), 'oauth2'],
    ['without a type', jwtOf({}), 'oauth2'],
    ['whose type is inherited', jwtOf({ __proto__: { typ: 'svc-ticket+jwt' } }), 'oauth2'],
    ['whose header is no map', jwtOf(['svc-ticket+jwt']), 'oauth2'],
    ['that is no JWT', 'Bearer abc', 'oauth2'],
    ['whose header is too long', jwtOf({ typ: 'svc-ticket+jwt', x: 'x'.repeat(2000) }), 'oauth2'],
    ['of nothing', 'bearer', 'oauth2'],
  ])('%s', (_, value, type) => {
    const headerValues = (name: string) => (name === 'authorization' ? [value] : [])
    const { schemes } = findCredentials([OIDC, OAUTH2], headerValues)
    expect(schemes.map((each) => each.type)).toEqual([type])
  })
})

it.each<[string, CompiledSecurity, CompiledSecurity]>([
  ['credentials are asked for', [BASIC], [ANYBODY]],
  ['one entry is for every network', [INSIDE, BASIC], [ANYBODY]],
  [
    'all are for networks',
    [INSIDE, { ...BASIC, networks: ['::1'], pointer: '/security/1' }],
    [INSIDE, { type: 'anonymous', networks: ['::1'], pointer: '/security/1' }],
  ],
])('what OPTIONS must satisfy where %s', (_, security, expected) => {
  expect(securityOfMethod('options', security)).toEqual(expected)
  expect(securityOfMethod('get', security)).toBe(security)
})
