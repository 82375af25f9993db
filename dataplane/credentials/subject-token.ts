// Finds the bearer token that a caller was authenticated by, to be exchanged for another one. It verifies nothing: the
// request has been authenticated.

import { readAuthorization } from '../security/schemes/authorization-header.ts'
import { cookieValues, ticketCookieName } from '../security/session-cookies.ts'

/**
 * That of the Authorization header; without one, the ticket of the session cookie, if there is only one: of several,
 * some may be forged.
 * @param scheme that authenticated the caller; undefined: none did
 * @example subjectToken(['Authorization', 'Bearer abc'], 'oauth2', 'com.acme') // 'abc'
 */
export const subjectToken = (
  rawHeaders: readonly string[],
  scheme: unknown,
  realmUri: string,
): string | undefined => {
  if (scheme !== 'oauth2' && scheme !== 'oidc') return undefined
  const authorization = readAuthorization(rawHeaders)
  if (authorization !== undefined)
    return authorization.scheme === 'bearer' && authorization.credentials !== ''
      ? authorization.credentials
      : undefined
  if (scheme !== 'oidc') return undefined
  const tickets = new Set(cookieValues(rawHeaders, ticketCookieName(realmUri)))
  tickets.delete('')
  const [ticket] = tickets
  return tickets.size === 1 ? ticket : undefined
}
