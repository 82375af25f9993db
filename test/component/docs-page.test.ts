// What a browser makes of a page of documentation: it shows the operations by the files of the gateway, asks nobody else,
// and runs nothing of what a document says.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import type { Browser } from 'playwright-core'
import {
  answers,
  apiOf,
  serveGateway,
  type ServedGateway,
} from '../dataplane/http/served-gateway.ts'
import { chromiumAvailability, launchChromium, openPage } from '../support/chromium.ts'
import { describeWhenAvailable } from '../support/when-available.ts'

const PATIENCE_MS = 120_000
const WITHIN = { timeout: 30_000 }

/** Each part of it runs, asks others or hides the page where it is more than text. */
const HOSTILE = `<img src=x onerror="window.owned=1"><script>window.owned=2</script>
[a](javascript:window.owned=3) <svg onload="window.owned=4"></svg> <style>body{display:none}</style>
<iframe srcdoc="<script>parent.owned=5</script>"></iframe> ![x](http://evil.test/x.png)
<form action="http://evil.test"><button>send</button></form> <a href="javascript:window.owned=6">b</a>
</script><script>window.owned=7</script>`

const documentOf = (basePath: string, words: string): unknown => {
  const body = {
    type: 'object',
    description: words,
    properties: { sku: { type: 'string', description: words } },
  }
  return apiOf(
    {
      '/orders/:id': {
        summary: 'One order',
        description: words,
        get: answers('ok'),
        put: {
          schema: { body },
          ...answers('ok'),
          examples: { [words.slice(0, 60)]: { expect: { status_code: 200, body: words } } },
        },
      },
    },
    {
      id: basePath.slice(1),
      name: words,
      version: {
        base_path: basePath,
        docs_page: '/docs',
        info: {
          description: `${words} {{request.id}}`,
          contact: { name: words, url: 'javascript:window.owned=8' },
        },
      },
    },
  )
}

describeWhenAvailable('a page of documentation in a browser', chromiumAvailability(), () => {
  let browser: Browser
  let gateway: ServedGateway

  beforeAll(async () => {
    gateway = await serveGateway()
    await gateway.load(documentOf('/v1', 'Orders of **all** customers'))
    await gateway.load(documentOf('/hostile', HOSTILE))
    browser = await launchChromium()
  }, PATIENCE_MS)

  afterAll(async () => {
    const parts: readonly (AsyncDisposable | undefined)[] = [browser, gateway]
    for (const part of parts) await part?.[Symbol.asyncDispose]()
  })

  it.each(['/v1/docs', '/v1/docs/'])(
    'shows the operations, at %s',
    async (path) => {
      const { page, complaints } = await openPage(browser, `${gateway.url}${path}`)
      await page.getByText('One order').first().click(WITHIN)
      await page.getByText('Parameters').first().waitFor(WITHIN)
      await page
        .getByRole('strong')
        .or(page.locator('strong', { hasText: 'all' }))
        .first()
        .waitFor(WITHIN)
      expect(await page.getByText('Try it out').count()).toBe(0)
      expect(complaints).toEqual([])
      await page.close()
    },
    PATIENCE_MS,
  )

  it(
    'runs nothing of what a document says, and sends nothing to others',
    async () => {
      await using context = await browser.newContext()
      const seen: string[] = []
      context.on('response', (response) => seen.push(response.url()))
      const { page } = await openPage(context, `${gateway.url}/hostile/docs`)
      for (const operation of await page.getByText('One order').all()) await operation.click(WITHIN)
      await page.getByText('Parameters').first().waitFor(WITHIN)
      for (const link of await page.getByRole('link').all())
        if (!((await link.getAttribute('href')) ?? '').startsWith('#'))
          await link.dispatchEvent('click')
      expect(await page.evaluate('window.owned')).toBeUndefined()
      expect(await page.evaluate("document.querySelectorAll('iframe').length")).toBe(0)
      expect(await page.getByText('One order').first().isVisible()).toBe(true)
      expect(seen.filter((url) => !url.startsWith(`${gateway.url}/hostile/docs`))).toEqual([])
    },
    PATIENCE_MS,
  )
})
