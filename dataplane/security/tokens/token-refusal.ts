// Says why a token is refused, in a word of a closed list with the claim and what was expected of it. It tells what the
// Realm and the gateway expect, and nothing that a token holds.

import { printableLine } from '../../../telemetry/printable.ts'
import { MAX_TEXT } from '../../audit.ts'
import type { TokenReason, TokenRefusal } from '../../gateway-error.ts'

/** What verifying a token gives. */
export type TokenReading<Claims> =
  | { readonly claims: Claims; readonly refusal?: undefined }
  | { readonly claims?: undefined; readonly refusal: TokenRefusal }

/** @example refusedToken('audience', 'aud', 'api') // { reason: 'audience', claim: 'aud', expected: 'api' } */
export const refusedToken = (
  reason: TokenReason,
  claim?: string,
  expected?: string,
): TokenRefusal => ({
  reason,
  ...(claim !== undefined && { claim: shown(claim) }),
  ...(expected !== undefined && { expected: shown(expected) }),
})

const shown = (text: string): string => printableLine(text.slice(0, MAX_TEXT))

/** Longer than any token of this gateway: larger ones are rejected unread. */
export const MAX_TOKEN_LENGTH = 8192

/** undefined: three parts of base64url, 8 KiB at most. */
export const shapeRefusal = (token: string): TokenRefusal | undefined => {
  if (token.length > MAX_TOKEN_LENGTH)
    return refusedToken('size', undefined, `at most ${MAX_TOKEN_LENGTH} characters`)
  return COMPACT.test(token) ? undefined : refusedToken('malformed', undefined, 'a signed JWT')
}

const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/

/** A check that is none of the library's has refused the token. */
export class RefusedTokenError extends Error {
  readonly refusal: TokenRefusal

  constructor(refusal: TokenRefusal) {
    super(`the token is refused: ${refusal.reason}`)
    this.refusal = refusal
  }
}

/**
 * What an error of jose says of a token.
 * @param expected by the name of the claim, or of the member of the header
 */
export const refusalOfError = (
  error: unknown,
  expected: Readonly<Record<string, string>>,
): TokenRefusal => {
  if (error instanceof RefusedTokenError) return error.refusal
  const [reason, claim = claimOf(error)] = REASONS.get(codeOf(error)) ?? ['malformed']
  const found = reason === 'claim' ? (CLAIMS.get(claim ?? '') ?? 'malformed') : reason
  const wanted = claim !== undefined && Object.hasOwn(expected, claim) ? expected[claim] : undefined
  return refusedToken(found, claim, wanted)
}

/** `claim`: which one says the error. */
const REASONS: ReadonlyMap<string, readonly [TokenReason | 'claim', string?]> = new Map([
  ['ERR_JWT_EXPIRED', ['expired', 'exp']],
  ['ERR_JWT_CLAIM_VALIDATION_FAILED', ['claim']],
  ['ERR_JWS_SIGNATURE_VERIFICATION_FAILED', ['signature']],
  ['ERR_JOSE_ALG_NOT_ALLOWED', ['signature', 'alg']],
  ['ERR_JWKS_NO_MATCHING_KEY', ['unknown_key', 'kid']],
  ['ERR_JWKS_MULTIPLE_MATCHING_KEYS', ['signature', 'kid']],
])

const CLAIMS: ReadonlyMap<string, TokenReason> = new Map([
  ['aud', 'audience'],
  ['iss', 'issuer'],
  ['exp', 'expired'],
  ['nbf', 'not_yet_valid'],
  ['iat', 'not_yet_valid'],
  ['sub', 'no_subject'],
  ['typ', 'type'],
])

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

const claimOf = (error: unknown): string | undefined =>
  error instanceof Error && 'claim' in error && typeof error.claim === 'string'
    ? error.claim
    : undefined
