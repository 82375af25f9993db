// Bounds how many requests for some pages run at a time: those that wait for gateways and keep their responses in memory.

import { Limiter } from '../../base/limiter.ts'
import type { Pages } from './page.ts'

/**
 * Requests beyond the bound are answered with a request to try again.
 * @param most at a time, of all these pages together
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
