// Wraps openid-client: discovery, the authorization URL, the exchange of a code. Every request uses the fetch that is
// passed in; responses of a provider are validated only here.

import type {
  Configuration,
  CustomFetch,
  CustomFetchOptions,
  ServerMetadata,
  TokenEndpointResponse,
  TokenEndpointResponseHelpers,
} from 'openid-client'
import { isMap } from '../../../language/expression/value.ts'
import { ASYMMETRIC_ALGORITHMS } from '../../security/tokens/asymmetric-algorithms.ts'
import { asError } from '../../../base/thrown.ts'
import { parseJson } from '../../../base/parse-json.ts'
import { CodedError } from '../../../base/coded-error.ts'
import type { OidcProviderRecord } from '../../../language/realm/record.ts'
import type { GuardedFetch } from '../../upstream/destinations/guarded-fetch.ts'
import { withoutMembers } from '../../upstream/destinations/token-endpoint.ts'
import type { TokenClaims } from '../../security/tokens/token-claims.ts'
import { clientAuthentication } from './client-authentication.ts'
import { CALL_TIMEOUT_MS, throughGuard } from './provider-fetch.ts'
import { checkMetadata, issuerOfTenant, type ProviderMetadata } from './provider-metadata.ts'
import type { KnownProvider } from './provider-registry.ts'

/** behaviour §6: on ID tokens. */
const TOLERANCE_SECONDS = 30
/** openid-client fetches keys again only if they are older than a minute. The cache decides how often that happens. */
const OLD_ENOUGH_SECONDS = 61
/** Members of a token response that no login needs. */
const UNUSED = ['refresh_token', 'scope']

/** @throws if the metadata is unusable: no response, not JSON, another issuer, no https. */
export const discoverProvider = async (
  record: OidcProviderRecord,
  fetch: GuardedFetch,
): Promise<ProviderMetadata> => {
  const named = namedEndpoints(record)
  const found = isNamedWhole(record)
    ? {
        issuer: record.issuer_pattern ?? record.issuer,
        id_token_signing_alg_values_supported: [...ASYMMETRIC_ALGORITHMS],
      }
    : await discovered(record, fetch)
  return checkMetadata({ ...found, ...named }, record)
}

/** Those of the entry win: a browser and a cluster may know a provider by two names. */
const namedEndpoints = ({
  authorization_endpoint,
  token_endpoint,
  jwks_uri,
}: OidcProviderRecord): Partial<ProviderMetadata> => ({
  ...(authorization_endpoint !== undefined && { authorization_endpoint }),
  ...(token_endpoint !== undefined && { token_endpoint }),
  ...(jwks_uri !== undefined && { jwks_uri }),
})

/** Nothing is left to be discovered. */
const isNamedWhole = (record: OidcProviderRecord): boolean =>
  record.discovery_url === undefined && Object.keys(namedEndpoints(record)).length === 3

const discovered = async (
  record: OidcProviderRecord,
  fetch: GuardedFetch,
): Promise<ServerMetadata> => {
  const client = await import('openid-client')
  const configuration = await client.discovery(
    discoveryUrl(record),
    record.client_id,
    undefined,
    client.None(),
    {
      timeout: CALL_TIMEOUT_MS / 1000,
      [client.customFetch]: throughGuard(record, fetch),
      ...(record.allow_unsafe_http === true && { execute: [plainHttp(client)] }),
    },
  )
  return { ...configuration.serverMetadata() }
}

/** With a path of `.well-known` the library takes it as it is, and leaves it to us to compare the issuer. */
const discoveryUrl = ({
  issuer,
  issuer_pattern: pattern,
  discovery_url: url,
}: OidcProviderRecord) =>
  new URL(
    url ??
      (pattern === undefined
        ? issuer
        : `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`),
  )

export interface AuthorizationParameters {
  readonly state: string
  readonly nonce: string
  /** S256 of the verifier. */
  readonly codeChallenge: string
}

