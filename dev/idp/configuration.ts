// Builds the configuration of oidc-provider: code flow with PKCE, claims in the ID token, no questions but for the
// name, logout at the provider and at the clients.

import { randomBytes, type KeyObject } from 'node:crypto'
import type { ClientMetadata, Configuration, JWK, KoaContextWithOIDC } from 'oidc-provider'
import { claimsOf, type IdpUser } from './accounts.ts'
import type { IdpClient } from './clients.ts'
import { createMemoryAdapter } from './memory-adapter.ts'
import { errorPage, logoutPage, loggedOutPage } from './pages.ts'

export interface ConfigurationOptions {
  readonly clients: readonly IdpClient[]
  readonly users: readonly IdpUser[]
  readonly signingKey: KeyObject
}

export const INTERACTION_PATH = '/interaction/'

export const configure = ({ clients, users, signingKey }: ConfigurationOptions): Configuration => ({
  adapter: createMemoryAdapter(),
  clients: clients.map(toMetadata),
  jwks: { keys: [{ ...(signingKey.export({ format: 'jwk' }) as JWK), use: 'sig', alg: 'RS256' }] },
  // Cookies are not separated by port: these names are used by no other service on this host.
  cookies: {
    keys: [randomBytes(32).toString('base64url')],
    names: { session: 'idp_session', interaction: 'idp_interaction', resume: 'idp_resume' },
  },
  findAccount: (_context, id) => {
    const user = users.find(({ sub }) => sub === id)
    return user && { accountId: user.sub, claims: () => claimsOf(user) }
  },
  claims: {
    openid: ['sub', 'preferred_username', 'roles', ...extraClaims(users)],
    profile: ['name'],
    email: ['email', 'email_verified'],
  },
  conformIdTokenClaims: false,
  responseTypes: ['code'],
  pkce: { required: () => true },
  loadExistingGrant: grantAll,
  interactions: { url: (_context, { uid }) => `${INTERACTION_PATH}${uid}` },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    backchannelLogout: { enabled: true },
    rpInitiatedLogout: {
      enabled: true,
      logoutSource: (context, form) => {
        context.body = logoutPage(form)
      },
      postLogoutSuccessSource: (context) => {
        context.body = loggedOutPage()
      },
    },
  },
  renderError: (context, { error, error_description: description }) => {
    context.body = errorPage(error, description ?? '')
  },
  // Its guard against requests to inner addresses would stop back-channel logout on loopback.
  fetch: (url, init) => fetch(url, withoutGuard(init)),
  ttl: {
    AccessToken: HOUR,
    AuthorizationCode: 60,
    ClientCredentials: HOUR,
    Grant: HOUR,
    IdToken: HOUR,
    Interaction: HOUR,
    Session: HOUR,
  },
})

const HOUR = 3600

const withoutGuard = (init: RequestInit = {}): RequestInit => {
  const rest = { ...init }
  delete rest.dispatcher
  return rest
}

const toMetadata = (client: IdpClient): ClientMetadata => ({
  client_id: client.clientId,
  client_secret: client.clientSecret,
  redirect_uris: [...client.redirectUris],
  post_logout_redirect_uris: [...(client.postLogoutRedirectUris ?? [])],
  ...grantsOf(client),
  token_endpoint_auth_method: 'client_secret_basic',
  ...(client.backChannelLogoutUri === undefined
    ? {}
    : {
        backchannel_logout_uri: client.backChannelLogoutUri,
        backchannel_logout_session_required: true,
      }),
})

const grantsOf = ({
  grants = ['authorization_code'],
}: IdpClient): Pick<ClientMetadata, 'grant_types' | 'response_types'> => ({
  grant_types: [...grants],
  response_types: grants.includes('authorization_code') ? ['code'] : [],
})

const extraClaims = (users: readonly IdpUser[]): readonly string[] => [
  ...new Set(users.flatMap(({ claims = {} }) => Object.keys(claims))),
]

/** Grants everything that the gateway asks for, without asking the user. */
const grantAll = async ({ oidc }: KoaContextWithOIDC) => {
  const { client, session, provider, params } = oidc
  if (client === undefined || session?.accountId === undefined) return undefined
  const { accountId } = session
  const known = session.grantIdFor(client.clientId)
  const grant =
    (known === undefined ? undefined : await provider.Grant.find(known)) ??
    new provider.Grant({ clientId: client.clientId, accountId })
  const scope = params?.['scope']
  grant.addOIDCScope(typeof scope === 'string' ? scope : 'openid')
  await grant.save()
  return grant
}
