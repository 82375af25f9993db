// Replaces the 401 of a page that somebody opens without a ticket by a redirect to the login, where its document asks
// for that (behaviour §6, *Login redirect*).

import { GatewayError } from '../gateway-error.ts'
import { decideLogin, type LoginDecision } from '../oidc/login-redirect.ts'
import type { DispatchOptions } from './incoming-request.ts'
import type { Matched } from './matched-request.ts'

/** @returns the error itself where there is nothing to add: any other code, any other client */
export const loginInstead = (
  { realm }: Pick<DispatchOptions, 'realm'>,
  { incomingRequest, operation }: Pick<Matched, 'incomingRequest' | 'operation'>,
  error: Error,
): Error => {
  const { shape, version } = operation
  const { guard } = shape
  if (guard?.type !== 'oidc' || guard.unauthenticated !== 'redirect') return error
  if (realm === undefined || !(error instanceof GatewayError)) return error
  if (error.code !== 'svc.error.unauthorized') return error
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
      provider: guard.provider,
    },
  )
  const instead = errorOf(decision, error)
  instead.step = error.step
  return instead
}

const errorOf = (decision: LoginDecision, error: GatewayError): GatewayError => {
  switch (decision.kind) {
    case 'reject':
      return error
    case 'explain':
      return new GatewayError(error.code, error.message, {
        description: `${error.description} ${decision.reason}`,
        headers: { ...error.headers, 'cache-control': 'no-store' },
      })
    case 'redirect':
      return new GatewayError(error.code, error.message, {
        status: 302,
        description: 'The login follows.',
        headers: {
          location: decision.location,
          'cache-control': 'no-store',
          'referrer-policy': 'no-referrer',
        },
      })
  }
}
