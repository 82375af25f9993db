import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { readFileSync } from 'node:fs'
import { chooseTarget, originOf } from '../../../dataplane/oidc/redirect-target.ts'
import { MemoryState } from '../../../dataplane/shared/memory-state.ts'
import type { SharedState } from '../../../dataplane/shared/shared-state.ts'
import { headerOf, openRoom, providerRecord, realmRecord, REALM, requestOf } from './room.ts'

interface Case {
  readonly id: string
  readonly redirect_uri?: string | null
  readonly query?: string
  readonly accept: readonly string[]
  readonly why: string
}

const table = JSON.parse(
  readFileSync(new URL('./cases/redirects.json', import.meta.url), 'utf8'),
) as {
  readonly base_url: string
  readonly allowed_redirect_origins: readonly string[]
  readonly cases: readonly Case[]
}

const rule = { ownOrigin: table.base_url, allowedOrigins: table.allowed_redirect_origins }
const queryOf = ({ query, redirect_uri: uri }: Case): string =>
  query ?? (typeof uri === 'string' ? new URLSearchParams({ redirect_uri: uri }).toString() : '')

describe('redirect_uri at logout', () => {
  it.each(table.cases)('$id: $why', async (row) => {
    const endpointDeps = openRoom()
    endpointDeps.realms.set(
      REALM,
      realmRecord(REALM, {
        corp: providerRecord('http://127.0.0.1:1', {
          allowed_redirect_origins: table.allowed_redirect_origins,
        }),
      }),
    )
    const response = await endpointDeps.oidc.logout(
      requestOf({ query: queryOf(row), ownOrigin: table.base_url }),
    )

    expect(response.status).toBe(302)
    expect(row.accept).toContain(headerOf(response, 'location'))
  })
})

describe('the redirect rule', () => {
  it.each([
    ['/größe?x=ü#ä', '/gr%C3%B6%C3%9Fe?x=%C3%BC#%C3%A4'],
    ['/a b', '/a%20b'],
    ['/\ud800x', '/%EF%BF%BDx'],
    ['/constructor', '/constructor'],
    ['/__proto__', '/__proto__'],
    ['https://app.example.com/ü', 'https://app.example.com/%C3%BC'],
    ['/v1/oidc', '/v1/oidc'],
    ['/oidc/orders', '/oidc/orders'],
    ['/login', '/login'],
    ['/callback', '/callback'],
    ['/?next=/v1/oidc/logout', '/?next=/v1/oidc/logout'],
  ])('keeps %j', (text, location) => {
    expect(chooseTarget(text, rule)).toEqual({ location, isRefused: false })
  })

  it.each([
    '/v1/oidc/login',
    '/v1/oidc/logout?x=1',
    '/oidc/logout/',
    '/v2/oidc/corp/callback?code=1&state=2',
    '/v2/oidc/a%2Fb/callback',
    '/v1/%6fidc/%6cogin',
    '/v1/x/../oidc/logout',
    '/v1/./oidc/verify',
    '/oidc/corp/backchannel-logout#x',
    'https://api.example.com/v1/oidc/logout',
    'https://app.example.com/v1/oidc/login',
    '/\u0085/x',
    '/x\u0000',
    '/x\u007f',
    `/${'a'.repeat(2048)}`,
    `/${'ü'.repeat(400)}`,
    'https://',
    'https://app.example.com\\@evil.example',
    'https://[::1',
    'https://app.example.com:99999/',
    'blob:https://app.example.com/x',
    'null',
  ])('refuses %j', (text) => {
    expect(chooseTarget(text, rule)).toEqual({ location: '/', isRefused: true })
  })

  it('accepts every http(s) origin with *, and nothing else', () => {
    const open = { ...rule, allowedOrigins: ['*'] }
    const targets = [
      'https://evil.example/x',
      'http://10.0.0.1:8080/',
      '//evil.example',
      'javascript:alert(1)',
      'https://u:p@evil.example/',
      '/v1/oidc/logout',
    ].map((text) => chooseTarget(text, open).location)

    expect(targets).toEqual(['https://evil.example/x', 'http://10.0.0.1:8080/', '/', '/', '/', '/'])
  })

  it('knows paths alone where the own origin is not known', () => {
    const unknown = { ownOrigin: undefined, allowedOrigins: [] }

    expect(chooseTarget('/app', unknown).location).toBe('/app')
    expect(chooseTarget('/\\evil.example', unknown).location).toBe('/')
    expect(chooseTarget('https://own.invalid/', unknown).location).toBe('/')
  })

  it('takes an allowed origin as people write it', () => {
    const loose = { ...rule, allowedOrigins: ['HTTPS://App.Example.com:443/', 'not a url', ''] }

    expect(chooseTarget('https://app.example.com/x', loose).isRefused).toBe(false)
    expect(chooseTarget('https://evil.example/', loose).isRefused).toBe(true)
  })

  it('reads the origin of http(s) URLs alone', () => {
    expect(originOf('https://api.example.com/v1/')).toBe('https://api.example.com')
    expect(originOf('ftp://api.example.com')).toBeUndefined()
    expect(originOf(undefined)).toBeUndefined()
  })

  const pieces = fc.constantFrom(
    '/', '\\', '//', '.', '..', '%2e', '%2f', '%5c', '@', ':', '?', '#', 'https:', 'http:', 'javascript:',
    'evil.example', 'app.example.com', 'api.example.com', '\t', '\n', '\r', ' ', '\u00a0', '\u3002', '\uff0f',
    'oidc', 'login', ';', '&', '[', ']', '\u0000', '\ud800',
  ) // prettier-ignore
  const anything = fc.oneof(
    fc.array(pieces, { maxLength: 12 }).map((each) => each.join('')),
    fc.string(),
  )
  const allowed = new Set([table.base_url, ...table.allowed_redirect_origins])

  it('never leads a browser anywhere else, whatever comes', () => {
    fc.assert(
      fc.property(anything, (text) => {
        const { location } = chooseTarget(text, rule)
        const landed = new URL(location, `${table.base_url}/v1/oidc/callback`)
        expect(location).toMatch(/^[\x21-\x5b\x5d-\x7e]{1,2048}$/)
        expect(allowed).toContain(landed.origin)
        expect(landed.username + landed.password).toBe('')
        // What an application does that reads the path back.
        expect(
          new URL(location.startsWith('/') ? landed.pathname : '/', table.base_url).origin,
        ).toBe(table.base_url)
        expect(landed.pathname).not.toMatch(/\/oidc\/(login|logout|verify)\/?$/)
      }),
      { numRuns: 3000 },
    )
  })

  it('is stable: what it gives it gives again', () => {
    fc.assert(
      fc.property(anything, (text) => {
        const { location } = chooseTarget(text, rule)
        expect(chooseTarget(location, rule).location).toBe(location)
      }),
    )
  })
})

describe('a refused redirect_uri', () => {
  it('is counted and logged, without what it was', async () => {
    const shared: SharedState = new MemoryState({ now: Date.now })
    const endpointDeps = openRoom({ shared })
    endpointDeps.realms.set(
      REALM,
      realmRecord(REALM, { corp: providerRecord('http://127.0.0.1:1') }),
    )
    await endpointDeps.oidc.logout(requestOf({ query: 'redirect_uri=https://evil.example/' }))

    expect(endpointDeps.counts).toEqual([
      { endpoint: 'logout', outcome: 'redirect_refused' },
      { endpoint: 'logout', outcome: 'ok' },
    ])
    expect(endpointDeps.logged.join()).toContain('redirect_uri refused')
    expect(endpointDeps.logged.join()).not.toContain('evil.example')
    await shared.close()
  })
})
