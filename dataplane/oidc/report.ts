// Reports how a request to an OIDC endpoint ended: in the audit log, the log and a counter. It never writes a code,
// token, cookie or query.

import type { AuditEvent } from '../audit.ts'
import type { OidcContext } from './context.ts'
import type { OidcEndpointName, OidcRequest, OidcResult } from './oidc-endpoint.ts'
import { OidcError } from './oidc-error.ts'

type AuditDetails = Pick<AuditEvent, 'outcome' | 'authid' | 'clientId'> & {
  readonly reason?: string
  readonly provider?: string
}

export const auditLogin = (exchange: OidcContext, details: AuditDetails): void => {
  audit(exchange, 'login', details)
}

export const auditLogout = (exchange: OidcContext, details: AuditDetails): void => {
  audit(exchange, 'logout', details)
}

export const auditRevocation = (exchange: OidcContext, details: AuditDetails): void => {
  audit(exchange, 'revocation', details)
}

/** A failure: expected ones at `info`, those of the gateway or a provider as warnings, once a minute of each kind. */
export const reportFailure = (
  { endpoint, request, endpointDeps }: OidcContext,
  { outcome, status, error }: { outcome: OidcResult; status: number; error: unknown },
): void => {
  endpointDeps.count({ endpoint, outcome })
  const { setting, facts, message } = error instanceof OidcError ? error : NOTHING_KNOWN
  const provider = requestedProvider(endpoint, request)
  const fields = {
    endpoint,
    code: outcome,
    realm: request.realmUri,
    provider,
    setting: settingPath(provider, setting),
    ...facts,
    requestId: request.requestId,
    cause: causesOf(error),
  }
  const words = message === undefined ? '' : `: ${message}`
  if (status < 500) {
    endpointDeps.log.info(`an OIDC request was refused${words}`, fields)
    return
  }
  // Anybody may try to log in at a provider that is away.
  const more = endpointDeps.leftOut(
    [endpoint, request.realmUri, provider, outcome, words].join('\n'),
  )
  if (more !== undefined)
    endpointDeps.log.warn(`an OIDC request failed${words}`, { ...fields, more })
}

const NOTHING_KNOWN = { setting: undefined, facts: undefined, message: undefined }

/** The query of a login names one, or the path does; otherwise it is that of the scheme. */
const requestedProvider = (
  endpoint: OidcEndpointName,
  { query, pathProvider, routeProvider }: OidcRequest,
): string => {
  const requested = endpoint === 'login' ? new URLSearchParams(query).get('provider') : null
  return (requested ?? pathProvider ?? routeProvider).slice(0, MAX_NAME)
}

/** Where to look, by its path in the Realm: `info.oidcProviders.corp.issuer`. */
const settingPath = (provider: string, setting: OidcError['setting']): string | undefined => {
  if (setting === undefined || setting === 'authmethods') return setting
  if (setting === 'oidcProviders') return 'info.oidcProviders'
  return `info.oidcProviders.${provider}.${setting}`
}

/** A step of a logout that failed and was skipped. */
export const reportLeftOut = (
  { request, endpointDeps }: OidcContext,
  message: string,
  error: unknown,
): void => {
  const { realmUri: realm, requestId } = request
  const { facts } = error instanceof OidcError ? error : NOTHING_KNOWN
  endpointDeps.log.warn(message, { realm, ...facts, requestId, cause: causesOf(error) })
}

/**
 * Only names, codes and messages: errors of the protocol also carry tokens, claims and texts of the provider, and a
 * parser quotes its input.
 */
const causesOf = (error: unknown): string => {
  const parts: string[] = []
  for (let at = error; at instanceof Error && parts.length < MAX_CAUSES; at = at.cause)
    parts.push(`${nameOf(at)}: ${at instanceof SyntaxError ? 'not JSON' : at.message}`)
  return parts.join(' < ').slice(0, MAX_TEXT)
}

const nameOf = (error: Error): string =>
  'code' in error && typeof error.code === 'string' ? error.code : error.name

const MAX_NAME = 200
const MAX_CAUSES = 5
const MAX_TEXT = 500

const audit = (
  { endpoint, request, endpointDeps }: OidcContext,
  event: AuditEvent['event'],
  { reason = '', provider, ...details }: AuditDetails,
): void => {
  endpointDeps.audit({
    event,
    reason,
    realm: request.realmUri,
    scheme: 'oidc',
    provider: provider ?? requestedProvider(endpoint, request),
    address: request.address,
    requestId: request.requestId,
    ...details,
  })
}
