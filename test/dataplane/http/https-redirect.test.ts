// Tests the redirect from http to https: what is redirected where, and what gets a 404 with the reason.

import { afterEach, describe, expect, it } from '@jest/globals'
import { answers, apiOf, serveGateway, type ServedGateway } from './served-gateway.ts'

let gateway: ServedGateway

afterEach(async () => {
  await gateway[Symbol.asyncDispose]()
})

const PATHS = {
  '/x': { headers: { 'x-a': 'a', location: '/evil' }, get: answers('x') },
  '/post': { post: answers('x') },
  '/files/[...]': { get: answers('x') },
  '/locked': { security: { type: 'basic' }, get: answers('x') },
  '/plain': { redirect_http: false, get: answers('plain') },
}

const serve = async (
  host: string,
  options: Parameters<typeof serveGateway>[0] = {},
): Promise<void> => {
  gateway = await serveGateway(options)
  await gateway.load(apiOf(PATHS, { host, defaults: { redirect_http: true } }))
}

const ask = async (
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<readonly unknown[]> => {
  const response = await gateway.ask(method, path, { headers })
  return [response.status, response.headers.location]
}

describe('a request over http for a path of https', () => {
  it.each([
    ['GET', '/x', 'a.test', 'https://a.test/x'],
    ['HEAD', '/x', 'a.test', 'https://a.test/x'],
    ['GET', '/x/', 'a.test', 'https://a.test/x/'],
    ['GET', '/x?a=b&c=%2F//evil', 'a.test', 'https://a.test/x?a=b&c=%2F//evil'],
    ['GET', '/files/%2F%2fevil.test/%5c', 'a.test', 'https://a.test/files/%2F%2fevil.test/%5c'],
    ['GET', '/files/a@evil.test', 'a.test', 'https://a.test/files/a@evil.test'],
    ['GET', '/x', 'A.TEST:8080', 'https://a.test/x'],
    ['GET', '/x', '.a.test.', 'https://a.test/x'],
    ['GET', '/x', 'b.a.test:1', 'https://b.a.test/x'],
    ['GET', '/post', 'a.test', 'https://a.test/post'],
    ['GET', '/locked', 'a.test', 'https://a.test/locked'],
  ])('%s %s at %s is redirected', async (method, path, host, location) => {
    await serve('[...]a.test')
    expect(await ask(method, path, { host, 'x-forwarded-host': 'evil.test' })).toEqual([
      308,
      location,
    ])
    expect(gateway.inFlight.count).toBe(0)
  })

  it('has the headers of the path', async () => {
    await serve('a.test')
    expect((await gateway.ask('GET', '/x')).headers['x-a']).toBe('a')
  })

  it.each([
    ['POST', '/post', 404],
    ['PUT', '/x', 404],
    ['OPTIONS', '/x', 404],
    ['GET', '//evil.test', 404],
    ['GET', '/none', 404],
    ['GET', '/plain', 200],
  ])('%s %s is not redirected: %d', async (method, path, status) => {
    await serve('a.test')
    expect(await ask(method, path, {})).toEqual([status, path === '/x' ? '/evil' : undefined])
  })

  it('that is a preflight is answered', async () => {
    await serve('a.test')
    const headers = { origin: 'https://b.test', 'access-control-request-method': 'GET' }
    const response = await gateway.ask('OPTIONS', '/x', { headers })
    expect([response.status, response.headers.allow]).toEqual([204, 'GET, HEAD, OPTIONS'])
  })

  it.each([
    ['https://a.test:8443', '_', 'a.test', 'https://a.test:8443/x'],
    ['https://a.test/app', 'a.test', 'a.test:80', 'https://a.test/x'],
    ['https://b.test:8443', 'a.test', 'a.test', 'https://a.test/x'],
    ['http://a.test:8080', 'a.test', 'a.test', 'https://a.test/x'],
  ])(
    'with --base-url %s, of a document on %s, from %s, goes to %s',
    async (baseUrl, host, name, location) => {
      await serve(host, { baseUrl })
      expect(await ask('GET', '/x', { host: name })).toEqual([308, location])
    },
  )

  it.each([
    { from: 'any host without --base-url', host: '_', reason: '--base-url' },
    {
      from: 'any host, where --base-url has another',
      host: '_',
      options: { baseUrl: 'https://b.test' },
      reason: '--base-url',
    },
    { from: 'any name of two labels', host: ':_.:_', reason: '--base-url' },
    {
      from: 'a trusted proxy that names no scheme',
      options: { trustedProxies: ['127.0.0.1/32'] },
      headers: { 'x-forwarded-for': '1.2.3.4' },
      reason: 'X-Forwarded-Proto',
    },
  ])('from $from is a 404 with the reason', async (asked) => {
    await serve(asked.host ?? 'a.test', asked.options)
    const response = await gateway.ask('GET', '/x', { headers: { ...asked.headers } })
    expect(response.status).toBe(404)
    expect(response.json()).toMatchObject({
      code: 'svc.error.not_found',
      description: expect.stringContaining(asked.reason),
    })
  })

  it.each(['https, http', 'http, https', 'https,https', 'HTTPS', 'wss'])(
    'from an address that is not trusted with X-Forwarded-Proto %p is a 404 with the reason',
    async (proto) => {
      await serve('a.test')
      const response = await gateway.ask('GET', '/x', { headers: { 'x-forwarded-proto': proto } })
      expect([response.status, response.json()]).toEqual([
        404,
        expect.objectContaining({ description: expect.stringContaining('not trusted') as unknown }),
      ])
    },
  )

  it.each(['https, http', 'http, https', 'https,https', 'http,http', 'wss', 'ws', ''])(
    'from a trusted proxy with X-Forwarded-Proto %p is a 404 with the reason',
    async (proto) => {
      await serve('a.test', { trustedProxies: ['127.0.0.1/32'] })
      const response = await gateway.ask('GET', '/x', { headers: { 'x-forwarded-proto': proto } })
      expect([response.status, response.json()]).toEqual([
        404,
        expect.objectContaining({
          description: expect.stringContaining('neither http nor https') as unknown,
        }),
      ])
    },
  )

  it.each(['http', 'HTTP ', 'httpsx', ''])(
    'from an address that is not trusted with X-Forwarded-Proto %p is redirected',
    async (proto) => {
      await serve('a.test')
      expect(await ask('GET', '/x', { 'x-forwarded-proto': proto })).toEqual([
        308,
        'https://a.test/x',
      ])
    },
  )

  it('is redirected by what a trusted proxy says, and served once the proxy says https', async () => {
    await serve('a.test', { trustedProxies: ['127.0.0.1/32'] })
    expect(await ask('GET', '/files/a', { 'x-forwarded-proto': 'http' })).toEqual([
      308,
      'https://a.test/files/a',
    ])
    expect(await ask('GET', '/files/a', { 'x-forwarded-proto': 'https' })).toEqual([200, undefined])
  })

  it('is served where another document has it over http', async () => {
    await serve('a.test')
    await gateway.load(
      apiOf(
        { '/x': { post: answers('other') }, '/post': { get: answers('other') } },
        { host: 'a.test', id: 'other' },
      ),
    )
    expect(await ask('GET', '/post', {})).toEqual([200, undefined])
    expect(await ask('GET', '/x', {})).toEqual([308, 'https://a.test/x'])
  })
})
