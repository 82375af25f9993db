// Decides when a WebSocket connection ends because of what it was opened by: its document, or the credentials of its client.

import type { ServedVersion } from '../../served.ts'
import { GatewayError } from '../../gateway-error.ts'
import type { Identity } from '../../security/schemes/authentication.ts'
import { SCHEMES } from '../../security/schemes/scheme-table.ts'
import type { RelayEnd } from '../../wamp/relay/relays.ts'
import { type AuthenticationOptions, callerOf } from '../authenticate-request.ts'
import type { IncomingRequest } from '../incoming-request.ts'
import type { Guard } from '../operation-shape.ts'

export interface OpenedBy {
  readonly version: ServedVersion
  /** undefined: anonymous. */
  readonly guard: Guard | undefined
  readonly isServed: (version: ServedVersion) => boolean
}

/** RFC 6455 §7.4.1. */
const GOING_AWAY = 1001
const POLICY_VIOLATION = 1008

/** @returns what is asked at intervals for as long as the connection is open; undefined: it goes on */
export const whyOver = (
  dispatch: Pick<AuthenticationOptions, 'authenticate'>,
  incomingRequest: Omit<IncomingRequest, 'response'>,
  { version, guard, isServed }: OpenedBy,
): (() => RelayEnd | undefined) => {
  const { authenticate } = dispatch
  const scheme = incomingRequest.identity?.type ?? 'anonymous'
  const isTemporary = scheme !== 'anonymous' && SCHEMES[scheme].isTemporary
  const haveEnded =
    guard === undefined || authenticate === undefined || !isTemporary
      ? () => false
      : endOfCredentials(authenticate, incomingRequest, { guard, version, scheme })
  return () => {
    if (!isServed(version))
      return { code: GOING_AWAY, reason: 'the document was deleted or deactivated' }
    return haveEnded()
      ? { code: POLICY_VIOLATION, reason: 'the credentials have ended' }
      : undefined
  }
}

interface OpenedByCredentials {
  readonly guard: Guard
  readonly version: ServedVersion
  /** What they were. Where credentials are optional, those that have ended leave nobody in particular. */
  readonly scheme: Identity['type']
}

/**
 * Authenticates the request again, as at its beginning: that knows expiry, revocation, and what the realm has changed. Mostly
 * it is known on the connection and takes a lookup.
 */
const endOfCredentials = (
  authenticate: NonNullable<AuthenticationOptions['authenticate']>,
  incomingRequest: Omit<IncomingRequest, 'response'>,
  { guard, version, scheme }: OpenedByCredentials,
): (() => boolean) => {
  const caller = callerOf(incomingRequest)
  let hasEnded = false
  let isAsking = false
  const settle = (result: Awaited<ReturnType<typeof authenticate>>): void => {
    isAsking = false
    hasEnded =
      result.kind === 'identity'
        ? result.identity.type !== scheme
        : result.kind === 'anonymous' || isRejection(result.error)
  }
  return () => {
    if (hasEnded || isAsking) return hasEnded
    const result = authenticate(guard, version.realmUri, caller)
    if (result instanceof Promise) {
      isAsking = true
      result.then(settle, () => {
        isAsking = false
      })
    } else settle(result)
    return hasEnded
  }
}

/** Where it can't be found out at present, such as without the shared state, the connection goes on. */
const isRejection = (error: Error): boolean =>
  error instanceof GatewayError &&
  (error.code === 'svc.error.unauthorized' || error.code === 'svc.error.forbidden')
