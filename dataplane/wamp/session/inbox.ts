// Passes each checked message of an open session on to the part that waits for it. Late responses are dropped; a
// message that no router may send ends the session, and the text that is returned says why.

import { isMap, type ValueMap } from '../../../language/expression/value.ts'
import type { Peer } from './autobahn.ts'
import type { Calls } from './calls.ts'
import { unreadableError } from './errors.ts'
import type { Outbox } from './outbox.ts'
import type { Invocations } from './invocations.ts'
import type { Registrations } from './registrations.ts'
import type { Requests } from './requests.ts'
import type { Subscriptions } from './subscriptions.ts'
import { MESSAGE, type WampMessage } from '../protocol/messages.ts'

export interface SessionParts {
  readonly peer: Peer
  readonly outbox: Outbox
  readonly calls: Calls
  readonly requests: Requests
  readonly subscriptions: Subscriptions
  readonly registrations: Registrations
  readonly invocations: Invocations
  /** Reports for the log that a message was lost for which nothing waits. */
  readonly onDropped: (what: string, why: string) => void
}

/** What is wrong with a message, so that the session must end; undefined: nothing. */
export type ProtocolViolation = string | undefined

/** Passes on a message whose shape has been checked. */
export const readMessage = (parts: SessionParts, message: WampMessage): ProtocolViolation => {
  const type: unknown = message[0]
  switch (type) {
    case MESSAGE.event:
      parts.subscriptions.onEvent(message)
      return undefined
    case MESSAGE.invocation:
      parts.registrations.onInvocation(message)
      return undefined
    case MESSAGE.interrupt:
      parts.invocations.onInterrupt(message)
      return undefined
    case MESSAGE.welcome:
    case MESSAGE.challenge:
      return 'a message that belongs before the session'
    case HEARTBEAT:
      return undefined
    default:
      if (!isRevocation(message)) return readResponse(parts, message)
      revoke(parts, message)
      return undefined
  }
}

const HEARTBEAT = 7

/** Handles a message whose payload could not be read, or is no payload: it concerns one request, not the session. */
export const readHead = (
  parts: SessionParts,
  head: WampMessage,
  why: string,
): ProtocolViolation => {
  const type: unknown = head[0]
  switch (type) {
    case MESSAGE.result:
      return failRequest(parts, [MESSAGE.error, MESSAGE.call, head[1] ?? 0], why)
    case MESSAGE.error:
      return failRequest(parts, head, why)
    case MESSAGE.event:
      parts.onDropped('an event', why)
      return undefined
    case MESSAGE.invocation:
      parts.invocations.reject(Number(head[1]), 'wamp.error.invalid_argument', why)
      return undefined
    default:
      return `what can't be read: ${why}`
  }
}

const readResponse = (parts: SessionParts, response: WampMessage): ProtocolViolation =>
  parts.peer.settle(response) ? undefined : validateUnexpected(parts, response)

const failRequest = (parts: SessionParts, error: WampMessage, why: string): ProtocolViolation => {
  const [, type, requestId] = error
  const isPending = parts.peer.fail(Number(type), Number(requestId), unreadableError(why))
  return isPending ? undefined : validateUnexpected(parts, error)
}

/** Checks a response that no request is pending for: it is late, or invented. */
const validateUnexpected = (
  { outbox, requests }: SessionParts,
  response: WampMessage,
): ProtocolViolation => {
  const isError = response[0] === MESSAGE.error
  const requestId = Number(response[isError ? 2 : 1])
  if (isError ? response[1] === MESSAGE.call : response[0] === MESSAGE.result) {
    // The response to a cancelled call may come late or never, depending on router and callee. The newest id is enough
    // to distinguish a late response from an invented one: a million cancelled calls leave nothing behind.
    return requestId <= outbox.lastRequestId ? undefined : 'a response to a call never made'
  }
  if (requests.isGivenUp(requestId)) return undefined
  return isError ? 'an error of a request never made' : 'a response to a request never made'
}

/** Request 0: the router has revoked it (WAMP protocol, *Registration Revocation*). */
const isRevocation = ([type, requestId]: WampMessage): boolean =>
  requestId === 0 && (type === MESSAGE.unsubscribed || type === MESSAGE.unregistered)

const revoke = ({ subscriptions, registrations }: SessionParts, message: WampMessage): void => {
  const [type, , last] = message
  const details: ValueMap = isMap(last) ? last : {}
  if (type === MESSAGE.unsubscribed)
    subscriptions.onRevoked(Number(details['subscription']), message)
  else registrations.onRevoked(Number(details['registration']), message)
}
