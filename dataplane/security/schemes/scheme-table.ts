// Defines in one table what the data plane does with each security scheme beside verifying its credentials. What
// verifies them is in `create-authenticate.ts`, and what the language knows of a scheme in
// `language/compile/security.ts`.

import type { SchemeName } from '../../../language/compile/security.ts'

export interface SchemeTraits {
  /** The challenge (RFC 9110 §11.6.1) for a realm, which is quoted already. */
  readonly challenge: (realm: string) => string
  /** What follows the challenge where credentials do not count. */
  readonly onRejection: string
  /** A 403 names the scopes that are needed (RFC 6750 §3.1). */
  readonly namesScopes: boolean
  /**
   * What browsers send by themselves, whatever page asks: then a WebSocket connection must come from a page of ours,
   * and a cookie, of which there may be several, does not decide alone.
   */
  readonly sentByBrowsers: 'cookie' | 'password' | 'nothing'
  /** The credentials end by themselves, or are revoked, and with them what they have opened. */
  readonly isTemporary: boolean
}

const bearer = (realm: string): string => `Bearer realm="${realm}"`

/** RFC 6750 §3.1. */
const INVALID_TOKEN =
  ', error="invalid_token", error_description="The token is wrong, has expired or was revoked"'

export const SCHEMES: Readonly<Record<SchemeName, SchemeTraits>> = {
  basic: {
    challenge: (realm) => `Basic realm="${realm}", charset="UTF-8"`,
    onRejection: '',
    namesScopes: false,
    sentByBrowsers: 'password',
    isTemporary: false,
  },
  api_key: {
    challenge: (realm) => `ApiKey realm="${realm}"`,
    onRejection: '',
    namesScopes: false,
    sentByBrowsers: 'nothing',
    isTemporary: true,
  },
  oauth2: {
    challenge: bearer,
    onRejection: INVALID_TOKEN,
    namesScopes: true,
    sentByBrowsers: 'nothing',
    isTemporary: true,
  },
  oidc: {
    challenge: bearer,
    onRejection: INVALID_TOKEN,
    namesScopes: false,
    sentByBrowsers: 'cookie',
    isTemporary: true,
  },
  hmac: {
    challenge: (realm) => `Signature realm="${realm}"`,
    onRejection: '',
    namesScopes: false,
    sentByBrowsers: 'nothing',
    isTemporary: false,
  },
}
