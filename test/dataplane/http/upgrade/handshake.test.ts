// Tests which pages may open a WebSocket connection, where several schemes or networks are listed.

import { describe, expect, it } from '@jest/globals'
import { checkOrigin } from '../../../../dataplane/http/upgrade/handshake.ts'
import type { CompiledSecurity } from '../../../../language/compile/security.ts'

describe('the origin of a WebSocket', () => {
  const OIDC = { type: 'oidc', provider: 'default' } as const
  const BASIC = { type: 'basic' } as const
  const X_KEY = { type: 'api_key', headerName: 'x-key' } as const
  const COOKIE_KEY = { type: 'api_key', headerName: 'cookie' } as const
  const INSIDE = { type: 'anonymous', networks: ['10.0.0.0/8'] } as const
  const EVIL = 'https://evil.test'
  const COOKIE = ['Cookie', 'svc_ticket_com.acme=a.b.c']

  it.each<[string, CompiledSecurity, readonly string[], string | undefined, boolean]>([
    ['a network alone, any page', [INSIDE], [], EVIL, false],
    ['a network alone, what Host says', [INSIDE], [], 'http://a.test', false],
    ['a network alone, the own page', [INSIDE], [], 'https://own.test', true],
    ['a network alone, no browser', [INSIDE], [], undefined, true],
    ['a network or a key, without a key', [X_KEY, INSIDE], [], EVIL, false],
    ['a network or a key, with a key', [X_KEY, INSIDE], ['x-key', 'k'], EVIL, true],
    ['a cookie or a key, with a cookie', [X_KEY, OIDC], COOKIE, EVIL, false],
    ['a cookie or a key, with both', [X_KEY, OIDC], [...COOKIE, 'x-key', 'k'], EVIL, true],
    ['a key in a cookie, another page', [COOKIE_KEY], COOKIE, EVIL, false],
    ['a key in a cookie, what Host says', [COOKIE_KEY], COOKIE, 'http://a.test', false],
    ['a key in a cookie, the own page', [COOKIE_KEY], COOKIE, 'https://own.test', true],
    ['a key in a cookie, no page', [COOKIE_KEY], COOKIE, undefined, false],
    ['a key in a cookie, without it', [COOKIE_KEY], [], EVIL, true],
    ['a key in a cookie or a ticket', [OIDC, COOKIE_KEY], COOKIE, EVIL, false],
    ['a cookie or a password, with a cookie', [OIDC, BASIC], COOKIE, EVIL, false],
    [
      'a cookie or a password, with a password',
      [OIDC, BASIC],
      ['Authorization', 'Basic YTpi'],
      EVIL,
      false,
    ],
    ['a cookie or nothing, with nothing', [OIDC, { type: 'anonymous' }], [], EVIL, true],
  ])('by %s', (...[, security, rawHeaders, origin, isAllowed]) => {
    const cookie = rawHeaders.includes('Cookie') ? { cookie: 'a' } : {}
    const headers = { ...cookie, ...(origin !== undefined && { origin }) }
    const error = checkOrigin(
      { headers, rawHeaders: [...rawHeaders] },
      { host: 'a.test', port: '', text: 'a.test' },
      { listed: [], own: ['https://own.test'] },
      security,
    )
    expect(error?.code).toBe(isAllowed ? undefined : 'svc.error.forbidden')
  })
})
