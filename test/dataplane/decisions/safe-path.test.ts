// Tests what is kept of a path that no document has.

import { expect, it } from '@jest/globals'
import { safePath } from '../../../dataplane/decisions/safe-path.ts'

it.each([
  ['/', '/'],
  ['/forward/nope', '/forward/nope'],
  ['/v1/users/42/posts', '/v…/users/…'],
  ['/orders/', '/orders/'],
  ['/wp-login.php', '/wp-login.php'],
  ['/orders/42', '/orders/…'],
  ['/reset/01a1fee0-4f5e-7000-8000-c0ffee000000', '/reset/…'],
  ['/reset/c2VjcmV0LXRva2VuLW9mLWFkYQ', '/reset/…'],
  ['/users/ada%40example.com', '/users/…'],
  ['/users/ada@example.com', '/users/…'],
  ['/login/admin:hunter', '/login/…'],
  ['/x/abc%2Bdef%2Fghi=', '/x/…'],
  ['/a\u202eb/<script>', '/…/…'],
  ['/\ud800/x', '/…/x'],
  ['*', '/'],
  [`/${'a.b-'.repeat(4)}/${'é'.repeat(5000)}`, '/a.b-a.b-a.b-a.b-/…'],
])('of %j it is %j', (path, shown) => {
  expect(safePath(path)).toBe(shown)
})

it('has 64 characters at most, whatever the path', () => {
  const path = `/${'aa/'.repeat(9)}`.replaceAll('/', '\u00e9bb')
  expect(safePath(`/${path.repeat(9)}/${path.repeat(9)}/x`).length).toBeLessThanOrEqual(64)
})
