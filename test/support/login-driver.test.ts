// The cookie jar of the login driver against what browsers do.

import { describe, expect, it } from '@jest/globals'
import { CookieJar, type JarVisit } from './login-driver-jar.ts'

const HTTPS = 'https://api.example.com/v1/oidc/login'
const at = (url: string, more: Partial<JarVisit> = {}): JarVisit => ({
  url: new URL(url),
  method: 'GET',
  isSameSite: true,
  ...more,
})

describe('a cookie', () => {
  it.each([
    { line: 'a=1', isKept: true },
    { line: 'a=1; Path=/; Max-Age=60; SameSite=Lax; Secure', isKept: true },
    { line: '__Host-a=1; Path=/; Secure; HttpOnly', isKept: true },
    { line: '__Host-a=1; Path=/v1; Secure', isKept: false },
    { line: '__Host-a=1; Path=/', isKept: false },
    { line: '__Host-a=1; Path=/; Secure; Domain=example.com', isKept: false },
    { line: '__Secure-a=1', isKept: false },
    { line: 'a=1; SameSite=None', isKept: false },
    { line: 'a=1; Domain=example.com', isKept: true },
    { line: 'a=1; Domain=other.example.com', isKept: false },
    { line: 'a=1; Domain=ample.com', isKept: false },
    { line: `a=${'x'.repeat(4094)}`, isKept: true },
    { line: `a=${'x'.repeat(4095)}`, isKept: false },
    { line: '=1', isKept: false },
  ])('$line: $isKept', ({ line, isKept }) => {
    expect(new CookieJar().keep(new URL(HTTPS), [line])).toEqual([isKept])
  })

  it.each([
    { line: 'a=1; Path=/', visit: at('https://api.example.com/'), isSent: true },
    { line: 'a=1', visit: at('https://api.example.com/'), isSent: false },
    { line: 'a=1', visit: at('https://api.example.com/v1/oidc/x'), isSent: true },
    { line: 'a=1; Path=/v1', visit: at('https://api.example.com/v10'), isSent: false },
    { line: 'a=1; Path=/', visit: at('https://www.example.com/'), isSent: false },
    { line: 'a=1; Path=/; Domain=example.com', visit: at('https://x.example.com/'), isSent: true },
    { line: 'a=1; Path=/; Secure', visit: at('http://api.example.com/'), isSent: false },
    {
      line: 'a=1; Path=/; SameSite=Strict',
      visit: at('https://api.example.com/', { isSameSite: false }),
      isSent: false,
    },
    {
      line: 'a=1; Path=/',
      visit: at('https://api.example.com/', { isSameSite: false }),
      isSent: true,
    },
    {
      line: 'a=1; Path=/',
      visit: at('https://api.example.com/', { isSameSite: false, method: 'POST' }),
      isSent: false,
    },
  ])('$line to $visit.url.href: $isSent', ({ line, visit, isSent }) => {
    const jar = new CookieJar()
    jar.keep(new URL(HTTPS), [line])
    expect(jar.header(visit)).toBe(isSent ? 'a=1' : undefined)
  })

  it('goes when its time is over, or it is cleared with its own attributes', () => {
    let now = 0
    const jar = new CookieJar(() => now)
    const url = new URL(HTTPS)
    jar.keep(url, ['a=1; Path=/; Max-Age=10', 'b=1; Path=/; Domain=example.com', 'c=1; Path=/'])
    now = 10_000
    jar.keep(url, ['b=; Path=/; Max-Age=0', 'c=; Path=/; Max-Age=0'])
    expect(jar.cookies.map(({ name }) => name)).toEqual(['a', 'b'])
    expect(jar.header(at(HTTPS))).toBe('b=1')
  })
})
