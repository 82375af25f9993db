// Tests by which credentials a page of another site can have a browser send requests.

import { expect, it } from '@jest/globals'
import type { CompiledSecurity } from '../../language/compile/security.ts'
import { isForgeable } from '../../language/forgeable-callers.ts'

const BASIC = { type: 'basic' } as const
const OIDC = { type: 'oidc', provider: 'default' } as const
const KEY = { type: 'api_key', headerName: 'x-key' } as const
const OAUTH2 = {
  type: 'oauth2',
  flow: 'implicit',
  tokenPath: '/oauth/token',
  revokeTokenPath: '/oauth/revoke',
} as const
const ANYBODY = { type: 'anonymous' } as const
const INSIDE = { type: 'anonymous', networks: ['10.0.0.0/8'], pointer: '/security/0' } as const

it.each<[string, CompiledSecurity, boolean]>([
  ['nothing', [ANYBODY], false],
  ['a password', [BASIC], true],
  ['a password or a key', [KEY, BASIC], true],
  ['a key', [KEY], false],
  ['a key in a cookie', [{ ...KEY, headerName: 'cookie' }], true],
  ['a token', [OAUTH2], false],
  ['a ticket, which has a CSRF value', [OIDC], false],
  ['the network alone', [INSIDE], true],
  ['a key, and the network alone', [KEY, INSIDE], true],
  ['a key within a network', [{ ...KEY, networks: ['10.0.0.0/8'] }], false],
])(
  'whether a page of another site can send a request that is accepted by %s',
  (_, security, expected) => {
    expect(isForgeable(security)).toBe(expected)
  },
)
