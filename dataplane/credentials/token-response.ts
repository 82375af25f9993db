// Takes out of the responses of token endpoints what must not decide whether there is a token.

import type { GuardedFetch } from '../upstream/destinations/guarded-fetch.ts'

/**
 * Without a challenge, which openid-client takes for an answer to our client id and secret, whatever error is in the body:
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
