// Builds the responses of the OIDC endpoints, as header lists and texts: a redirect, or an error of specification
// §7.1. They may not be cached, send no referrer, and never allow credentials across origins.

import type { OidcResponse, OidcRequest } from './oidc-endpoint.ts'

type Header = readonly [name: string, value: string]

const RETRY_AFTER_SECONDS = '5'

/** @param cookies whole `Set-Cookie` values, in their order */
export const redirect = (
  request: OidcRequest,
  location: string,
  cookies: readonly string[],
): OidcResponse => ({
  status: 302,
  headers: [
    ...commonHeaders(request),
    ['location', location],
    ...cookies.map((cookie) => ['set-cookie', cookie] as const),
  ],
  body: '',
})

/** `{"error": "<code>"}` and nothing else: no host, no stack, no text of a provider. */
export const errorResponse = (
  request: OidcRequest,
  status: number,
  code: string,
): OidcResponse => ({
  status,
  headers: [
    ...commonHeaders(request),
    ['content-type', 'application/json; charset=utf-8'],
    ['x-content-type-options', 'nosniff'],
    ...(status === 503 ? [['retry-after', RETRY_AFTER_SECONDS] as const] : []),
  ],
  body: JSON.stringify({ error: code }),
  code,
})

/** OpenID Connect Back-Channel Logout 1.0 §2.8. */
export const done = (request: OidcRequest): OidcResponse => ({
  status: 200,
  headers: commonHeaders(request),
  body: '',
})

const commonHeaders = ({ headers }: OidcRequest): readonly Header[] => [
  ['cache-control', 'no-store'],
  ['referrer-policy', 'no-referrer'],
  ['vary', 'Origin'],
  ...(headers.origin === undefined
    ? []
    : [['access-control-allow-origin', headers.origin] as const]),
]
