// Tests the web page in a real browser, of an operator with 1,000 documents and 20,000 routes and of a gateway with a
// token: what a person finds there, with and without a mouse, and what hostile documents and pages do not get.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { type Playground, startPlayground } from '../../dev/playground.ts'
import { ANY_PORTS } from '../../dev/ports.ts'
import type { Overview } from '../../web/overview.ts'
import { chromiumAvailability, launchChromium, openPage } from '../support/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { startGateway } from '../support/gateway-process.ts'
import { request } from '../support/http-request.ts'
import { describeWhenAvailable } from '../support/when-available.ts'

const DOCUMENTS = 1000
const ROUTES_EACH = 20
const PATIENCE_MS = 120_000
const WITHIN = { timeout: 20_000 }
const LOADED = { withinMs: 90_000, everyMs: 200 }

/** Runs where it is parsed as HTML. */
const HOSTILE = `<img src=x onerror="window.owned=1"><script>window.owned=2</script>`

const REALM = `apiVersion: v1
kind: Secret
metadata: { name: idp }
stringData: { secret: hush-hush }
---
apiVersion: gateway.svc.dev/v1alpha1
kind: Realm
metadata: { name: example }
spec:
  uri: com.example
  info:
    oidcProviders:
      acme:
        issuer: https://idp.test
        clientId: gateway
        clientSecret: { secretRef: { name: idp, key: secret } }
        redirectUri: http://127.0.0.1:18080/oidc/acme/callback
`

const documentOf = (i: number): string => {
  const paths = Object.fromEntries(
    Array.from({ length: ROUTES_EACH }, (_, j) => [
      `/item-${j}/:id`,
      { get: { action: { type: 'static', body: `${i}/${j}` } } },
    ]),
  )
  return manifestOf(`doc-${String(i).padStart(4, '0')}`, {
    id: `doc-${i}`,
    host: `h${i}.test`,
    realm_uri: 'com.example',
    name: `Document ${i}`,
    versions: { v1: { base_path: `/d${i}`, paths } },
  })
}

const manifestOf = (name: string, document: object): string =>
  JSON.stringify({
    apiVersion: 'gateway.svc.dev/v1alpha1',
    kind: 'ApiSpecification',
    metadata: { name },
    spec: { document },
  })

/** What a colleague writes, on lines of its own. */
const BROKEN = `apiVersion: gateway.svc.dev/v1alpha1
kind: ApiSpecification
metadata: { name: broken }
spec:
  document:
    id: broken
    host: broken.test
    realm_uri: com.example
    name: ${JSON.stringify(HOSTILE)}
    versions:
      v1:
        base_path: /broken
        paths:
          /x:
            get:
              action: { type: ${JSON.stringify(HOSTILE)} }
`

const FAILING = manifestOf('failing', {
  id: HOSTILE,
  host: 'failing.test',
  realm_uri: 'com.example',
  name: HOSTILE,
  versions: {
    v1: {
      base_path: '/down',
      paths: {
        '/fails': { get: { action: { type: 'forward', host: 'http://127.0.0.1:1' } } },
      },
    },
  },
})

const overviewOf = async (url: string): Promise<Overview> =>
  (await request(`${url}/overview`)).json() as Overview

