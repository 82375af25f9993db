// Creates the errors of a security scheme, each with its challenge (RFC 9110 §11.6.1, RFC 7617 §2, RFC 6750 §3). They
// tell a client what to do, never which part of its credentials was wrong.

import type { SchemeName } from '../../../language/compile/security.ts'
import {
  GatewayError,
  type NetworkReason,
  type SignatureReason,
  type TokenRefusal,
} from '../../gateway-error.ts'
import { SCHEMES } from './scheme-table.ts'

/**
 * The refusal of a request that has not shown who sends it.
 * @param others schemes of further alternatives, whose challenges `withChallenges` adds
 */
export const unauthorized = (
  scheme: SchemeName,
  realmUri: string,
  others: readonly SchemeName[] = [],
): GatewayError =>
  new GatewayError('svc.error.unauthorized', 'This operation needs credentials', {
    description: `Authenticate by ${[scheme, ...others].join(' or ')}.`,
    headers: { 'www-authenticate': challengeOf(scheme, realmUri) },
  })

/**
 * The refusal of credentials that do not count. `invalid_token` where they are a token (RFC 6750 §3.1).
 * @param why it does not, for logs: the client is not told
 */
export const rejected = (
  scheme: SchemeName,
  realmUri: string,
  why?: TokenRefusal | SignatureReason,
): GatewayError =>
  new GatewayError('svc.error.unauthorized', 'These credentials are not accepted here', {
    description: `Authenticate by ${scheme}; what was sent is wrong, has expired or was revoked.`,
    headers: {
      'www-authenticate': `${challengeOf(scheme, realmUri)}${SCHEMES[scheme].onRejection}`,
    },
    ...(typeof why === 'string' ? { reason: why } : { token: why }),
  })

/**
 * The refusal of somebody who is known.
 * @param scopes what a token would need (RFC 6750 §3.1)
 * @param pointer to the requirement that is not met
 */
export const forbidden = (
  scheme: SchemeName,
  realmUri: string,
  scopes: readonly string[] | undefined,
  pointer?: string,
): GatewayError =>
  new GatewayError('svc.error.forbidden', 'This operation is not open to this caller', {
    description: 'It asks for groups, roles or scopes that the caller does not have.',
    pointer,
    ...(SCHEMES[scheme].namesScopes && scopes !== undefined
      ? { headers: { 'www-authenticate': insufficientScope(scheme, realmUri, scopes) } }
      : {}),
  })

const insufficientScope = (
  scheme: SchemeName,
  realmUri: string,
  scopes: readonly string[],
): string =>
  `${challengeOf(scheme, realmUri)}, error="insufficient_scope", scope="${quote(scopes.join(' ')).replaceAll('%20', ' ')}"`

/** The refusal of somebody whose address is in none of the networks: no credentials would help, so there is no challenge. */
export const outsideNetworks = (reason: NetworkReason, pointer: string | undefined): GatewayError =>
  new GatewayError('svc.error.forbidden', 'This operation is not open to this network', {
    description: 'It may be called from other networks only.',
    reason,
    pointer: pointer && `${pointer}/networks`,
  })

/** What was asked of a request that is refused. */
interface Demand {
  /** The schemes of all alternatives, in the order of the document. */
  readonly schemes: readonly SchemeName[]
  readonly realmUri: string
  /** Whose credentials are refused; undefined: there are none. */
  readonly scheme: SchemeName | undefined
  /** The `Sec-Fetch-Mode` of the request. */
  readonly mode: string | undefined
}

/**
 * A 401 with the challenge of each alternative. Browsers open a window for a password where there is one of Basic: scripts
 * of a page get it only where nothing else stands beside it.
 */
export const withChallenges = (
  error: Error,
  { schemes, realmUri, scheme, mode }: Demand,
): Error => {
  if (!(error instanceof GatewayError) || error.code !== 'svc.error.unauthorized') return error
  const isOfScript = mode !== undefined && mode !== 'navigate'
  const others = schemes.filter((each) => each !== 'basic')
  const shown = isOfScript && others.length > 0 ? others : schemes
  const lines = shown.map((each) => {
    const challenge = challengeOf(each, realmUri)
    return each === scheme ? `${challenge}${SCHEMES[each].onRejection}` : challenge
  })
  const distinct = lines.filter(
    (line, at) =>
      lines.indexOf(line) === at && !lines.some((other) => other.startsWith(`${line}, error=`)),
  )
  return error.respondingWith({ headers: { ...error.headers, 'www-authenticate': distinct } })
}

/** The refusal of somebody who has failed too often: what was sent may be right, and was not looked at. */
export const tooManyFailures = (retryAfterSeconds: number): GatewayError =>
  new GatewayError('svc.error.too_many_requests', 'Too many failed attempts', {
    description: 'One attempt in a second is verified: wait before the next.',
    headers: { 'retry-after': String(retryAfterSeconds) },
  })

/** The refusal of credentials that can't be checked now. */
export const uncheckable = (message: string, retryAfterSeconds: number): GatewayError =>
  new GatewayError('svc.error.overloaded', message, {
    description: 'Try again in a moment.',
    headers: { 'retry-after': String(retryAfterSeconds) },
  })

const challengeOf = (scheme: SchemeName, realmUri: string): string =>
  SCHEMES[scheme].challenge(quote(realmUri))

/** A quoted string (RFC 9110 §5.6.4): what it can't hold is percent-encoded. */
const quote = (text: string): string =>
  encodeURI(text.toWellFormed()).replaceAll('\\', '%5C').replaceAll('"', '%22')
