// What a browser makes of `cors`: pages of two origins call a gateway of a third one.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import type { Browser, Page } from 'playwright-core'
import { GatewayError } from '../../dataplane/gateway-error.ts'
import {
  answers,
  apiOf,
  serveGateway,
  type ServedGateway,
} from '../dataplane/http/served-gateway.ts'
import { refused } from '../dataplane/http/verdicts.ts'
import { chromiumAvailability, launchChromium } from '../support/chromium.ts'
import { describeWhenAvailable } from '../support/when-available.ts'

const PATIENCE_MS = 120_000

const servePage = async (): Promise<Server> => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<title>page</title>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

const originOf = (server: Server): string =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}`

/** `status body`, or `unreadable` for what the browser hides from the page. */
const fetchIn = (page: Page, url: string, init: object = {}): Promise<string> =>
  page.evaluate(
    `fetch(${JSON.stringify(url)}, ${JSON.stringify(init)}).then(
      async (response) => response.status + ' ' + (response.headers.get('x-shown') ?? '') + (response.ok ? await response.text() : ''),
      () => 'unreadable',
    )`,
  )

describeWhenAvailable('cors in a browser', chromiumAvailability(), () => {
  let browser: Browser
  let gateway: ServedGateway
  let pages: readonly Server[]
  let page: Page
  let stranger: Page

  beforeAll(async () => {
    pages = [await servePage(), await servePage()]
    const [own = '', other = ''] = pages.map(originOf)
    const error = new GatewayError('svc.error.unauthorized', 'no')
    const throttled = new GatewayError('svc.error.too_many_requests', 'later')
    gateway = await serveGateway({
      authenticate: (security) =>
        refused(JSON.stringify(security).includes('basic') ? error : throttled),
    })
    const cors = {
      origins: [own],
      allowed_headers: ['x-asked'],
      exposed_headers: ['x-shown'],
      credentials: true,
    }
    const shown = { on_result: { headers: { 'x-shown': 'shown ' } } }
    await gateway.load(
      apiOf(
        {
          '/x': { get: answers('x', shown), put: answers('put') },
          '/cookie': { get: answers("{{request.headers |> get(cookie, 'none')}}") },
          '/secret': { security: { type: 'basic' }, get: answers('x') },
          '/throttled': { security: { type: 'api_key' }, get: answers('x') },
        },
        { defaults: { cors } },
      ),
    )
    browser = await launchChromium()
    const context = await browser.newContext()
    await context.addCookies([{ name: 'a', value: 'b', url: gateway.url }])
    page = await context.newPage()
    stranger = await context.newPage()
    await page.goto(own)
    await stranger.goto(other)
  }, PATIENCE_MS)

  afterAll(async () => {
    const parts: readonly (Browser | undefined)[] = [browser]
    for (const part of parts) await part?.close()
    await gateway[Symbol.asyncDispose]()
    for (const server of pages) server.close()
  })

  it.each<[string, string, object, string]>([
    ['a simple request', '/x', {}, '200 shown"x"'],
    ['one with a preflight', '/x', { method: 'PUT', headers: { 'x-asked': '1' } }, '200 "put"'],
    ['a header that is not allowed', '/x', { headers: { 'x-other': '1' } }, 'unreadable'],
    ['a request with a cookie', '/cookie', { credentials: 'include' }, '200 "a=b"'],
    ['one without', '/cookie', { credentials: 'omit' }, '200 "none"'],
    ['401', '/secret', {}, '401 '],
    ['404', '/nothing', {}, '404 '],
    ['405', '/cookie', { method: 'POST' }, '405 '],
    ['429', '/throttled', {}, '429 '],
  ])(
    'lets the page of a listed origin read %s, and no other page',
    async (_, ...[path, init, read]) => {
      expect(await fetchIn(page, gateway.url + path, init)).toBe(read)
      expect(await fetchIn(stranger, gateway.url + path, init)).toBe('unreadable')
    },
    PATIENCE_MS,
  )
})
