// Who is redirected to the login, who is not, and why.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { OidcProviderRecord } from '../../../language/realm/record.ts'
import { parseAuthority } from '../../../language/routes/authority.ts'
import {
  decideLogin,
  type LoginDecision,
  type ProtectedPage,
  type Unauthenticated,
} from '../../../dataplane/oidc/login-redirect.ts'
import { providerRecord, realmRecord, REALM } from './room.ts'

const record = providerRecord('https://idp.example.com')
const realm = realmRecord(REALM, { corp: record })

const PAGE: ProtectedPage = { basePath: '/v1', realmUri: REALM, realm, provider: 'corp' }

interface Asked extends Partial<Pick<Unauthenticated, 'method' | 'path' | 'query'>> {
  readonly headers?: Readonly<Record<string, string>>
  readonly without?: string
  readonly host?: string
}

const NAVIGATION = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }

const decide = (
  { headers = {}, without = '', host = 'api.example.com', ...more }: Asked,
  page: Partial<ProtectedPage> = {},
): LoginDecision => {
  const all = Object.entries({ ...NAVIGATION, ...headers }).filter(([name]) => name !== without)
  const authority = parseAuthority(host)
  if (authority === undefined) throw new Error(`${host} is no host`)
  return decideLogin(
    {
      method: 'GET',
      path: '/v1/x',
      query: '',
      headers: Object.fromEntries(all),
      rawHeaders: all.flat(),
      authority,
      ...more,
    },
    { ...PAGE, ...page },
  )
}

const locationOf = (decision: LoginDecision): URL => {
  if (decision.kind !== 'redirect') throw new Error(JSON.stringify(decision))
  return new URL(decision.location, 'https://api.example.com')
}

const backOf = (decision: LoginDecision): string | null =>
  locationOf(decision).searchParams.get('redirect_uri')

