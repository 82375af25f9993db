// Asks an authorization server for a token, for the gateway itself (RFC 6749 §4.4) or in exchange for that of a caller
// (RFC 8693). The server may be hostile: what it sends is bounded, and nothing of it is kept but a token that was checked.

import type * as OpenidClient from 'openid-client'
import type { ClientAuth, Configuration } from 'openid-client'
import { isToken } from '../../language/realm/credentials.ts'
import type { CredentialRecord } from '../../language/realm/record.ts'
import type { CredentialProblem } from '../../language/wire/wire.ts'
import {
  causesIn,
  codeOf,
  connectionCause,
  isUnreachable,
} from '../upstream/destinations/fetch-failure.ts'
import type { GuardedFetch } from '../upstream/destinations/guarded-fetch.ts'
import { clientSecretBasic, withoutMembers } from '../upstream/destinations/token-endpoint.ts'
import { CredentialError } from './credential.ts'
import { createToken, type UpstreamToken } from './token.ts'

type ClientCredentials = NonNullable<CredentialRecord['client_credentials']>
type TokenExchange = NonNullable<CredentialRecord['token_exchange']>

export interface TokenRequestDeps {
  readonly fetch: GuardedFetch
  /** Unix time, milliseconds. */
  readonly now: () => number
  /** 0 ≤ random < 1 */
  readonly random: () => number
}

const TIMEOUT_MS = 5000
const MAX_BYTES = 64 * 1024
const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
/** An ID token may be of an issuer that we do not know, so that openid-client would refuse the token beside it. */
const UNUSED = ['id_token', 'refresh_token', 'scope']
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'

/** @throws CredentialError `credential_token` */
export const requestClientToken = async (
  record: ClientCredentials,
  deps: TokenRequestDeps,
): Promise<UpstreamToken> =>
  requestToken(record, deps, (client, configuration) =>
    client.clientCredentialsGrant(configuration, requestedRights(record)),
  )

/** @throws CredentialError `credential_token`, or `credential_subject` where the server refuses the caller's token */
export const exchangeToken = async (
  record: TokenExchange,
  subjectToken: string,
  deps: TokenRequestDeps,
): Promise<UpstreamToken> => {
  const { subject_token_type: type = ACCESS_TOKEN, requested_token_type: requested } = record
  const fetch = withoutChallenge(deps.fetch)
  try {
    return await requestToken(record, { ...deps, fetch }, (client, configuration) =>
      client.genericGrantRequest(configuration, EXCHANGE, {
        subject_token: subjectToken,
        subject_token_type: type,
        ...(requested !== undefined && { requested_token_type: requested }),
        ...requestedRights(record),
      }),
    )
  } catch (error) {
    throw error instanceof CredentialError ? blamedOnSubject(error) : error
  }
}

/**
 * Without a challenge, which openid-client takes for a response to our client id and secret, whatever error is in the body:
 * servers send one for the token of a caller too.
 */
const withoutChallenge =
  (fetch: GuardedFetch): GuardedFetch =>
  async (...request) => {
    const response = await fetch(...request)
    response.headers.delete('www-authenticate')
    return response
  }

const requestedRights = ({
  scopes,
  audience,
  resource,
}: ClientCredentials): Record<string, string> => ({
  ...(scopes !== undefined && scopes.length > 0 && { scope: scopes.join(' ') }),
  ...(audience !== undefined && { audience }),
  ...(resource !== undefined && { resource }),
})

type Library = typeof OpenidClient

interface TokenResponse {
  readonly access_token: string
  readonly token_type: string
  readonly expires_in?: number | undefined
}

const requestToken = async (
  record: ClientCredentials,
  { fetch, now, random }: TokenRequestDeps,
  grant: (client: Library, configuration: Configuration) => Promise<TokenResponse>,
): Promise<UpstreamToken> => {
  const client = await import('openid-client')
  const sinceMs = now()
  let response: TokenResponse
  try {
    response = await grant(client, configure(client, record, fetch))
  } catch (error) {
    // Not as its cause: the library keeps the response there, and a log would show it.
    throw failed(problemOf(error))
  }
  const { access_token: value, token_type: type, expires_in: expiresIn } = response
  if (type.toLowerCase() !== 'bearer' || !isToken(value)) throw failed({ cause: 'response' })
  return createToken(value, expiresIn, { sinceMs, random: random() })
}

const configure = (
  client: Library,
  record: ClientCredentials,
  fetch: GuardedFetch,
): Configuration => {
  const { token_endpoint: endpoint, ca } = record
  const limits = { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, ...(ca !== undefined && { ca }) }
  const configuration = new client.Configuration(
    { issuer: new URL(endpoint).origin, token_endpoint: endpoint },
    record.client_id,
    undefined,
    authentication(client, record),
  )
  configuration.timeout = TIMEOUT_MS / 1000
  configuration[client.customFetch] = async (url, { method, headers, body, signal }) => {
    const init = {
      method,
      headers,
      ...(body instanceof URLSearchParams && { body: body.toString() }),
      ...(signal && { signal }),
    }
    return withoutMembers(await fetch(url, init, limits), UNUSED)
  }
  if (record.allow_unsafe_http === true) plainHttp(client)(configuration)
  return configuration
}

