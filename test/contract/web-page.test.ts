// Tests over real sockets, of a gateway's management API and of an operator's status server alike, who gets the web page
// and who gets data, with which headers.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { allowAll, bearerAuthorizer } from '../../dataplane/management/credentials.ts'
import { type Pages, statusPages } from '../../operator/status/page.ts'
import { overviewPages } from '../../operator/status/overview-pages.ts'
import { startStatusServer } from '../../operator/status/status-server.ts'
import { allowLocal, allowLocalHost } from '../../web/browser-access.ts'
import { request } from '../support/http-request.ts'
import { startGateway } from './management/gateway.ts'

interface Listener {
  readonly url: string
  readonly close: () => Promise<void>
}

const gatewayListener = async (): Promise<Listener> => {
  const app = { authorize: allowLocal, page: allowLocalHost }
  const gateway = await startGateway({ app })
  return { url: gateway.url, close: async () => gateway[Symbol.asyncDispose]() }
}

const STATUS = { isReady: true, isLeading: true, resources: new Map(), dataPlanes: [], notes: [] }

const PAGES: Pages = {
  ...statusPages({
    status: () => STATUS,
    metrics: () => Promise.resolve({ contentType: 'text/plain', text: '' }),
    unready: () => undefined,
  }),
  ...overviewPages({ status: () => STATUS, desired: () => undefined, manager: 'svc' }),
}

const operatorListener = async (): Promise<Listener> =>
  startStatusServer({ kind: 'tcp', host: '127.0.0.1', port: 0 }, 'people', PAGES)

const NAVIGATION = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
const FETCH = { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }

describe.each([
  ['a gateway', gatewayListener],
  ['an operator', operatorListener],
])('the listener of %s on loopback', (_name, start) => {
  let listener: Listener
  beforeAll(async () => {
    listener = await start()
  })
  afterAll(() => listener.close())

  it.each<[string, Readonly<Record<string, string>>, number, number]>([
    ['a program', {}, 200, 200],
    ['the address bar', { 'sec-fetch-site': 'none', ...NAVIGATION }, 200, 200],
    ['the page itself', { 'sec-fetch-site': 'same-origin', ...FETCH }, 200, 200],
    ['a link on a foreign page', { 'sec-fetch-site': 'cross-site', ...NAVIGATION }, 200, 403],
    ['a link of a neighbour', { 'sec-fetch-site': 'same-site', ...NAVIGATION }, 200, 403],
    ['a foreign fetch', { 'sec-fetch-site': 'cross-site', ...FETCH }, 403, 403],
    ['a fetch of a neighbour', { 'sec-fetch-site': 'same-site', ...FETCH }, 403, 403],
    [
      'a foreign frame',
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
      403,
      403,
    ],
    [
      'a service worker',
      { 'service-worker': 'script', 'sec-fetch-dest': 'serviceworker' },
      403,
      200,
    ],
    ['a foreign name (DNS rebinding)', { host: 'evil.example' }, 404, 404],
    [
      'a foreign name, by a page of its own',
      { host: 'evil.example', 'sec-fetch-site': 'same-origin', ...FETCH },
      404,
      404,
    ],
    ['an Origin', { origin: 'https://evil.example' }, 200, 403],
  ])('%s', async (_title, headers, page, data) => {
    const responses = [
      '/',
      '/page/main.js',
      '/favicon.ico',
      '/overview',
      '/overview/documents',
    ].map(async (path) => (await request(`${listener.url}${path}`, { headers })).status)
    expect(await Promise.all(responses)).toEqual([page, page, page, data, data])
  })

  it('sends the page with a policy that lets nothing else run, and keeps nothing', async () => {
    const { headers, text } = await request(`${listener.url}/`)
    const policy = String(headers['content-security-policy']).split('; ')
    for (const directive of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "img-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ])
      expect(policy).toContain(directive)
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'content-type': 'text/html; charset=utf-8',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    })
    expect(text).toContain('<main')
  })

  it('sends data that no cache keeps, as JSON and nothing else', async () => {
    const { headers } = await request(`${listener.url}/overview`)
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    })
  })

  it('sends no body for HEAD, and changes nothing by other methods', async () => {
    const head = await request(`${listener.url}/`, { method: 'HEAD' })
    expect([head.status, head.text, Number(head.headers['content-length']) > 100]).toEqual([
      200,
      '',
      true,
    ])
    expect((await request(`${listener.url}/`, { method: 'POST' })).status).toBeGreaterThan(400)
    expect((await request(`${listener.url}/overview`, { method: 'POST' })).status).toBe(405)
  })

  it.each(['/overview/documents', '/overview/gateways', '/overview/realms'])(
    '%s refuses what it cannot read',
    async (path) => {
      for (const query of ['limit=201', `match=${'x'.repeat(257)}`, `after=${'x'.repeat(1025)}`])
        expect((await request(`${listener.url}${path}?${query}`)).status).toBe(400)
    },
  )
})

describe('a gateway with a token', () => {
  it('gives the page to everybody, and data for the token alone', async () => {
    const authorize = bearerAuthorizer(() => ['secret'])
    await using gateway = await startGateway({ app: { authorize, page: allowAll } })
    const statusOf = async (path: string, headers = {}): Promise<number> =>
      (await request(`${gateway.url}${path}`, { headers })).status
    const token = { authorization: 'Bearer secret' }
    const page = { 'sec-fetch-site': 'same-origin', ...FETCH }
    expect([
      await statusOf('/', { host: 'gateway.example' }),
      await statusOf('/overview', page),
      await statusOf('/overview', { ...page, ...token }),
      await statusOf('/overview', { 'sec-fetch-site': 'cross-site', ...FETCH, ...token }),
    ]).toEqual([200, 401, 200, 403])
  })
})

describe('a listener that has no page', () => {
  it('is that of a gateway with client certificates alone', async () => {
    await using gateway = await startGateway({ app: { authorize: allowAll } })
    expect((await request(`${gateway.url}/`)).status).toBe(404)
    expect((await request(`${gateway.url}/favicon.ico`)).status).toBe(404)
  })

  it.each([
    ['for probes', '127.0.0.1', 'probes'],
    ['that others can reach', '', 'people'],
  ] as const)('is that of an operator %s', async (_title, host, audience) => {
    const server = await startStatusServer({ kind: 'tcp', host, port: 0 }, audience, PAGES)
    const url = `http://127.0.0.1:${new URL(server.url).port}`
    try {
      expect((await request(`${url}/`)).status).toBe(404)
      expect((await request(`${url}/status`, { headers: { host: 'operator.svc' } })).status).toBe(
        200,
      )
    } finally {
      await server.close()
    }
  })
})