describe('a navigation', () => {
  it('goes to the login of its version, with the provider of the scheme and the way back', () => {
    expect(decide({ query: 'a=1&b=%20' })).toEqual({
      kind: 'redirect',
      location:
        '/v1/oidc/login?provider=corp&redirect_uri=%2Fv1%2Fx%3Fa%3D1%26b%3D%2520&redirected=true',
    })
  })

  it.each([
    ['/', '/x', '/oidc/login'],
    ['/[v1]', '/x', '/oidc/login'],
    ['/[v1]', '/v1/x', '/v1/oidc/login'],
    ['/[v1]', '/v1', '/v1/oidc/login'],
    ['/:tenant/api', '/acme/api/x', '/acme/api/oidc/login'],
    ['/:tenant', '/a%2F..%3Fb/x', '/a%2F..%3Fb/oidc/login'],
    ['/a b', '/a%20b/x', '/a%20b/oidc/login'],
  ])('below %s, of %s, finds %s', (basePath, path, login) => {
    expect(locationOf(decide({ path }, { basePath })).pathname).toBe(login)
  })

  it.each([
    ['another port than the default', 'https://api.example.com:8443/c', 'api.example.com:8443'],
    ['the default port, named', 'https://api.example.com/c', 'API.example.com:443'],
    ['a port of its own scheme', 'http://127.0.0.1:18080/c', '127.0.0.1:18080'],
    ['an address in brackets', 'https://[::1]/c', '[::1]'],
  ])('is at the host of the callback: %s', (_name, redirectUri, host) => {
    const corp = { ...record, redirect_uri: redirectUri }
    expect(decide({ host }, { realm: realmRecord(REALM, { corp }) }).kind).toBe('redirect')
  })

  it.each<[string, Asked, RegExp]>([
    ['in a frame', { headers: { 'sec-fetch-dest': 'iframe' } }, /in a tab/],
    ['of an object', { headers: { 'sec-fetch-dest': 'object' } }, /in a tab/],
    ['without a destination', { without: 'sec-fetch-dest' }, /in a tab/],
    ['ahead of time', { headers: { 'sec-purpose': 'prefetch;prerender' } }, /in advance/],
    ['ahead of time, as before', { headers: { purpose: 'prefetch' } }, /in advance/],
    ['ahead of time, in Firefox', { headers: { 'x-moz': 'prefetch' } }, /in advance/],
    ['with a header that decides', { headers: { authorization: 'Basic YTpi' } }, /Authorization/],
    [
      'right after a login',
      { headers: { cookie: `a=b; __Host-svc_oidc_.returned.${REALM}=1` } },
      /just come back/,
    ],
    ['at another host', { host: 'other.example.com' }, /another one/],
    ['at another port', { host: 'api.example.com:8443' }, /another one/],
    ['without a host', { host: '' }, /another one/],
    ['of a path that is a host to browsers', { path: '//evil.example/x' }, /no way back/],
    ['of a path with a backslash', { path: '/v1/\\evil.example' }, /no way back/],
    ['of a path that is a login', { path: '/v1/y/oidc/login' }, /no way back/],
    ['of a URL too long to keep', { query: 'a'.repeat(2048) }, /no way back/],
    ['of a URL too long when written', { query: '&'.repeat(1500) }, /no way back/],
  ])('%s receives the reason why it is 401', (_name, asked, reason) => {
    const decision = decide(asked)
    expect(decision).toEqual({
      kind: 'explain',
      reason: expect.stringMatching(/^Not redirected to the login: .*\.$/) as unknown,
    })
    expect(JSON.stringify(decision)).toMatch(reason)
  })

  it('right after a login with a strict cookie is answered that this may be why', () => {
    const cookie = `__Host-svc_oidc_.returned.${REALM}=1`
    const providers = Object.entries(realm.info?.oidc_providers ?? {})
    const strict = providers.map(([name, record]) => [
      name,
      { ...record, cookie_same_site: 'strict' as const },
    ])
    const oidcProviders = Object.fromEntries(strict) as Readonly<Record<string, OidcProviderRecord>>
    const page = { realm: { ...realm, info: { oidc_providers: oidcProviders } } }
    const words = 'cookie_same_site'
    expect(JSON.stringify(decide({ headers: { cookie } }, page))).toContain(words)
    expect(JSON.stringify(decide({ headers: { cookie } }))).not.toContain(words)
    expect(decide({}, page).kind).toBe('redirect')
  })

  it.each([
    ['is gone', { realm: undefined }],
    ['has no such provider', { provider: 'other' }],
    ['has no logins now', { realm: { ...realm, authmethods: ['cookie'] } }],
    ['is asked for what every object has', { provider: '__proto__' }],
  ])('is shown where the realm %s', (_name, page) => {
    expect(decide({}, page)).toEqual({
      kind: 'explain',
      reason: 'Not redirected to the login: the realm has no such provider now.',
    })
  })

  it.each([
    ['of another realm', '__Host-svc_oidc_.returned.com.example.other=1'],
    ['that is cleared', `__Host-svc_oidc_.returned.${REALM}=`],
    ['of a login under way', `__Host-svc_oidc_abc=1`],
    ['that only looks so', `x__Host-svc_oidc_.returned.${REALM}=1`],
  ])('is not stopped by a cookie %s', (_name, cookie) => {
    expect(decide({ headers: { cookie } }).kind).toBe('redirect')
  })
})

it.each<[string, Asked]>([
  ['a script', { headers: { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' } }],
  ['a script of the page', { headers: { 'sec-fetch-mode': 'same-origin' } }],
  ['an image', { headers: { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' } }],
  ['a WebSocket', { headers: { 'sec-fetch-mode': 'websocket' } }],
  ['a program', { without: 'sec-fetch-mode' }],
  ['a client that says it twice', { headers: { 'sec-fetch-mode': 'navigate, navigate' } }],
  ['a form', { method: 'POST' }],
  ['HEAD', { method: 'HEAD' }],
])('%s gets 401 as ever', (_name, asked) => {
  expect(decide(asked)).toEqual({ kind: 'reject' })
})

it('no redirect leaves the host, whatever path and query say', () => {
  const piece = fc.constantFrom(
    '/',
    '//',
    '\\',
    '..',
    '.',
    '%2f',
    '%5c',
    '@',
    ':',
    '?',
    '#',
    'v1',
    'x',
    'é',
    'evil.example',
    '\t',
  )
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 8 }),
      fc.array(piece, { maxLength: 4 }),
      fc.constantFrom('/', '/v1', '/:t', '/[:t]'),
      (path, query, basePath) => {
        const decision = decide({ path: `/${path.join('')}`, query: query.join('') }, { basePath })
        if (decision.kind !== 'redirect') return
        expect(locationOf(decision).origin).toBe('https://api.example.com')
        expect(new URL(backOf(decision) ?? '', 'https://api.example.com').origin).toBe(
          'https://api.example.com',
        )
      },
    ),
  )
})
