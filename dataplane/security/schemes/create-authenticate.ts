// Authenticates requests by the alternatives of a Security Object: the credentials that a request carries decide which of
// them counts (behaviour §6). It fails closed: a caller that cannot be verified is rejected.

import {
  type CompiledSecurity,
  type SchemeName,
  authSchemesOf,
  type SecurityScheme,
} from '../../../language/compile/security.ts'
import type { RealmRecord } from '../../../language/realm/record.ts'
import type { FoundCredentials } from '../../../language/request-credentials.ts'
import type { Audit } from '../../audit.ts'
import { GatewayError } from '../../gateway-error.ts'
import { valuesOf } from '../../upstream/headers.ts'
import {
  type AuthenticationResult,
  notAccepted,
  type KnownIdentity,
  type Refusal,
} from './authenticator.ts'
import type { Authenticate, AuthenticateResult, Caller } from './authentication.ts'
import { forbidden, outsideNetworks, unauthorized, withChallenges } from './challenge.ts'
import type { VerifyCredentials } from './credential-verifier.ts'
import { createFailureReport, type ReportFailure } from './failure-report.ts'
import { networkReasonOf, withinNetworks } from './networks.ts'
import { schemesOfRequest } from './request-schemes.ts'
import { failedRequirement, meetsRequirements, missingRequirements } from './requirements.ts'

export interface AuthenticateDeps {
  /** The record that holds now. */
  readonly realms: (uri: string) => RealmRecord | undefined
  readonly audit: Audit
  /** Unix time in milliseconds. */
  readonly now: () => number
}

/** @example const verdict = await createAuthenticate(deps, verify)([{ type: 'basic' }], 'com.acme', caller) */
export const createAuthenticate = (
  deps: AuthenticateDeps,
  verify: VerifyCredentials,
): Authenticate => {
  const report = createFailureReport(deps.audit, deps.now)

  return (security, realmUri, caller) => {
    try {
      const open = withinNetworks(security, caller)
      const input = { security: open, realmUri, caller, report }
      if (open.length === 0) return refuseNetwork(input, security)
      if (authSchemesOf(open).length === 0) return ANONYMOUS_CALLER
      const record = deps.realms(realmUri)
      if (record === undefined) return refuseMissing(input)
      const result = settle(input, presentedIn(input, record), (scheme) =>
        verify(scheme, record, caller),
      )
      return result instanceof Promise ? result.catch(fail) : result
    } catch (cause) {
      return fail(cause)
    }
  }
}

const ANONYMOUS_CALLER: AuthenticateResult = { kind: 'anonymous' }

interface AuthenticationInput {
  /** The alternatives whose networks the caller is in. */
  readonly security: CompiledSecurity
  readonly realmUri: string
  readonly caller: Caller
  readonly report: ReportFailure
}

type Verify = (scheme: SecurityScheme) => AuthenticationResult | Promise<AuthenticationResult>

interface Presented extends Pick<FoundCredentials, 'schemes' | 'isAmbiguous'> {
  /** There are credentials in a header: if its authenticator can't read them, they are wrong, and not absent. */
  readonly isByHeader: boolean
}

/** The authenticator of a single scheme decides whether there are credentials. */
const presentedIn = ({ security, caller }: AuthenticationInput, record: RealmRecord): Presented => {
  if (security.length === 1)
    return { schemes: authSchemesOf(security), isAmbiguous: false, isByHeader: false }
  const found = schemesOfRequest(security, caller, record)
  return { ...found, isByHeader: found.source === 'header' }
}

interface Taken {
  readonly scheme: SecurityScheme
  readonly result: KnownIdentity
}

interface Failed {
  readonly scheme: SecurityScheme
  readonly refusal: Refusal
}

/**
 * All credentials that are there must be right, and the first of the document names the caller. What is there and wrong is
 * refused: it is not tried as something else, and does not make the caller anonymous.
 */
