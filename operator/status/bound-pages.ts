// Bounds how many requests for some pages are at work at one time: those that wait for gateways, and hold their answers.

import { Limiter } from '../../base/limiter.ts'
import type { Pages } from './page.ts'

/**
 * Requests beyond the bound are answered with a request to try again.
 * @param most at one time, of all the pages together
 */
export const boundPages = (most: number, pages: Pages): Pages => {
  const limiter = new Limiter(most)
  const bound =
    (page: Pages[string]): Pages[string] =>
    async (...values) => {
      if (!limiter.tryAcquire()) return { fault: 'too many requests wait for gateways: ask again' }
      try {
        return await page(...values)
      } finally {
        limiter.release()
      }
    }
  return Object.fromEntries(Object.entries(pages).map(([path, page]) => [path, bound(page)]))
}