describeWhenAvailable('the web page', chromiumAvailability(), () => {
  let browser: Browser
  let playground: Playground
  let examples: string
  let url: string

  beforeAll(async () => {
    browser = await launchChromium()
    examples = await mkdtemp(join(tmpdir(), 'svc-page-test-'))
    await writeFile(join(examples, 'realm.yaml'), REALM)
    await writeFile(
      join(examples, 'first.yaml'),
      `# Says hello.\n#\n#   curl -i http://127.0.0.1:18080/first\n#   http://127.0.0.1:18080/first\n---\n${documentOf(0)}\n`,
    )
    playground = await startPlayground({
      ports: ANY_PORTS,
      examples,
      onLine: () => undefined,
    })
    url = playground.urls.page
    const { path } = playground.manifests
    const rest = Array.from({ length: DOCUMENTS - 1 }, (_, i) => documentOf(i + 1))
    for (let i = 0; i < rest.length; i += 100)
      await writeFile(join(path, `many-${i}.yaml`), rest.slice(i, i + 100).join('\n---\n'))
    await writeFile(join(path, 'broken.yaml'), BROKEN)
    await writeFile(join(path, 'failing.yaml'), FAILING)
    await eventually(async () => {
      const { documents } = await overviewOf(url)
      if (documents.ready !== DOCUMENTS + 1 || documents.failed !== 1)
        throw new Error(`not all documents are served: ${JSON.stringify(documents)}`)
    }, LOADED)
  }, PATIENCE_MS)

  afterAll(async () => {
    // Not there where `beforeAll` has failed, whatever their types say.
    const parts: readonly (Browser | Playground | undefined)[] = [browser, playground]
    for (const part of parts) await part?.[Symbol.asyncDispose]()
    await rm(examples, { recursive: true, force: true })
  }, PATIENCE_MS)

  let tabs: BrowserContext
  beforeEach(async () => {
    tabs = await browser.newContext()
  })
  afterEach(() => tabs.close())

  const titleOf = (page: Page, title: string): Promise<void> =>
    page.getByRole('heading', { name: title, level: 2 }).waitFor(WITHIN)

  it(
    'shows all documents page by page, the erroneous one first, with its place',
    async () => {
      const { page, complaints } = await openPage(tabs, url)
      await page.getByText(`100 of 1,002 documents`).first().waitFor(WITHIN)
      const first = page.locator('tbody tr').first()
      expect(await first.textContent()).toContain('default/broken')
      expect(await first.textContent()).toContain('Not ready')
      expect(await first.textContent()).toMatch(/broken\.yaml:16:\d+/)
      await page.getByRole('link', { name: 'Next page' }).click()
      await page.getByRole('link', { name: 'First page' }).waitFor(WITHIN)
      expect(await page.locator('tbody tr').count()).toBe(100)

      await page.goto(`${url}/#/document?key=default%2Fbroken`)
      await titleOf(page, 'default/broken')
      const error = page.locator('table', { hasText: 'unsupported_action_type' })
      expect(await error.textContent()).toMatch(/broken\.yaml:16:\d+/)
      expect(await error.textContent()).toContain('/paths/~1x/get/action/type')
      expect(complaints).toEqual([])
    },
    PATIENCE_MS,
  )

  it(
    'finds a document, and which gateway holds which version of it',
    async () => {
      const { page, complaints } = await openPage(tabs, url)
      await page.getByRole('searchbox').fill('h777.test')
      await page.getByRole('searchbox').press('Enter')
      await page.getByText('1 document', { exact: true }).first().waitFor(WITHIN)
      await page.getByRole('link', { name: 'default/doc-0777' }).click()
      await page.getByText('as it should be').waitFor(WITHIN)
      await page.getByRole('link', { name: /^127\.0\.0\.1:/ }).click()
      await page.getByText('synced').first().waitFor(WITHIN)
      expect(complaints).toEqual([])
    },
    PATIENCE_MS,
  )

  it(
    'finds a route among 20,000, and explains which one takes a request',
    async () => {
      const { page, complaints } = await openPage(tabs, `${url}/#/routes`)
      await page.getByText('100 routes, and more follow').first().waitFor(WITHIN)
      await page.getByRole('searchbox').fill('h999.test/d999/item-19')
      await page.getByRole('searchbox').press('Enter')
      await page.getByText('1 route,').first().waitFor(WITHIN)

      await page.getByLabel('URL').fill('http://me:hush@h42.test/d42/item-7/x?token=hush')
      await page.getByRole('button', { name: 'Explain' }).click()
      await page
        .getByText(/^Served/)
        .first()
        .waitFor(WITHIN)
      const explanation = page.locator('#explanation')
      expect(await explanation.textContent()).toContain('/d42/item-7/:id')
      expect(page.url()).not.toContain('hush')

      await page.getByLabel('URL').fill('http://h42.test/nothing')
      await page.getByRole('button', { name: 'Explain' }).click()
      await page
        .getByText(/^Rejected with 404/)
        .first()
        .waitFor(WITHIN)
      expect(complaints).toEqual([])
    },
    PATIENCE_MS,
  )

  it(
    'shows a failure with its why, and runs nothing that documents or requests say',
    async () => {
      const response = await request(`${playground.urls.public}/down/fails`, {
        headers: { host: 'failing.test' },
      })
      expect(response.status).toBe(504)
      const { page, complaints } = await openPage(tabs, `${url}/#/failures`)
      await page.getByText('refused').first().waitFor(WITHIN)
      expect(await page.locator('tbody tr').first().textContent()).toContain(HOSTILE)
      await page.locator('tbody a').first().click()
      await titleOf(page, 'Why')
      await page.getByText('/versions/v1/paths/~1fails/get/action').first().waitFor(WITHIN)

      for (const hash of [
        '#/documents?match=onerror',
        '#/document?key=default%2Fbroken',
        '#/document?key=default%2Ffailing',
        '#/routes?match=onerror',
        `#/documents?match=${encodeURIComponent(HOSTILE)}`,
        `#/why?id=${encodeURIComponent(HOSTILE)}`.replaceAll('%20', ''),
      ]) {
        await page.goto(`${url}/${hash}`)
        await page.locator('main:not([aria-busy]) h2').waitFor(WITHIN)
      }
      expect(await page.evaluate('window.owned')).toBeUndefined()
      expect(await page.locator('main img, main script').count()).toBe(0)
      // The last one asks for a request that no gateway keeps, and says so.
      expect(complaints.filter((each) => !/\b404\b|ERR_ABORTED/.test(each))).toEqual([])
    },
    PATIENCE_MS,
  )

  const VIEWS = ['documents', 'routes', 'gateways', 'realms', 'failures', 'examples'] as const

  it.each(['light', 'dark'] as const)(
    'fits a telephone in every view, %s',
    async (colorScheme) => {
      await using phone = await browser.newContext({
        colorScheme,
        viewport: { width: 360, height: 800 },
      })
      const { page, complaints } = await openPage(phone, url)
      for (const view of [...VIEWS, 'document?key=default%2Fbroken']) {
        await page.goto(`${url}/#/${view}`)
        await page.locator('main:not([aria-busy]) h2').waitFor(WITHIN)
        expect([view, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([
          view,
          360,
        ])
      }
      const background = String(
        await page.evaluate('getComputedStyle(document.body).backgroundColor'),
      )
      const [red = 0] = /\d+/.exec(background)?.map(Number) ?? []
      expect(red < 128).toBe(colorScheme === 'dark')
      // A view that is left reads no further.
      expect(complaints.filter((each) => !each.includes('ERR_ABORTED'))).toEqual([])
    },
    PATIENCE_MS,
  )

  it(
    'is used with the keyboard alone',
    async () => {
      const { page, complaints } = await openPage(tabs, url)
      await page
        .getByText(/of 1,002 documents/)
        .first()
        .waitFor(WITHIN)
      const focused = (): Promise<unknown> =>
        page.evaluate("document.activeElement.id + ' ' + document.activeElement.textContent.trim()")
      await page.keyboard.press('Tab')
      expect(await focused()).toBe('skip Skip to the content')
      await page.keyboard.press('Enter')
      expect(await page.evaluate('document.activeElement.id')).toBe('main')
      await page.keyboard.press('/')
      expect(await page.evaluate('document.activeElement.id')).toBe('search')
      await page.keyboard.type('doc-0500')
      await page.keyboard.press('Enter')
      await page.getByText('1 document', { exact: true }).first().waitFor(WITHIN)
      expect(await page.evaluate('document.activeElement.id')).toBe('search')
      for (let presses = 0; presses < 4; presses++) {
        await page.keyboard.press('Tab')
        if (String(await focused()).includes('default/doc-0500')) break
      }
      expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe(
        'solid',
      )
      await page.keyboard.press('Enter')
      await titleOf(page, 'default/doc-0500')
      expect(complaints).toEqual([])
    },
    PATIENCE_MS,
  )

  it(
    'names what an assistive program needs: one main part, labels of every control',
    async () => {
      const { page } = await openPage(tabs, `${url}/#/routes`)
      await page.getByText('100 routes, and more follow').first().waitFor(WITHIN)
      expect(await page.getByRole('main').count()).toBe(1)
      expect(await page.getByRole('navigation', { name: 'Views' }).count()).toBe(1)
      expect(
        await page.evaluate(
          "[...document.querySelectorAll('input, select, textarea')].filter((each) => each.labels.length === 0).map((each) => each.id)",
        ),
      ).toEqual([])
      expect(await page.locator('#views [aria-current=page]').textContent()).toContain('Routes')
    },
    PATIENCE_MS,
  )

  it(
    'shows realms with their providers and sessions, and no secret',
    async () => {
      const { page, complaints } = await openPage(tabs, `${url}/#/realms`)
      const row = page.locator('tbody tr', { hasText: 'com.example' })
      await row.waitFor(WITHIN)
      expect(await row.textContent()).toMatch(/acme/)
      expect(await page.content()).not.toContain('hush-hush')
      expect(complaints).toEqual([])
    },
    PATIENCE_MS,
  )

  it(
    'links to the examples of the playground',
    async () => {
      const { page, complaints } = await openPage(tabs, `${url}/#/examples`)
      await page.getByText('Says hello').waitFor(WITHIN)
      const link = page.getByRole('link', { name: /\/first$/ })
      expect(await link.getAttribute('rel')).toBe('noopener noreferrer')
      expect(await link.getAttribute('href')).toBe(`${playground.urls.public}/first`)
      expect(complaints).toEqual([])
    },
    PATIENCE_MS,
  )

  it.each(['status', 'management'] as const)(
    'comes with an icon and without errors from the %s listener too',
    async (listener) => {
      const { page, complaints } = await openPage(tabs, playground.urls[listener])
      await titleOf(page, 'Documents')
      await page
        .getByText(/of 1,00\d documents/)
        .first()
        .waitFor(WITHIN)
      const icon = await request(`${playground.urls[listener]}/favicon.ico`)
      expect([icon.status, icon.headers['content-type']]).toEqual([200, 'image/x-icon'])
      expect(complaints).toEqual([])
    },
    PATIENCE_MS,
  )

  describe('a page of another origin', () => {
    let server: Server
    let foreign: string
    beforeAll(async () => {
      server = createServer((_request, response) => {
        response.setHeader('content-type', 'text/html').end('<!doctype html><title>other</title>')
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      foreign = `http://localhost:${(server.address() as AddressInfo).port}`
    })
    afterAll(() => {
      server.closeAllConnections()
      server.close()
    })

    it.each(['page', 'status', 'management'] as const)(
      'may lead to it in a tab, and neither frame it nor read anything: %s',
      async (listener) => {
        const target = playground.urls[listener]
        const page = await tabs.newPage()
        const seen: string[] = []
        page.on('response', (response) => seen.push(`${response.status()} ${response.url()}`))
        page.on('requestfailed', (failed) => seen.push(`failed ${failed.url()}`))
        await page.goto(foreign)
        await page.setContent(`<a href="${target}/">go</a><iframe src="${target}/"></iframe>
          <img src="${target}/page/page.css"><script src="${target}/page/main.js"></script>`)
        for (const mode of ['cors', 'no-cors'])
          await expect(
            page.evaluate(`fetch('${target}/overview', { mode: '${mode}' })`),
          ).rejects.toThrow(/Failed to fetch/)
        await eventually(() => {
          expect(seen).toContain(`403 ${target}/`)
          expect(seen).toContain(`failed ${target}/page/page.css`)
          expect(seen).toContain(`failed ${target}/page/main.js`)
        })

        await page.getByRole('link', { name: 'go' }).click()
        await titleOf(page, 'Documents')
        await page
          .getByText(/documents/)
          .first()
          .waitFor(WITHIN)
      },
      PATIENCE_MS,
    )
  })

  it(
    'asks for the token of a gateway, and keeps it in memory alone',
    async () => {
      const token = join(examples, 'token')
      await writeFile(token, 'open-sesame-token\n')
      await using gateway = await startGateway({ flags: ['--management-token-file', token] })
      const { page } = await openPage(tabs, gateway.management)
      await page.getByLabel('Token of the management API').fill('wrong')
      await page.getByRole('button', { name: 'Use it' }).click()
      await page.getByText('does not accept this token').waitFor(WITHIN)
      await page.getByLabel('Token of the management API').fill('open-sesame-token')
      await page.getByRole('button', { name: 'Use it' }).click()
      await titleOf(page, 'Documents')
      await page.getByText('0 documents').first().waitFor(WITHIN)
      expect(page.url()).not.toContain('sesame')
      expect(
        await page.evaluate(
          'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
        ),
      ).toBe('[{},{},""]')
      expect(await page.content()).not.toContain('sesame')

      await page.getByRole('button', { name: 'Forget the token' }).click()
      await page.getByLabel('Token of the management API').waitFor(WITHIN)
      await page.reload()
      await page.getByLabel('Token of the management API').waitFor(WITHIN)
    },
    PATIENCE_MS,
  )
})
