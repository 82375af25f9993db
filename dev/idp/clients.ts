// Defines the clients that may ask the provider to log somebody in.

export interface IdpClient {
  readonly clientId: string
  readonly clientSecret: string
  readonly redirectUris: readonly string[]
  readonly postLogoutRedirectUris?: readonly string[]
  /** Any URL of this origin is such a URI too, which no real provider would allow. */
  readonly postLogoutOrigin?: string
  /** OpenID Connect Back-Channel Logout 1.0; ID tokens have a `sid` then. May be on loopback. */
  readonly backChannelLogoutUri?: string
}
