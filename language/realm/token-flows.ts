// Says which flows of an oauth2 scheme the gateway serves itself: their paths accept tokens of its token endpoint too.

export type OAuth2Flow =
  'implicit' | 'authorization_code' | 'client_credentials' | 'resource_owner_password_credentials'

/** The grant of the token endpoint that a flow is for. */
const GRANT_OF_FLOW: Readonly<Partial<Record<OAuth2Flow, string>>> = {
  resource_owner_password_credentials: 'password',
  client_credentials: 'client_credentials',
}

/** Those of the token endpoint that a realm may leave out. */
export const OWN_GRANTS: readonly string[] = Object.values(GRANT_OF_FLOW)

/** Users of a realm in this group may ask for tokens. */
export const CLIENT_GROUP = 'api_clients'

/**
 * Either opens the token endpoint for all grants. With the other flows, tokens are accepted only from issuers that the
 * realm trusts (behaviour §6).
 * @example isServedFlow('implicit') // false
 */
export const isServedFlow = (flow: OAuth2Flow): boolean => GRANT_OF_FLOW[flow] !== undefined
