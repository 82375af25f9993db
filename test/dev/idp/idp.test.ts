// The embedded provider as a client of another make sees it, behind a proxy that passes everything on.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import * as client from 'openid-client'
import { startIdpProxy, type IdpProxy } from '../../support/idp-proxy.ts'
import { Browser, type Page } from '../../support/login-driver.ts'
import { startIdp } from '../../../dev/idp/idp.ts'

const CALLBACK = 'https://gateway.test/v1/oidc/corp/callback'
const BYE = 'https://gateway.test/bye'

interface PlainHttpDoor {
  readonly allowInsecureRequests: (configuration: client.Configuration) => void
}

/** Marked as deprecated by the library to make it stand out; on loopback it is what is meant. */
const plainHttp = (door: PlainHttpDoor): PlainHttpDoor['allowInsecureRequests'] =>
  door.allowInsecureRequests

const notices: string[] = []
const listener = createServer((request, response) => {
  void readText(request).then((text) => {
    notices.push(text)
    response.writeHead(200).end()
  })
})
let proxy: IdpProxy
let config: client.Configuration

beforeAll(async () => {
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  proxy = await startIdpProxy({
    clients: [
      {
        clientId: 'gateway',
        clientSecret: 'secret',
        redirectUris: [CALLBACK],
        postLogoutRedirectUris: [BYE],
        backChannelLogoutUri: `http://127.0.0.1:${port}/bcl`,
      },
    ],
  })
  config = await client.discovery(
    new URL(proxy.issuer),
    'gateway',
    { client_secret: 'secret' },
    client.ClientSecretBasic('secret'),
    { execute: [plainHttp(client), client.enableNonRepudiationChecks] },
  )
})

afterAll(async () => {
  await proxy.close()
  listener.close()
})

const atCallback = (url: URL): boolean => url.href.startsWith(CALLBACK)

interface Login {
  readonly url: URL
  readonly checks: { pkceCodeVerifier: string; expectedState: string; expectedNonce: string }
}

const newLogin = async (more: Record<string, string> = {}): Promise<Login> => {
  const checks = {
    pkceCodeVerifier: client.randomPKCECodeVerifier(),
    expectedState: client.randomState(),
    expectedNonce: client.randomNonce(),
  }
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: CALLBACK,
    scope: 'openid profile email',
    code_challenge: await client.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: checks.expectedState,
    nonce: checks.expectedNonce,
    ...more,
  })
  return { url, checks }
}

const logIn = async (browser: Browser, username: string) => {
  const { url, checks } = await newLogin()
  const start = await browser.follow(url, atCallback)
  const end =
    start instanceof URL ? start : await browser.submit(start, { login: username }, atCallback)
  if (!(end instanceof URL)) throw new Error(end.text)
  return client.authorizationCodeGrant(config, end, { ...checks, idTokenExpected: true })
}

const page = async (response: Promise<Page | URL>): Promise<Page> => {
  const end = await response
  if (end instanceof URL) throw new Error(`a redirect to ${end.href}`)
  return end
}

