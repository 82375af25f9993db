// The pages of the examples in a real browser: what people see of event streams, of /ws and of logging in, end to
// end, from the page through the gateway to the router or the identity provider and back.

import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { Browser, BrowserContext, Page, Route } from 'playwright-core'
import { type Playground, startPlayground } from '../../dev/playground.ts'
import { ANY_PORTS } from '../../dev/ports.ts'
import {
  chromiumAvailability,
  launchChromium,
  type OpenPage,
  openPage,
} from '../support/chromium.ts'
import { request } from '../support/http-request.ts'
import { describeWhenAvailable } from '../support/when-available.ts'

const EXAMPLES = join(import.meta.dirname, '../../examples')
const PATIENCE_MS = 120_000
const WITHIN = { timeout: 30_000 }

describeWhenAvailable('the pages of the examples', chromiumAvailability(), () => {
  let browser: Browser
  let playground: Playground

  beforeAll(async () => {
    browser = await launchChromium()
    const onLine = (): void => undefined
    playground = await startPlayground({ ports: ANY_PORTS, examples: EXAMPLES, onLine })
  }, PATIENCE_MS)

  afterAll(async () => {
    // Not there where `beforeAll` has failed, whatever their types say.
    const parts: readonly (Browser | Playground | undefined)[] = [browser, playground]
    for (const part of parts) await part?.[Symbol.asyncDispose]()
  })

  describe('15-live.yaml', () => {
    it(
      'shows what is published, from the page itself and from elsewhere',
      async () => {
        const live = `${playground.urls.public}/live`
        const { page, complaints } = await openPage(browser, `${live}/page`)
        await page.getByText(/^live$/).waitFor(WITHIN)

        const time = page.locator('#time')
        await time.filter({ hasText: /^\d\d:\d\d:\d\d$/ }).waitFor(WITHIN)
        const first = await time.textContent()
        await time.filter({ hasNotText: first ?? '' }).waitFor(WITHIN)

        await page.getByLabel('Article').selectOption('ZPK1980')
        await page.getByLabel('Quantity').fill('7')
        await page.getByRole('button', { name: 'Place order' }).click()
        await page.getByText('7 × ZPK1980').waitFor(WITHIN)

        const json = { sku: 'C-3', quantity: 9 }
        const made = await request(`${live}/orders`, { method: 'POST', json })
        expect(made.status).toBe(201)
        await page.getByText('9 × C-3').waitFor(WITHIN)
        expect(await page.locator('#orders li').count()).toBe(2)

        await page.evaluate("document.querySelector('[name=quantity]').type = 'text'")
        await page.getByLabel('Quantity').fill('many')
        expect(complaints).toEqual([])
        await page.getByRole('button', { name: 'Place order' }).click()
        await page.getByRole('alert').getByText('quantity (number)').waitFor(WITHIN)
        await page.close()
      },
      PATIENCE_MS,
    )

    it(
      'opens a stream again that was answered with an error, where EventSource gives up',
      async () => {
        await using tabs = await browser.newContext()
        let refused = 0
        const refuse = (route: Route): Promise<void> => {
          refused += 1
          return route.fulfill({ status: 502 })
        }
        for (const path of ['clock', 'orders'])
          await tabs.route(`**/live/${path}`, refuse, { times: 2 })
        const { page } = await openPage(tabs, `${playground.urls.public}/live/page`)
        await page.getByText(/^live$/).waitFor(WITHIN)
        await page
          .locator('#time')
          .filter({ hasText: /^\d\d:\d\d:\d\d$/ })
          .waitFor(WITHIN)
        expect(refused).toBe(4)
      },
      PATIENCE_MS,
    )
  })

  describe.each([
    ['15-live.yaml', '/live/page', /^live$/],
    ['18-websocket.yaml', '/websocket/page', /^connected$/],
  ])('%s', (_file, path, ready) => {
    it(
      'fits a narrow screen',
      async () => {
        const { page } = await openPage(browser, `${playground.urls.public}${path}`)
        await page.setViewportSize({ width: 360, height: 800 })
        await page.getByText(ready).waitFor(WITHIN)
        await page
          .getByText(/curl|Place order/)
          .first()
          .waitFor(WITHIN)
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
        await page.close()
      },
      PATIENCE_MS,
    )
  })

  describe('18-websocket.yaml', () => {
    it(
      'calls, hears events, and answers calls',
      async () => {
        const url = `${playground.urls.public}/websocket/page`
        const { page, complaints } = await openPage(browser, url)
        await page.getByText(/^connected$/).waitFor(WITHIN)

        await page.getByRole('button', { name: 'Call' }).click()
        await page.getByText('= 42').waitFor(WITHIN)
        await page
          .locator('#events')
          .filter({ hasText: /^[2-9]/ })
          .waitFor(WITHIN)

        const command = await page.locator('#command').textContent()
        const response = await request(/'(.*)'/.exec(command ?? '')?.[1] ?? '')
        expect(response.json()).toEqual({ text: 'Hello Ada, this is a page in a browser' })
        await page.getByText('called with name = Ada').waitFor(WITHIN)
        expect(complaints).toEqual([])
        await page.close()
      },
      PATIENCE_MS,
    )
  })

  describe('22-orders.yaml', () => {
    let tabs: BrowserContext
    beforeEach(async () => {
      tabs = await browser.newContext()
    })
    afterEach(() => tabs.close())

    const openOrders = (): Promise<OpenPage> => openPage(tabs, `${playground.urls.public}/my/page`)

    const logIn = async (page: Page, name: string): Promise<void> => {
      await page.getByRole('link', { name: 'Log in' }).click(WITHIN)
      await page.getByLabel('Name').fill(name, WITHIN)
      await page.getByRole('button', { name: 'Log in' }).click()
      await page.locator('#name').getByText(name).waitFor(WITHIN)
      await page.getByText('#2', { exact: true }).waitFor(WITHIN)
    }

    const logOut = async (page: Page): Promise<void> => {
      await page.getByRole('link', { name: 'Log out' }).click()
      await page.getByRole('link', { name: 'Log in' }).waitFor(WITHIN)
    }

    const placeOrder = (page: Page): Promise<void> =>
      page.getByRole('button', { name: 'Place order' }).click()

    /** Each refusal is told twice: as a response, and on the console. */
    const refusals = (complaints: readonly string[]): readonly string[] =>
      complaints.map((each) => /\b[45]\d\d\b/.exec(each.replace(/:\d+\//, ':/'))?.[0] ?? each)

    it(
      'logs in and out; what changes something needs the CSRF value',
      async () => {
        const { page, complaints } = await openOrders()
        await logIn(page, 'alice')
        expect(page.url()).toBe(`${playground.urls.public}/my/page`)
        await page.getByText('customer, admin').waitFor(WITHIN)

        await page.getByLabel('Quantity').fill('8')
        await placeOrder(page)
        await page.getByRole('row', { name: '8 × ZPK1972 open alice' }).waitFor(WITHIN)
        const orders = await page.getByRole('row').count()
        expect(complaints).toEqual([])

        await page.getByLabel('without X-CSRF-Token').check()
        await placeOrder(page)
        await page.getByRole('alert').getByText('must carry X-CSRF-Token').waitFor(WITHIN)
        expect(await page.getByRole('row').count()).toBe(orders)
        expect(refusals(complaints)).toEqual(['403', '403'])

        await logOut(page)
        expect((await tabs.cookies()).filter(({ name }) => name.startsWith('svc_'))).toEqual([])
        // The provider has forgotten, too: it asks again.
        await page.getByRole('link', { name: 'Log in' }).click()
        await page.getByLabel('Name').waitFor(WITHIN)
        expect(refusals(complaints)).toEqual(['403', '403'])
      },
      PATIENCE_MS,
    )

    it(
      'sends to the login and back from a page that asks for one, but not from a frame in it',
      async () => {
        const account = `${playground.urls.public}/my/account`
        const { page } = await openPage(tabs, `${account}?from=mail`)
        await page.getByLabel('Name').fill('alice', WITHIN)
        await page.getByRole('button', { name: 'Log in' }).click()
        await page.getByText('You are alice.').waitFor(WITHIN)
        expect(page.url()).toBe(`${account}?from=mail`)

        await page.goto(`${playground.urls.public}/my/oidc/logout?redirect_uri=/websocket/page`)
        expect(page.url()).toBe(`${playground.urls.public}/websocket/page`)
        await page.goto(account)
        await page.getByLabel('Name').fill('bob', WITHIN)
        await page.getByRole('button', { name: 'Log in' }).click()
        await page.getByText('You are bob.').waitFor(WITHIN)

        // Cookies of the session are gone, the one of the return is not: no circle.
        await tabs.clearCookies({ name: /^svc_/ })
        const again = await page.goto(account)
        expect(again?.status()).toBe(401)
        expect(await again?.text()).toContain('just come back')

        await tabs.clearCookies()
        await page.goto(`${playground.urls.backend}/`)
        await page.setContent(`<iframe src="${account}"></iframe>`)
        const framed = page.frameLocator('iframe')
        await framed.getByText('only pages in a tab').waitFor(WITHIN)
      },
      PATIENCE_MS,
    )

    it(
      'shows scripts the CSRF value and never the ticket',
      async () => {
        const { page } = await openOrders()
        await logIn(page, 'alice')
        const names = String(await page.evaluate('document.cookie')).replaceAll(/=[^;]*/g, '')
        expect(names).toBe('svc_csrf_com.example')
      },
      PATIENCE_MS,
    )

    it(
      'is one session in two tabs; logged out in one, the other learns it at its next call',
      async () => {
        const first = await openOrders()
        await logIn(first.page, 'alice')
        const second = await openOrders()
        await second.page.locator('#name').getByText('alice').waitFor(WITHIN)

        await logOut(first.page)
        await placeOrder(second.page)
        await second.page.getByRole('alert').getByText('session has ended').waitFor(WITHIN)
        expect(first.complaints).toEqual([])
        expect(refusals(second.complaints)).toEqual(['401', '401'])

        await logIn(second.page, 'bob')
        await first.page.reload()
        await first.page.locator('#name').getByText('bob').waitFor(WITHIN)
      },
      PATIENCE_MS,
    )

    it(
      'two tabs that log in at the same time both come through; the last one counts',
      async () => {
        const [first, second] = [await openOrders(), await openOrders()]
        const pages = [first.page, second.page]
        for (const page of pages) {
          await page.getByRole('link', { name: 'Log in' }).click(WITHIN)
          await page.getByLabel('Name').waitFor(WITHIN)
        }
        for (const [page, name] of [
          [second.page, 'bob'] as const,
          [first.page, 'alice'] as const,
        ]) {
          await page.getByLabel('Name').fill(name, WITHIN)
          await page.getByRole('button', { name: 'Log in' }).click()
          await page.locator('#name').getByText(name).waitFor(WITHIN)
        }
        await second.page.reload()
        await second.page.locator('#name').getByText('alice').waitFor(WITHIN)
        expect([...first.complaints, ...second.complaints]).toEqual([])

        // Back to before it logged out: what is shown is what counts now.
        await logOut(first.page)
        await first.page.goBack()
        await first.page.getByRole('link', { name: 'Log in' }).waitFor(WITHIN)
      },
      PATIENCE_MS,
    )

    it(
      'ends when the provider says so',
      async () => {
        const { page, complaints } = await openOrders()
        await logIn(page, 'bob')
        const { page: provider } = await openPage(tabs, `${playground.urls.idp}/session/end`)
        await provider.getByText('See you soon').waitFor(WITHIN)

        await placeOrder(page)
        await page.getByRole('alert').getByText('session has ended').waitFor(WITHIN)
        expect(refusals(complaints)).toEqual(['401', '401'])
      },
      PATIENCE_MS,
    )

    it(
      'asks for a role where the document does',
      async () => {
        const { page, complaints } = await openOrders()
        await logIn(page, 'bob')
        await page.getByTitle('Delete order 1').click()
        await page.getByRole('alert').getByText('only the role admin').waitFor(WITHIN)
        expect(refusals(complaints)).toEqual(['403', '403'])

        await logOut(page)
        await logIn(page, 'alice')
        await page.getByTitle('Delete order 1').click()
        await page.getByTitle('Delete order 1').waitFor({ ...WITHIN, state: 'detached' })
        expect(refusals(complaints)).toEqual(['403', '403'])
      },
      PATIENCE_MS,
    )
  })
})
