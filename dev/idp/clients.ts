// Defines the clients that may ask the provider to log somebody in, or for tokens of their own.

/** RFC 8693 §2.1. */
export type TokenExchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange'

export interface IdpClient {
  readonly clientId: string
  readonly clientSecret: string
  readonly redirectUris: readonly string[]
  /** To ask for; `authorization_code` where left out. */
  readonly grants?: readonly ('authorization_code' | 'client_credentials' | TokenExchangeGrant)[]
  readonly postLogoutRedirectUris?: readonly string[]
  /** Any URL of this origin is such a URI too, which no real provider would allow. */
  readonly postLogoutOrigin?: string
  /** OpenID Connect Back-Channel Logout 1.0; ID tokens have a `sid` then. May be on loopback. */
  readonly backChannelLogoutUri?: string
}
