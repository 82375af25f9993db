// Says which flows of an oauth2 scheme the gateway serves itself: their paths accept tokens of its token endpoint too.

export type OAuth2Flow =
  'implicit' | 'authorization_code' | 'client_credentials' | 'resource_owner_password_credentials'

const SERVED: readonly OAuth2Flow[] = ['resource_owner_password_credentials', 'client_credentials']

/**
 * Either opens the token endpoint for all grants. With the other flows, tokens are accepted only from issuers that the
 * realm trusts (behaviour §6).
 * @example isServedFlow('implicit') // false
 */
export const isServedFlow = (flow: OAuth2Flow): boolean => SERVED.includes(flow)
