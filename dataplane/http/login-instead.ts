// Replaces the 401 of a page that somebody opens without a ticket by a redirect to the login, where its document asks
// for that (behaviour §6, *Login redirect*).

import type { SecurityScheme } from '../../language/compile/security.ts'
import type { RealmRecord } from '../../language/realm/record.ts'
import { GatewayError } from '../gateway-error.ts'
import { decideLogin, type LoginDecision } from '../oidc/login-redirect.ts'
import { withinNetworks } from '../security/schemes/networks.ts'
import { schemesOfRequest } from '../security/schemes/request-schemes.ts'
import { type AuthenticationOptions, callerOf } from './authenticate-request.ts'
import type { IncomingRequest } from './incoming-request.ts'
import type { Matched } from './matched-request.ts'
import type { Guard } from './operation-shape.ts'

/** @returns the error itself where there is nothing to add: any other code, any other client */
export const loginInstead = (
  { realm }: Pick<AuthenticationOptions, 'realm'>,
  { incomingRequest, operation }: Pick<Matched, 'incomingRequest' | 'operation'>,
  error: Error,
): Error => {
  const { shape, version } = operation
  if (realm === undefined || !(error instanceof GatewayError)) return error
  if (error.code !== 'svc.error.unauthorized') return error
  const scheme = loginOf(shape.guard ?? [], incomingRequest, realm(version.realmUri))
  if (scheme === undefined) return error
  const { request, head } = incomingRequest
  const decision = decideLogin(
    {
      method: request.method ?? '',
      headers: request.headers,
      rawHeaders: request.rawHeaders,
      authority: head.authority,
      path: head.target.path,
      query: head.target.query,
    },
    {
      basePath: version.basePath,
      realmUri: version.realmUri,
      realm: realm(version.realmUri),
      provider: scheme.provider,
    },
  )
  return errorOf(decision, error)
}

const errorOf = (decision: LoginDecision, error: GatewayError): GatewayError => {
  switch (decision.kind) {
    case 'reject':
      return error
    case 'explain':
      return error.respondingWith({
        description: `${error.description} ${decision.reason}`,
        headers: { ...error.headers, 'cache-control': 'no-store' },
      })
    case 'redirect': {
      const { 'set-cookie': lines } = error.headers
      const clearing = lines === undefined ? {} : { 'set-cookie': lines }
      return error.respondingWith({
        status: 302,
        description: 'The login follows.',
        headers: {
          location: decision.location,
          'cache-control': 'no-store',
          'referrer-policy': 'no-referrer',
          ...clearing,
        },
      })
    }
  }
}

/** The scheme whose login helps; undefined: there is none, or the request has other credentials than a ticket, which are wrong. */
const loginOf = (
  guard: Guard,
  incomingRequest: IncomingRequest,
  record: RealmRecord | undefined,
): SecurityScheme<'oidc'> | undefined => {
  const caller = callerOf(incomingRequest)
  const open = withinNetworks(guard, caller)
  const { schemes } = schemesOfRequest(open, caller, record)
  if (schemes.some(({ type }) => type !== 'oidc')) return undefined
  return open
    .filter((each) => each.type === 'oidc')
    .find(({ unauthenticated }) => unauthenticated === 'redirect')
}
