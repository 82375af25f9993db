// Passes each checked message of an open session on to the part that waits for it. Late responses are dropped; a
// message that no router may send ends the session, and the text that is returned says why.

import { isMap, type ValueMap } from '../../../language/expression/value.ts'
import type { Peer } from './autobahn.ts'
import type { Calls } from './calls.ts'
import { unreadableAnswer } from './errors.ts'
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
  /** Something was lost that nobody waits for: for the log. */
  readonly onDropped: (what: string, why: string) => void
}

/** A text: what is wrong with the message; the session can't go on. */
export type Reception = string | undefined

/** A message whose shape is right. */
export const readMessage = (parts: SessionParts, message: WampMessage): Reception => {
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
      if (!isRevocation(message)) return readAnswer(parts, message)
      revoke(parts, message)
      return undefined
  }
}

const HEARTBEAT = 7

/** A message whose payload could not be read, or is no payload: it concerns one request, not the session. */
export const readHead = (parts: SessionParts, head: WampMessage, why: string): Reception => {
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
      parts.invocations.refuse(Number(head[1]), 'wamp.error.invalid_argument', why)
      return undefined
    default:
      return `what can't be read: ${why}`
  }
}

const readAnswer = (parts: SessionParts, answer: WampMessage): Reception =>
  parts.peer.settle(answer) ? undefined : validateUnexpected(parts, answer)

const failRequest = (parts: SessionParts, error: WampMessage, why: string): Reception => {
  const [, type, requestId] = error
  const isPending = parts.peer.fail(Number(type), Number(requestId), unreadableAnswer(why))
  return isPending ? undefined : validateUnexpected(parts, error)
}

/** An answer that no request is pending for: late, or invented. */
const validateUnexpected = ({ outbox, requests }: SessionParts, answer: WampMessage): Reception => {
  const isError = answer[0] === MESSAGE.error
  const requestId = Number(answer[isError ? 2 : 1])
  if (isError ? answer[1] === MESSAGE.call : answer[0] === MESSAGE.result) {
    // A call that was cancelled may be answered late or never, depending on router and callee. The newest id is all
    // that must be known to tell a late answer from an invented one: a million cancelled calls leave nothing behind.
    return requestId <= outbox.lastRequestId ? undefined : 'an answer to a call never made'
  }
  if (requests.isGivenUp(requestId)) return undefined
  return isError ? 'an error of a request never made' : 'an answer to a request never made'
}

/** Request 0: the router's own will (WAMP protocol, *Registration Revocation*). */
const isRevocation = ([type, requestId]: WampMessage): boolean =>
  requestId === 0 && (type === MESSAGE.unsubscribed || type === MESSAGE.unregistered)

const revoke = ({ subscriptions, registrations }: SessionParts, message: WampMessage): void => {
  const [type, , given] = message
  const details: ValueMap = isMap(given) ? given : {}
  if (type === MESSAGE.unsubscribed)
    subscriptions.onRevoked(Number(details['subscription']), message)
  else registrations.onRevoked(Number(details['registration']), message)
}
