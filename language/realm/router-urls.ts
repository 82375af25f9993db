// Lists the addresses of a router's record to which a WebSocket connection can be carried.

import type { RouterRecord } from './record.ts'

/** In the order in which they are tried; none where the router speaks RawSocket alone. */
export const webSocketUrls = (router: RouterRecord | undefined): readonly string[] =>
  urlsOf(router).filter((url) => /^wss?:/i.test(url) && URL.canParse(url))

/** Whether `url` is still an address of the router. */
export const hasUrl = (router: RouterRecord | undefined, url: string): boolean =>
  urlsOf(router).includes(url)

const urlsOf = (router: RouterRecord | undefined): readonly string[] =>
  router?.url === undefined ? (router?.urls ?? []) : [router.url, ...(router.urls ?? [])]