const authentication = (client: Library, record: ClientCredentials): ClientAuth => {
  const { client_secret: secret } = record
  const methods = {
    client_secret_basic: () => clientSecretBasic(secret),
    client_secret_post: () => client.ClientSecretPost(secret),
  } satisfies Record<NonNullable<ClientCredentials['token_endpoint_auth_method']>, unknown>
  return methods[record.token_endpoint_auth_method ?? 'client_secret_basic']()
}

interface PlainHttpDoor {
  readonly allowInsecureRequests: (configuration: Configuration) => void
}

/** Used only for `allow_unsafe_http`. The library marks it deprecated to make it stand out. */
const plainHttp = (door: PlainHttpDoor): PlainHttpDoor['allowInsecureRequests'] =>
  door.allowInsecureRequests

/** Codes of openid-client, and of the fetch that it is given. */
const CAUSES: ReadonlyMap<string, CredentialProblem['cause']> = new Map([
  ['OAUTH_WWW_AUTHENTICATE_CHALLENGE', 'invalid_client'],
  ['OAUTH_RESPONSE_IS_NOT_CONFORM', 'status'],
  ['OAUTH_RESPONSE_IS_NOT_JSON', 'response'],
  ['OAUTH_PARSE_ERROR', 'response'],
  ['OAUTH_INVALID_RESPONSE', 'response'],
  ['OAUTH_UNSUPPORTED_OPERATION', 'response'],
  ['OAUTH_TIMEOUT', 'timeout'],
  ['OAUTH_ABORT', 'timeout'],
  ['timeout', 'timeout'],
  ['too_large', 'response'],
])

const problemOf = (error: unknown): CredentialProblem => {
  const chain = causesIn(error)
  const said = chain.map(errorIn).find((each) => each !== undefined)
  if (said === 'invalid_client') return { cause: 'invalid_client' }
  if (said !== undefined) return { cause: 'oauth_error', found: said }
  for (const each of chain) {
    const cause = CAUSES.get(codeOf(each))
    if (cause !== 'status') {
      if (cause !== undefined) return { cause }
      continue
    }
    const status = statusIn(chain)
    return { cause, ...(status !== undefined && { found: status }) }
  }
  return { cause: chain.some(isUnreachable) ? connectionCause(chain) : 'response' }
}

/** RFC 6749 §5.2. What is none of its codes, in form, might be anything. */
const ERROR_CODE = /^[a-z_]{1,64}$/

const errorIn = (error: unknown): string | undefined => {
  if (codeOf(error) !== 'OAUTH_RESPONSE_BODY_ERROR') return undefined
  const said = error instanceof Error && 'error' in error ? error.error : undefined
  return typeof said === 'string' && ERROR_CODE.test(said) ? said : 'unknown_error'
}

const statusIn = (chain: readonly unknown[]): string | undefined => {
  for (const each of chain) if (each instanceof Response) return String(each.status)
  return undefined
}

/** Errors for a subject token that is not valid, or not acceptable: RFC 8693 §2.2.2, and what servers add to them. */
const OF_SUBJECT: ReadonlySet<string> = new Set([
  'invalid_request',
  'invalid_grant',
  'invalid_token',
  'invalid_target',
  'access_denied',
  'interaction_required',
  'login_required',
  'consent_required',
])

const blamedOnSubject = (error: CredentialError): CredentialError => {
  const { problem } = error
  const isOfSubject = problem?.cause === 'oauth_error' && OF_SUBJECT.has(problem.found ?? '')
  if (!isOfSubject) return error
  return new CredentialError(
    'credential_subject',
    `the authorization server does not exchange the token of this caller (${problem.found ?? ''})`,
  )
}

const failed = (problem: CredentialProblem): CredentialError => {
  const found = problem.found === undefined ? '' : ` (${problem.found})`
  return new CredentialError('credential_token', `${WORDS[problem.cause]}${found}`, { problem })
}

const WORDS = {
  refused: 'the token endpoint does not accept connections',
  dns: "the name of the token endpoint can't be resolved",
  tls: 'TLS with the token endpoint failed; a private CA belongs in ca, or --upstream-ca',
  denied: 'the token endpoint is not an allowed destination (--upstream-allow, --upstream-deny)',
  timeout: 'the token endpoint did not answer within 5 s',
  reset: 'what listens at the token endpoint does not answer in HTTP',
  status: 'the token endpoint answered with a status that is neither a token nor an OAuth error',
  response: 'the token endpoint sent no bearer token that can be used',
  invalid_client: 'the token endpoint does not accept the client id and secret',
  oauth_error: 'the token endpoint refused with an OAuth error',
} as const satisfies Partial<Record<CredentialProblem['cause'], string>> as Readonly<
  Record<CredentialProblem['cause'], string>
>
