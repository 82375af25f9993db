// Builds the responses of the OAuth 2 endpoints, as header lists and texts (RFC 6749 §5.1, §5.2; RFC 7009 §2.2). None
// may be cached.

import { unauthorized } from '../security/schemes/challenge.ts'
import type { OAuthResponse } from './oauth2-endpoint.ts'
import type { OAuthError } from './oauth-error.ts'

type Header = readonly [name: string, value: string]

/** RFC 6749 §5.1. */
export interface TokenFields {
  readonly access_token: string
  readonly token_type: 'Bearer'
  readonly expires_in: number
  readonly refresh_token?: string
  readonly scope?: string
}

export const tokenResponse = (fields: TokenFields): OAuthResponse => jsonResponse(200, fields, [])

/** RFC 7009 §2.2: the client needs nothing but the status. */
export const revokedResponse = (): OAuthResponse => ({ status: 200, headers: NO_STORE, body: '' })

export const refusalResponse = (realmUri: string, refusal: OAuthError): OAuthResponse => ({
  ...jsonResponse(
    refusal.status,
    { error: refusal.code, error_description: refusal.message },
    extraHeaders(realmUri, refusal),
  ),
  code: refusal.code,
})

const extraHeaders = (
  realmUri: string,
  { status, retryAfterSeconds }: OAuthError,
): readonly Header[] => {
  if (retryAfterSeconds !== undefined) return [['retry-after', String(retryAfterSeconds)]]
  if (status !== 401) return []
  // RFC 9110 §15.5.2: a 401 has a challenge, also if the client sent its secret in the form.
  const { 'www-authenticate': challenge } = unauthorized('basic', realmUri).headers
  return [['www-authenticate', typeof challenge === 'string' ? challenge : 'Basic']]
}

const NO_STORE: readonly Header[] = [
  ['cache-control', 'no-store'],
  ['pragma', 'no-cache'],
]

const jsonResponse = (status: number, body: object, extra: readonly Header[]): OAuthResponse => ({
  status,
  headers: [
    ['content-type', 'application/json'],
    ...NO_STORE,
    ['x-content-type-options', 'nosniff'],
    ...extra,
  ],
  body: JSON.stringify(body),
})