const settle = (
  input: AuthenticationInput,
  presented: Presented,
  verify: Verify,
): AuthenticateResult | Promise<AuthenticateResult> => {
  const { realmUri } = input
  let taken: Taken | undefined
  let absent: Failed | undefined

  const settleFrom = (at: number): AuthenticateResult | Promise<AuthenticateResult> => {
    const scheme = presented.schemes[at]
    if (scheme === undefined) return conclude(input, taken, absent)
    const proceed = (result: AuthenticationResult): ReturnType<typeof settleFrom> => {
      if (result.kind === 'identity') taken ??= { scheme, result }
      else if (countsAsNone(result, presented)) absent ??= { scheme, refusal: result }
      else return refuse(input, scheme.type, readable(result, scheme, realmUri))
      return settleFrom(at + 1)
    }
    const result = presented.isAmbiguous
      ? notAccepted(scheme.type, realmUri, 'malformed_credentials')
      : verify(scheme)
    return result instanceof Promise ? result.then(proceed) : proceed(result)
  }
  return settleFrom(0)
}

const countsAsNone = ({ reason, isEnded }: Refusal, { isByHeader }: Presented): boolean =>
  isEnded === true || (reason === undefined && !isByHeader)

const readable = (refusal: Refusal, { type }: SecurityScheme, realmUri: string): Refusal =>
  refusal.reason === undefined ? notAccepted(type, realmUri, 'malformed_credentials') : refusal

const conclude = (
  input: AuthenticationInput,
  taken: Taken | undefined,
  absent: Failed | undefined,
): AuthenticateResult => {
  if (taken !== undefined) return admit(input, taken)
  if (input.security.some(({ type }) => type === 'anonymous')) return ANONYMOUS_CALLER
  return absent?.refusal.isEnded === true || input.security.length === 1
    ? refuseAbsent(input, absent)
    : refuseMissing(input)
}

const refuseAbsent = (
  input: AuthenticationInput,
  absent: Failed | undefined,
): AuthenticateResult =>
  absent === undefined ? refuseMissing(input) : refuse(input, absent.scheme.type, absent.refusal)

/** The requirements are those of the alternative that was taken. */
const admit = (input: AuthenticationInput, { scheme, result }: Taken): AuthenticateResult => {
  const { identity } = result
  if (meetsRequirements(scheme, identity)) return result
  const pointer = failedRequirement(scheme, identity)
  return refuse(input, scheme.type, {
    kind: 'refused',
    error: forbidden(scheme.type, input.realmUri, scheme.scopes, pointer),
    reason: 'forbidden',
    authid: identity.authid,
    missing: missingRequirements(scheme, identity),
  })
}

/** There are no credentials, or there is no realm that could verify them. */
const refuseMissing = (input: AuthenticationInput): AuthenticateResult => {
  const [first = 'basic', ...others] = authSchemesOf(input.security).map(({ type }) => type)
  const error = unauthorized(first, input.realmUri, others)
  return refuse(input, undefined, { kind: 'refused', error, reason: undefined })
}

const refuseNetwork = (input: AuthenticationInput, [first]: CompiledSecurity): AuthenticateResult =>
  refuse(input, undefined, {
    kind: 'refused',
    error: outsideNetworks(networkReasonOf(input.caller), first?.pointer),
    reason: 'network',
  })

/** @param scheme undefined: none decided */
const refuse = (
  { security, realmUri, caller, report }: AuthenticationInput,
  scheme: SchemeName | undefined,
  { error, reason, authid, token, missing, isForged }: Refusal,
): AuthenticateResult => {
  if (reason !== undefined)
    report({
      event: 'authentication',
      outcome: 'failure',
      reason,
      realm: realmUri,
      scheme: scheme ?? 'none',
      ...(authid === undefined ? {} : { authid }),
      ...(missing === undefined ? {} : { missing }),
      ...(token?.claim !== undefined && { claim: token.claim }),
      ...(token?.expected !== undefined && { expected: token.expected }),
      address: caller.address,
      requestId: caller.requestId,
    })
  if (security.length <= 1) return { kind: 'refused', error }
  const schemes = authSchemesOf(security).map(({ type }) => type)
  const { rawHeaders } = caller.request
  const demand = { schemes, realmUri, scheme, mode: valuesOf(rawHeaders, 'sec-fetch-mode')[0] }
  return {
    kind: 'refused',
    error: withChallenges(error, demand),
    ...(isForged === true && { clearsTicket: true }),
  }
}

/** For a bug, or a hash that failed: the request is rejected. The failure is reported where the response is written. */
const fail = (cause: unknown): AuthenticateResult => ({
  kind: 'refused',
  error: new GatewayError('svc.error.internal', 'The gateway failed to check who is calling', {
    description: 'Report the request id to the administrators of the gateway.',
    cause,
  }),
})
