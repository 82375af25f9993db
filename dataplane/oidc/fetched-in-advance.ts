// Recognises a request that a browser makes before a person has asked for the page: a prefetch or a prerendering.
// Pages can set `X-Moz` and `Purpose` too, which makes such a request do less, never more.

import type { IncomingHttpHeaders } from 'node:http'

/** @example isFetchedInAdvance({ 'sec-purpose': 'prefetch;prerender' }) // true */
export const isFetchedInAdvance = (headers: IncomingHttpHeaders): boolean =>
  ['sec-purpose', 'purpose', 'x-moz'].some((name) => headers[name] !== undefined)