describe('the provider', () => {
  it.each([
    { username: 'alice', sub: 'u-alice', roles: ['customer', 'admin'] },
    { username: 'bob', sub: 'u-bob', roles: ['customer'] },
  ])('says in the ID token who $username is', async ({ username, sub, roles }) => {
    const { id_token: jwt = '' } = await logIn(new Browser(), username)
    const keys = createRemoteJWKSet(new URL(`${proxy.issuer}/jwks`))
    const { payload } = await jwtVerify(jwt, keys, { issuer: proxy.issuer, audience: 'gateway' })
    expect(payload).toMatchObject({
      sub,
      preferred_username: username,
      roles,
      email: `${username}@example.com`,
      sid: expect.any(String),
    })
  })

  it('asks no one twice in one browser', async () => {
    const browser = new Browser()
    await logIn(browser, 'alice')
    const { url } = await newLogin()
    expect(await browser.follow(url, atCallback)).toBeInstanceOf(URL)
  })

  it.each(['mallory', '', '__proto__', '"><script>'])('does not know %j', async (login) => {
    const browser = new Browser()
    const { url } = await newLogin({ login_hint: '<b>"bold"</b>' })
    const form = await page(browser.follow(url))
    expect(form.text).toContain('&lt;b&gt;&quot;bold&quot;&lt;/b&gt;')
    expect(form.headers['content-security-policy']).toBe("frame-ancestors 'none'")
    const again = await page(browser.submit(form, { login }))
    expect(again.text).toContain('There is no user of this name')
    expect(again.text).not.toContain('<script>')
  })

  it('wants PKCE', async () => {
    const { url } = await newLogin()
    url.searchParams.delete('code_challenge')
    url.searchParams.delete('code_challenge_method')
    const end = await new Browser().follow(url, atCallback)
    expect((end as URL).searchParams.get('error')).toBe('invalid_request')
  })

  it('has a page for what can not go on', async () => {
    const unknown = await page(new Browser().follow(`${proxy.issuer}/auth?client_id=%3Cb%3E`))
    expect([unknown.status, unknown.text]).toEqual([400, expect.stringContaining('invalid_client')])
    expect(unknown.text).not.toContain('<b>')
    const stale = await page(new Browser().follow(`${proxy.issuer}/interaction/nothing`))
    expect(stale.status).toBe(400)
  })

  it('logs out here and at the client', async () => {
    // Its guard against inner addresses can't be built inside jest, and it says so.
    const warned = jest.spyOn(console, 'warn').mockImplementation(() => undefined)
    const browser = new Browser()
    const { id_token: hint = '' } = await logIn(browser, 'alice')
    const url = client.buildEndSessionUrl(config, {
      id_token_hint: hint,
      post_logout_redirect_uri: BYE,
    })
    url.searchParams.delete('client_id')
    notices.length = 0
    const question = await page(browser.follow(url))
    const end = await browser.submit(question, {}, (to) => to.href.startsWith(BYE))
    expect(end).toBeInstanceOf(URL)
    expect(notices).toEqual([expect.stringMatching(/^logout_token=/)])
    warned.mockRestore()
    const start = await page(browser.follow((await newLogin()).url))
    expect(start.text).toContain('Known here')
  })
})

it.each([
  ['https://gateway.test/any/page?a=1', 200],
  ['https://gateway.test', 200],
  ['https://gateway.test.evil.example/', 400],
  ['https://gateway.test@evil.example/', 400],
  ['http://gateway.test/', 400],
  ['/relative', 400],
])('a client with a whole origin may return from a logout to %s: %i', async (uri, status) => {
  const one = {
    clientId: 'one',
    clientSecret: 'secret',
    redirectUris: [CALLBACK],
    postLogoutOrigin: 'https://gateway.test',
  }
  const other = { ...one, clientId: 'other', postLogoutOrigin: 'https://other.test' }
  await using idp = await startIdp({ port: 0, clients: [one, other] })
  const end = (clientId: string): Promise<Page> => {
    const query = new URLSearchParams({ client_id: clientId, post_logout_redirect_uri: uri })
    return new Browser().visit(`${idp.issuer}/session/end?${query.toString()}`)
  }
  expect((await end('one')).status).toBe(status)
  expect((await end('other')).status).toBe(400)
})

describe('the proxy', () => {
  it('misbehaves while a test asks for it, and counts', async () => {
    const before = proxy.count('jwks')
    proxy.behave({ jwks: (response) => response.writeHead(500).end() })
    expect((await fetch(`${proxy.issuer}/jwks`)).status).toBe(500)
    proxy.behave({ keys: (keys, stranger) => [...keys, stranger] })
    const more = (await (await fetch(`${proxy.issuer}/jwks`)).json()) as { keys: unknown[] }
    expect(more.keys).toHaveLength(2)
    proxy.behave({})
    const honest = (await (await fetch(`${proxy.issuer}/jwks`)).json()) as { keys: unknown[] }
    expect(honest.keys).toHaveLength(1)
    expect(proxy.count('jwks')).toBe(before + 3)
  })

  it('issues ID tokens again', async () => {
    proxy.behave({ idToken: ({ jwt }) => `${jwt.slice(0, -4)}AAAA` })
    await expect(logIn(new Browser(), 'alice')).rejects.toMatchObject({
      cause: { message: 'JWT signature verification failed' },
    })
    proxy.behave({})
  })
})

it('takes the port that it is given, and no other', async () => {
  await using idp = await startIdp({ port: 0, clients: [] })
  const { port } = new URL(idp.origin)
  await expect(startIdp({ port: Number(port), clients: [] })).rejects.toThrow('EADDRINUSE')
})
