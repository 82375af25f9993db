// Builds the errors that a session creates itself, and reads those of ERROR messages. Their messages are for clients:
// addresses and reasons of the router stand in the log instead.

import type { Value, ValueMap } from '../../../language/expression/value.ts'
import { peerError, WampError } from './joined-session.ts'
import type { WampMessage } from '../protocol/messages.ts'

const LONGEST_TEXT = 1024

/** `[ERROR, type, request, details, uri, args?, kwargs?]`, checked. */
export const readError = (message: WampMessage): WampError => {
  const uri = message[4] as string
  const args = (message[5] ?? []) as readonly Value[]
  const text = typeof args[0] === 'string' && args[0] !== '' ? args[0] : uri
  return peerError(uri, text.slice(0, LONGEST_TEXT), {
    args,
    kwargs: (message[6] ?? {}) as ValueMap,
    details: message[3] as ValueMap,
  })
}

export const sessionEndedError = (wasSent: boolean): WampError =>
  new WampError('wamp.error.net_failure', 'The session with the router has ended.', { wasSent })

export const backlogError = (): WampError =>
  new WampError('svc.error.overloaded', 'The router reads more slowly than it is sent to.', {
    wasSent: false,
  })

export const unansweredError = (): WampError =>
  new WampError('svc.error.timeout', 'The router has left too many requests unanswered.')

export const unreadableError = (why: string): WampError =>
  new WampError('svc.error.bad_gateway', `The callee's response could not be read: ${why}`)
