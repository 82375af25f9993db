// Takes out of the responses of token endpoints what must not decide whether there is a token.

import { parseJson } from '../../base/parse-json.ts'
import type { GuardedFetch } from '../upstream/destinations/guarded-fetch.ts'

/**
 * Without `id_token`: we need none, and its issuer is not known to us, so that openid-client would refuse the token beside it.
 *
 * @example const fetch = withoutIdToken(guardedFetch)
 */
export const withoutIdToken =
  (fetch: GuardedFetch): GuardedFetch =>
  async (...request) => {
    const response = await fetch(...request)
    if (response.status !== 200) return response
    const { status, headers } = response
    return new Response(withoutMember(await response.text()), { status, headers })
  }

const withoutMember = (text: string): string => {
  try {
    const body = parseJson(text)
    if (typeof body !== 'object' || body === null || !('id_token' in body)) return text
    return JSON.stringify({ ...body, id_token: undefined })
  } catch {
    // Who reads it says what is wrong.
    return text
  }
}

/**
 * Without a challenge, which openid-client takes for a response to our client id and secret, whatever error is in the body:
 * servers send one for the token of a caller too.
 *
 * @example const fetch = withoutChallenge(guardedFetch)
 */
export const withoutChallenge =
  (fetch: GuardedFetch): GuardedFetch =>
  async (...request) => {
    const response = await fetch(...request)
    response.headers.delete('www-authenticate')
    return response
  }
