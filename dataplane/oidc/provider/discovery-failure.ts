// Tells why the discovery of a provider failed in a word of a closed list, with what the provider sent instead, for the
// log and the conditions of the Realm. It keeps no userinfo, no query and no body.

import { CodedError } from '../../../base/coded-error.ts'
import type { FailingProvider, ProviderCause } from '../../../language/wire/wire.ts'
import {
  causesIn,
  codeOf,
  connectionCause,
  isUnreachable,
} from '../../upstream/destinations/fetch-failure.ts'

export type DiscoveryFailure = Pick<FailingProvider, 'cause' | 'found'>

/** The metadata can't be used. */
export class MetadataError extends CodedError<'issuer' | 'plain_http' | 'metadata'> {
  /** The issuer that they name. */
  readonly found: string | undefined

  constructor(code: MetadataError['code'], message: string, found?: string) {
    super(code, message)
    this.found = found
  }
}

/** @example discoveryFailureOf(error) // { cause: 'issuer', found: 'https://idp.example/' } */
export const discoveryFailureOf = (error: unknown): DiscoveryFailure => {
  const chain = causesIn(error)
  for (const each of chain) {
    if (each instanceof MetadataError) return failure(each.code, issuerText(each.found))
    const cause = CAUSES.get(codeOf(each))
    if (cause === 'issuer') return failure(cause, issuerText(issuerIn(chain)))
    if (cause === 'status') return failure(cause, statusIn(chain))
    if (cause !== undefined) return failure(cause)
  }
  return failure(chain.some(isUnreachable) ? connectionCause(chain) : 'metadata')
}

const failure = (cause: ProviderCause, found?: string): DiscoveryFailure => ({
  cause,
  ...(found !== undefined && { found }),
})

/** Codes of openid-client, and of the fetch that it is given. */
const CAUSES: ReadonlyMap<string, ProviderCause> = new Map([
  ['OAUTH_HTTP_REQUEST_FORBIDDEN', 'plain_http'],
  ['OAUTH_REQUEST_PROTOCOL_FORBIDDEN', 'plain_http'],
  ['OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED', 'issuer'],
  ['OAUTH_RESPONSE_IS_NOT_CONFORM', 'status'],
  ['OAUTH_RESPONSE_IS_NOT_JSON', 'metadata'],
  ['OAUTH_PARSE_ERROR', 'metadata'],
  ['OAUTH_INVALID_RESPONSE', 'metadata'],
  ['OAUTH_TIMEOUT', 'timeout'],
  ['OAUTH_ABORT', 'timeout'],
  ['timeout', 'timeout'],
  ['too_large', 'metadata'],
])

/** openid-client keeps the metadata, or the response, as the last cause. */
const issuerIn = (chain: readonly unknown[]): unknown => {
  const body = memberOf(chain.at(-1), 'body')
  return memberOf(body, 'issuer')
}

const statusIn = (chain: readonly unknown[]): string | undefined => {
  const status = memberOf(chain.at(-1), 'status')
  return typeof status === 'number' ? String(status) : undefined
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined

/** As the provider wrote it, since a slash at the end matters; undefined if it may hold more than an address. */
export const issuerText = (issuer: unknown): string | undefined =>
  typeof issuer === 'string' && ISSUER.test(issuer) ? issuer : undefined

/** With the braces of a template, which providers of many tenants have: https://login.test/{tenantid}/v2.0 */
const ISSUER = /^https?:\/\/[\w.:[\]{}/~%-]{1,200}$/
