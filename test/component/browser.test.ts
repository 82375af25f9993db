// The pages of the examples in a real browser: what people see of event streams and of /ws, end to end, from
// the page through the gateway to the router and back.

import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Browser } from 'playwright-core'
import { type Playground, startPlayground } from '../../dev/playground.ts'
import { ANY_PORTS } from '../../dev/ports.ts'
import { findChromium, launchChromium, NO_CHROMIUM, openPage } from '../support/chromium.ts'
import { request } from '../support/http-request.ts'
import { isRealRequired } from '../support/routers/recipe.ts'

const EXAMPLES = join(import.meta.dirname, '../../examples')
const PATIENCE_MS = 60_000
const WITHIN = { timeout: 15_000 }

if (findChromium() !== undefined || isRealRequired()) {
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
        const answer = await request(/'(.*)'/.exec(command ?? '')?.[1] ?? '')
        expect(answer.json()).toEqual({ text: 'Hello Ada, this is a page in a browser' })
        await page.getByText('called with name = Ada').waitFor(WITHIN)
        expect(complaints).toEqual([])
        await page.close()
      },
      PATIENCE_MS,
    )
  })
} else {
  process.stderr.write(`skipped: ${NO_CHROMIUM}\n`)
  it('needs a browser', () => {
    expect(findChromium()).toBeUndefined()
  })
}
