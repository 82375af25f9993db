// Which token of a caller is exchanged.

import { describe, expect, it } from '@jest/globals'
import { subjectToken } from '../../../dataplane/credentials/subject-token.ts'

const COOKIE = 'svc_ticket_com.acme'

describe('the token of a caller', () => {
  it.each<[string, string | undefined, readonly string[], string | undefined]>([
    ['of oauth2', 'oauth2', ['Authorization', 'Bearer abc'], 'abc'],
    ['in any case of letters', 'oauth2', ['AUTHORIZATION', 'bEaReR  abc '], 'abc'],
    ['of oidc, in the header', 'oidc', ['authorization', 'Bearer abc'], 'abc'],
    ['of oidc, in its cookie', 'oidc', ['cookie', `a=b; ${COOKIE}=abc; c=d`], 'abc'],
    [
      'the header before the cookie',
      'oidc',
      ['authorization', 'Bearer abc', 'cookie', `${COOKIE}=x`],
      'abc',
    ],
    ['one cookie, twice', 'oidc', ['cookie', `${COOKIE}=abc; ${COOKIE}=abc`], 'abc'],
    [
      'two cookies, one of them forged',
      'oidc',
      ['cookie', `${COOKIE}=abc; ${COOKIE}=x`],
      undefined,
    ],
    ['the cookie of another realm', 'oidc', ['cookie', 'svc_ticket_com.other=abc'], undefined],
    ['a cookie with oauth2', 'oauth2', ['cookie', `${COOKIE}=abc`], undefined],
    [
      'two headers',
      'oauth2',
      ['authorization', 'Bearer a', 'Authorization', 'Bearer b'],
      undefined,
    ],
    ['basic', 'basic', ['authorization', 'Basic abc'], undefined],
    ['no caller', undefined, ['authorization', 'Bearer abc'], undefined],
    ['an empty one', 'oauth2', ['authorization', 'Bearer '], undefined],
  ])('%s', (_, scheme, rawHeaders, expected) => {
    expect(subjectToken(rawHeaders, scheme, 'com.acme')).toBe(expected)
  })
})
