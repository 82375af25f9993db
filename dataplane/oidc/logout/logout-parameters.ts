// Reads from the query of a logout whose cookies to clear and where to redirect. Invalid values are ignored, as a
// logout never fails (specification §4.1).

import { isCookieDomain } from '../../../language/cookie-domain.ts'
import { readTarget } from '../login/login-parameters.ts'
import { readText } from '../query.ts'
import type { OidcContext } from '../context.ts'

export interface LogoutParameters {
  /** Whose cookies are cleared; known to this gateway or not. */
  readonly realmUri: string
  readonly wantedTarget: string | undefined
  /** Overrides the provider's `cookie_domain`. */
  readonly cookieDomain: string | undefined
}

const REALM = /^[\x21-\x7e]{1,255}$/

export const readLogoutParameters = ({ request }: OidcContext): LogoutParameters => {
  const query = new URLSearchParams(request.query)
  const realm = readText(query, 'realm')
  const domain = readText(query, 'cookie_domain')
  return {
    realmUri: realm !== undefined && REALM.test(realm) ? realm : request.realmUri,
    wantedTarget: readTarget(query),
    cookieDomain: domain !== undefined && isCookieDomain(domain) ? domain : undefined,
  }
}
