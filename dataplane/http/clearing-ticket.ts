// Has a browser forget a ticket that this gateway has not signed: it would be refused with every request (behaviour §6).

import type { RealmRecord } from '../../language/realm/record.ts'
import { GatewayError } from '../gateway-error.ts'
import { providerOf } from '../oidc/provider/find-provider.ts'
import { clearingLines } from '../oidc/session-lines.ts'
import type { Guard } from './operation-shape.ts'

/** The same error, with lines that clear the cookies of a session. */
export const clearingTicket = (
  error: Error,
  guard: Guard,
  realm: RealmRecord | undefined,
): Error => {
  const scheme = guard.find((each) => each.type === 'oidc')
  if (realm === undefined || scheme === undefined || !(error instanceof GatewayError)) return error
  const lines = clearingLines(realm.uri, providerOf(realm, scheme.provider) ?? {})
  return error.respondingWith({ headers: { ...error.headers, 'set-cookie': lines } })
}
