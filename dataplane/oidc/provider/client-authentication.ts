// Chooses how the gateway authenticates as a client at a provider's token endpoint, from the provider's entry and
// metadata.

import type { ClientAuth } from 'openid-client'
import type { OidcProviderRecord } from '../../../language/realm/record.ts'
import { clientSecretBasic } from '../../upstream/destinations/token-endpoint.ts'
import type { ProviderMetadata } from './provider-metadata.ts'

/** `token_endpoint_auth_method`, otherwise what the provider lists; Basic is the default of OpenID Connect. */
export const clientAuthentication = async (
  record: OidcProviderRecord,
  metadata: ProviderMetadata,
): Promise<ClientAuth> => {
  const client = await import('openid-client')
  const secret = record.client_secret
  const methods = {
    client_secret_basic: () => clientSecretBasic(secret),
    client_secret_post: () => client.ClientSecretPost(secret),
    client_secret_jwt: () => client.ClientSecretJwt(secret),
    none: () => client.None(),
  } satisfies Record<NonNullable<OidcProviderRecord['token_endpoint_auth_method']>, unknown>
  const method = record.token_endpoint_auth_method
  if (method !== undefined) return methods[method]()
  const listed = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  const isPostOnly =
    !listed.includes('client_secret_basic') && listed.includes('client_secret_post')
  return isPostOnly ? methods.client_secret_post() : methods.client_secret_basic()
}