/** Throws if the provider has no authorization endpoint. */
export const authorizationUrl = async (
  record: OidcProviderRecord,
  { metadata }: KnownProvider,
  { state, nonce, codeChallenge }: AuthorizationParameters,
): Promise<string> => {
  const client = await import('openid-client')
  const configuration = new client.Configuration({ ...metadata }, record.client_id)
  if (record.allow_unsafe_http === true) plainHttp(client)(configuration)
  const url = client.buildAuthorizationUrl(configuration, {
    redirect_uri: record.redirect_uri,
    scope: scopeOf(record),
    state,
    nonce,
    code_challenge: codeChallenge,
    code_challenge_method: 'S256',
  })
  return url.href
}

export interface CodeExchange {
  /** The parameters of the callback: `code`, `state`, `iss` and `error`, as often as they were given. */
  readonly parameters: URLSearchParams
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

export interface ExchangedCode {
  readonly idToken: string
  /** Verified: signature, iss, aud, azp, nonce, exp, nbf. */
  readonly claims: TokenClaims
  /** Seconds, of the access token. */
  readonly expiresIn?: number
}

/** The provider, not the login, is at fault: no response, a redirect, 5xx, incomplete or too large. */
export class ProviderError extends CodedError<'no_usable_response'> {
  constructor(cause: unknown) {
    super('no_usable_response', 'the provider did not return a usable response', { cause })
  }
}

/** @throws ProviderError, or an error for an invalid response or ID token. */
export const exchangeCode = async (
  record: OidcProviderRecord,
  provider: KnownProvider,
  exchange: CodeExchange,
  fetch: GuardedFetch,
): Promise<ExchangedCode> => {
  const trace: Trace = { hasFailed: false }
  const known = { record, provider, exchange, fetch: traced(record, provider, fetch, trace) }
  try {
    const tokens = await (record.issuer_pattern === undefined ? grant(known) : grantOfTenant(known))
    const claims = tokens.claims()
    if (claims === undefined || tokens.id_token === undefined) throw new Error('no ID token')
    const expiresIn = tokens.expires_in
    return { idToken: tokens.id_token, claims, ...(expiresIn !== undefined && { expiresIn }) }
  } catch (cause) {
    throw trace.hasFailed ? new ProviderError(cause) : cause
  }
}

interface Trace {
  hasFailed: boolean
}

interface Grant {
  readonly record: OidcProviderRecord
  readonly provider: KnownProvider
  readonly exchange: CodeExchange
  readonly fetch: CustomFetch
}

type Tokens = TokenEndpointResponse & TokenEndpointResponseHelpers

const grant = async ({ record, provider, exchange, fetch }: Grant): Promise<Tokens> => {
  const configuration = await configure(record, provider, fetch)
  const client = await import('openid-client')
  // From the entry, never from Host.
  const callback = new URL(record.redirect_uri)
  callback.search = exchange.parameters.toString()
  return client.authorizationCodeGrant(configuration, callback, {
    expectedState: exchange.state,
    expectedNonce: exchange.nonce,
    pkceCodeVerifier: exchange.verifier,
    idTokenExpected: true,
  })
}

/**
 * The library has to know the issuer before it asks for the token that says which tenant it is of. So the response is kept,
 * and it verifies that in full against the issuer of the tenant: what was read before was not verified.
 */
const grantOfTenant = async (known: Grant): Promise<Tokens> => {
  const { record, provider, fetch } = known
  const tokenUrl = new URL(provider.metadata.token_endpoint).href
  let kept: (Pick<Response, 'headers'> & { readonly body: string }) | undefined
  const keeping: CustomFetch = async (url, options) => {
    const response = await fetch(url, options)
    if (url !== tokenUrl || response.status !== 200) return response
    kept = { headers: response.headers, body: await response.text() }
    return again(kept)
  }
  const first = await grant({ ...known, fetch: keeping }).catch((cause: unknown) => cause)
  if (kept === undefined) throw asError(first)
  const { headers, body } = kept
  const issuer = await issuerIn(record, body)
  return grant({
    ...known,
    provider: { ...provider, metadata: { ...provider.metadata, issuer } },
    fetch: async (url, options) =>
      url === tokenUrl ? again({ headers, body }) : fetch(url, options),
  })
}

const again = ({
  headers,
  body,
}: Pick<Response, 'headers'> & { readonly body: string }): Response =>
  new Response(body, { headers })

const issuerIn = async (
  { issuer_pattern: pattern = '', tenants = [] }: OidcProviderRecord,
  body: string,
): Promise<string> => {
  const response: unknown = parseJson(body)
  const token = isMap(response) ? response['id_token'] : undefined
  const { decodeJwt } = await import('jose')
  const tenant = typeof token === 'string' ? decodeJwt(token)['tid'] : undefined
  if (typeof tenant !== 'string' || !tenants.includes(tenant))
    throw new Error('the tenant (tid) of the ID token is none of tenants')
  return issuerOfTenant(pattern, tenant)
}

/** Creates one for each exchange, which records how the provider behaved in it. */
const configure = async (
  record: OidcProviderRecord,
  { metadata, keys }: KnownProvider,
  fetch: CustomFetch,
): Promise<Configuration> => {
  const client = await import('openid-client')
  const configuration = new client.Configuration(
    { ...metadata },
    record.client_id,
    { client_secret: record.client_secret, [client.clockTolerance]: TOLERANCE_SECONDS },
    await clientAuthentication(record, metadata),
  )
  configuration.timeout = CALL_TIMEOUT_MS / 1000
  configuration[client.customFetch] = fetch
  if (record.allow_unsafe_http === true) plainHttp(client)(configuration)
  // Without it openid-client does not verify the signature of an ID token in the code flow.
  client.enableNonRepudiationChecks(configuration)
  const known = keys.cached()
  if (known !== undefined)
    client.setJwksCache(configuration, {
      jwks: known.jwks,
      uat: Math.floor(Date.now() / 1000) - OLD_ENOUGH_SECONDS,
    })
  return configuration
}

interface PlainHttpDoor {
  readonly allowInsecureRequests: (configuration: Configuration) => void
}

/** Used only for `allow_unsafe_http`. The library marks it deprecated to make it stand out. */
const plainHttp = (door: PlainHttpDoor): PlainHttpDoor['allowInsecureRequests'] =>
  door.allowInsecureRequests

/** Keys come from the cache, everything else from the provider; both leave a trace. */
const traced = (
  record: OidcProviderRecord,
  { metadata, keys }: KnownProvider,
  fetch: GuardedFetch,
  trace: Trace,
): CustomFetch => {
  const guarded = throughGuard(record, fetch)
  return async (url, options) => {
    try {
      const response =
        url === new URL(metadata.jwks_uri).href
          ? await keySetResponse(keys)
          : await withoutMembers(
              await guarded(url, { ...options, body: asWritten(options.body, record) }),
              UNUSED,
            )
      if (response.status >= 500 || Math.floor(response.status / 100) === 3) trace.hasFailed = true
      return response
    } catch (cause) {
      trace.hasFailed = true
      throw cause
    }
  }
}

/**
 * Sends the redirect_uri exactly as in the authorization request (RFC 6749 §4.1.3); openid-client would normalise it.
 */
const asWritten = (
  body: CustomFetchOptions['body'],
  { redirect_uri }: OidcProviderRecord,
): CustomFetchOptions['body'] => {
  if (!(body instanceof URLSearchParams)) return body
  const form = new URLSearchParams(body)
  form.set('redirect_uri', redirect_uri)
  return form
}

const keySetResponse = async (keys: KnownProvider['keys']): Promise<Response> => {
  const { keySet, status } = await keys.refresh()
  return keySet === undefined ? new Response('', { status }) : Response.json(keySet.jwks)
}

/** Without `openid` there is no ID token. */
const scopeOf = ({ scopes = ['openid', 'profile', 'email'] }: OidcProviderRecord): string =>
  (scopes.includes('openid') ? scopes : ['openid', ...scopes]).join(' ')
