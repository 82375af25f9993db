// Reads the parameters of a login from its query (specification §4.1, behaviour §6). Labels that are not valid in a
// ticket become the default.

import type { OidcContext } from '../context.ts'
import { readParameter } from '../query.ts'
import { REDIRECTED } from '../login-redirect.ts'
import { OidcError } from '../oidc-error.ts'

export interface LoginParameters {
  readonly providerName: string
  /** As written; undefined if there is none. `""` if it occurs twice, which is not a valid target. */
  readonly wantedTarget: string | undefined
  readonly clientId: string
  readonly deviceId: string
  /** The gateway itself has redirected the browser here. */
  readonly isRedirected: boolean
}

const LABEL = /^[\x20-\x7e]{1,128}$/

/** @throws OidcError `unknown_provider` for a `provider` that is empty or given twice. */
export const readLoginParameters = ({ request }: OidcContext): LoginParameters => {
  const query = new URLSearchParams(request.query)
  return {
    providerName: readProvider(query, request.routeProvider),
    wantedTarget: readTarget(query),
    clientId: readLabel(query, 'client_id'),
    deviceId: readLabel(query, 'device_id'),
    isRedirected: query.has(REDIRECTED),
  }
}

/** For logout too. */
export const readTarget = (query: URLSearchParams): string | undefined => {
  const target = readParameter(query, 'redirect_uri')
  if (target.kind === 'absent') return undefined
  return target.kind === 'one' ? target.value : ''
}

const readProvider = (query: URLSearchParams, routeProvider: string): string => {
  const provider = readParameter(query, 'provider')
  if (provider.kind === 'absent') return routeProvider
  if (provider.kind === 'repeated' || provider.value === '')
    throw new OidcError('unknown_provider', 'provider is empty or given twice')
  return provider.value
}

const readLabel = (query: URLSearchParams, name: string): string => {
  const label = readParameter(query, name)
  return label.kind === 'one' && LABEL.test(label.value) ? label.value : 'all'
}
