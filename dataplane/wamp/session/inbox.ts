// A checked message of an open session comes in and goes to whoever waits for it. Late answers are dropped; what
// a router can't mean ends the session: the text that goes out says why.

import { isMap, type Value, type ValueMap } from '../../../language/expression/value.ts'
import type { AutobahnSession } from './autobahn.ts'
import type { Calls } from './calls.ts'
import { faultOf, unreadableAnswer } from './errors.ts'
import type { Outbox } from './outbox.ts'
import type { Invocations } from './invocations.ts'
import type { Registrations } from './registrations.ts'
import type { Requests } from './requests.ts'
import type { Subscriptions } from './subscriptions.ts'
import type { WampFault } from './joined-session.ts'
import { MESSAGE, type WampMessage } from '../protocol/messages.ts'

export interface SessionParts {
  readonly autobahn: AutobahnSession
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
  const { calls, requests, subscriptions } = parts
  const type: unknown = message[0]
  switch (type) {
    case MESSAGE.result:
      return calls.onResult(message) ? undefined : late(parts, message[1])
    case MESSAGE.error:
      return failRequest(parts, message, faultOf(message))
    case MESSAGE.event:
      subscriptions.onEvent(message)
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
      if (isRevocation(message)) revoke(parts, message)
      else if (!requests.onAnswer(message)) return 'an answer to a request never made'
      return undefined
  }
}

const HEARTBEAT = 7

/** A message whose payload could not be read, or is no payload: it concerns one request, not the session. */
export const readHead = (parts: SessionParts, head: WampMessage, why: string): Reception => {
  const type: unknown = head[0]
  switch (type) {
    case MESSAGE.result:
      return failRequest(parts, [MESSAGE.error, MESSAGE.call, head[1] ?? 0], unreadableAnswer(why))
    case MESSAGE.error:
      return failRequest(parts, head, unreadableAnswer(why))
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

const failRequest = (parts: SessionParts, message: WampMessage, fault: WampFault): Reception => {
  const type = Number(message[1])
  const requestId = Number(message[2])
  if (type === MESSAGE.call) {
    return parts.calls.fail(requestId, fault) ? undefined : late(parts, requestId)
  }
  const isOurs = parts.requests.fail(type, requestId, fault)
  return isOurs ? undefined : 'an error of a request never made'
}

// A call that was cancelled may be answered late or never, depending on router and callee. The newest id is all
// that must be known to tell a late answer from an invented one: a million cancelled calls leave nothing behind.
const late = ({ outbox }: SessionParts, requestId: Value | undefined): Reception =>
  Number(requestId) <= outbox.lastRequestId ? undefined : 'an answer to a call never made'

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
