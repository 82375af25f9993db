// Chooses where the browser is redirected from the target that it asked for. A rejected target is logged and counted,
// as it is an attack or a forgotten `allowed_redirect_origins`.

import type { OidcProviderRecord } from '../../language/realm/record.ts'
import { chooseTarget, originOf } from './redirect-target.ts'
import type { OidcContext } from './context.ts'

/** @param record of the route's own realm: another realm's settings never widen what this one allows. */
export const chooseRedirect = (
  { endpoint, request, endpointDeps }: OidcContext,
  wanted: string | undefined,
  record: OidcProviderRecord | undefined,
): string => {
  if (wanted === undefined) return '/'
  const { location, isRefused } = chooseTarget(wanted, {
    ownOrigin: ownOriginOf(request.ownOrigin, record),
    allowedOrigins: record?.allowed_redirect_origins ?? [],
  })
  if (isRefused) {
    endpointDeps.count({ endpoint, outcome: 'redirect_refused' })
    endpointDeps.log.warn('redirect_uri refused, / is used', {
      endpoint,
      realm: request.realmUri,
      requestId: request.requestId,
    })
  }
  return location
}

/** `--base-url`, otherwise the origin of the provider's callback URL. Never `Host`. */
export const ownOriginOf = (
  baseUrl: string | undefined,
  record: OidcProviderRecord | undefined,
): string | undefined => originOf(baseUrl) ?? originOf(record?.redirect_uri)
