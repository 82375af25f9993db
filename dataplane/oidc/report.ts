// Reports how a request to an OIDC endpoint ended: in the audit log, the log and a counter. It never writes a code,
// token, cookie or query.

import type { AuditEvent } from '../audit.ts'
import type { Exchange } from './room.ts'
import type { OidcOutcome } from './oidc-endpoint.ts'

type AuditDetails = Pick<AuditEvent, 'outcome' | 'authid' | 'clientId'> & {
  readonly reason?: string
  readonly provider?: string
}

export const auditLogin = (exchange: Exchange, details: AuditDetails): void => {
  audit(exchange, 'login', details)
}

export const auditLogout = (exchange: Exchange, details: AuditDetails): void => {
  audit(exchange, 'logout', details)
}

export const auditRevocation = (exchange: Exchange, details: AuditDetails): void => {
  audit(exchange, 'revocation', details)
}

/** A failure: expected ones at `info`, those of the gateway or a provider as warnings. */
export const reportFailure = (
  { endpoint, request, room }: Exchange,
  { outcome, status, error }: { outcome: OidcOutcome; status: number; error: unknown },
): void => {
  room.count({ endpoint, outcome })
  const fields = {
    endpoint,
    code: outcome,
    realm: request.realmUri,
    provider: request.pathProvider ?? request.routeProvider,
    requestId: request.requestId,
    cause: causesOf(error),
  }
  if (status >= 500) room.log.warn('an OIDC request failed', fields)
  else room.log.info('an OIDC request was refused', fields)
}

/** A step of a logout that failed and was skipped. */
export const reportLeftOut = (
  { request, room }: Exchange,
  message: string,
  error: unknown,
): void => {
  const { realmUri: realm, requestId } = request
  room.log.warn(message, { realm, requestId, cause: causesOf(error) })
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

const MAX_CAUSES = 5
const MAX_TEXT = 500

const audit = (
  { request, room }: Exchange,
  event: AuditEvent['event'],
  { reason = '', provider, ...details }: AuditDetails,
): void => {
  room.audit({
    event,
    reason,
    realm: request.realmUri,
    scheme: 'oidc',
    provider: provider ?? request.pathProvider ?? request.routeProvider,
    address: request.address,
    requestId: request.requestId,
    ...details,
  })
}
