// Validates the metadata of a provider: endpoints to which a browser or the gateway may be sent, and algorithms that
// are trusted.

import type { OidcProviderRecord } from '../../../language/realm/record.ts'
import { ASYMMETRIC_ALGORITHMS } from '../../security/tokens/asymmetric-algorithms.ts'
import { MetadataError } from './discovery-failure.ts'

/** From OpenID Connect Discovery 1.0 §3; other members are kept for openid-client. */
export interface ProviderMetadata {
  readonly issuer: string
  readonly authorization_endpoint?: string
  readonly token_endpoint: string
  readonly jwks_uri: string
  readonly end_session_endpoint?: string
  readonly id_token_signing_alg_values_supported?: string[]
  readonly token_endpoint_auth_methods_supported?: string[]
}

interface Discovered extends Partial<Omit<ProviderMetadata, 'issuer'>> {
  readonly issuer: string
}

/**
 * The issuer is compared as text (Discovery §4.3), that of a provider of many tenants with its pattern. Endpoints are https unless the entry allows otherwise.
 * @throws MetadataError for metadata that no login could use
 */
export const checkMetadata = (
  found: Discovered,
  record: Pick<OidcProviderRecord, 'issuer' | 'issuer_pattern' | 'allow_unsafe_http'>,
): ProviderMetadata => {
  if (found.issuer !== (record.issuer_pattern ?? record.issuer)) {
    throw new MetadataError('issuer', 'discovery names another issuer', found.issuer)
  }
  const { end_session_endpoint, ...rest } = found
  const isSafe = (url: string | undefined): url is string => isSafeUrl(url, record)
  const { authorization_endpoint: authorization, token_endpoint, jwks_uri } = found
  if (!isSafe(token_endpoint) || !isSafe(jwks_uri)) {
    throw new MetadataError(
      isPlain(token_endpoint) || isPlain(jwks_uri) ? 'plain_http' : 'metadata',
      'discovery names no token_endpoint or jwks_uri that is https',
    )
  }
  if (authorization !== undefined && !isSafe(authorization)) {
    throw new MetadataError(
      isPlain(authorization) ? 'plain_http' : 'metadata',
      'discovery names an authorization_endpoint that is not https',
    )
  }
  const algorithms = found.id_token_signing_alg_values_supported
  return {
    ...rest,
    token_endpoint,
    jwks_uri,
    ...(isSafe(end_session_endpoint) && { end_session_endpoint }),
    ...(Array.isArray(algorithms) && {
      id_token_signing_alg_values_supported: algorithms.filter((each) =>
        ASYMMETRIC_ALGORITHMS.includes(each),
      ),
    }),
  }
}

const isPlain = (url: string | undefined): boolean =>
  typeof url === 'string' && url.startsWith('http:')

/** Whether a browser, or the gateway, may be sent there. */
export const isSafeUrl = (
  url: string | undefined,
  { allow_unsafe_http = false }: Pick<OidcProviderRecord, 'allow_unsafe_http'>,
): url is string => {
  const parsed = typeof url === 'string' ? URL.parse(url) : null
  if (parsed?.username !== '' || parsed.password !== '') return false
  return parsed.protocol === 'https:' || (allow_unsafe_http && parsed.protocol === 'http:')
}

/** @example issuerOfTenant('https://login.test/{tenantid}/v2.0', 'a') // 'https://login.test/a/v2.0' */
export const issuerOfTenant = (pattern: string, tenant: string): string =>
  pattern.split('{tenantid}').join(tenant)

/** Whose tokens count: the issuer, or those of the tenants that the Realm lists. */
export const issuersOf = ({
  issuer,
  issuer_pattern: pattern,
  tenants = [],
}: Pick<OidcProviderRecord, 'issuer' | 'issuer_pattern' | 'tenants'>): string[] =>
  pattern === undefined ? [issuer] : tenants.map((tenant) => issuerOfTenant(pattern, tenant))
