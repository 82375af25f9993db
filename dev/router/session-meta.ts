// Answers CALLs of the router's own procedures. Of WAMP's session meta API there are `count` and `kill`, which tests
// and a bridge use; others do not exist, and the API is not announced.

import { MESSAGE, type WampMessage } from '../../dataplane/wamp/protocol/messages.ts'
import { ownValue } from '../../language/expression/lookup.ts'
import { isList } from '../../language/expression/value.ts'
import { isWampUri } from '../../language/wamp-uri.ts'
import type { Call } from './client-message.ts'
import { errorMessage, resultMessage } from './router-message.ts'
import type { Session } from './session.ts'

export type Members = ReadonlyMap<number, Session>

/**
 * @returns undefined where the procedure is none of these
 * @example answerMeta(caller, call, members) // [50, 7, {}, [2]]
 */
export const answerMeta = (
  caller: Session,
  call: Call,
  members: Members,
): WampMessage | undefined => META_PROCEDURES.get(call.uri)?.(caller, call, members)

type MetaProcedure = (caller: Session, call: Call, members: Members) => WampMessage

const countSessions: MetaProcedure = (_caller, { request, args }, members) => {
  const roles = args[0] ?? []
  if (!isList(roles)) return refusal(request, 'wamp.error.invalid_argument')
  const counted = [...members.values()].filter(
    ({ identity }) => roles.length === 0 || roles.includes(identity.authrole),
  )
  return resultMessage(request, {}, { args: [counted.length], kwargs: {} })
}

const killSession: MetaProcedure = (caller, { request, args, kwargs }, members) => {
  const session = typeof args[0] === 'number' ? members.get(args[0]) : undefined
  const reason = ownValue(kwargs, 'reason') ?? 'wamp.close.normal'
  const message = ownValue(kwargs, 'message')
  // A session does not kill itself: GOODBYE is for that.
  if (session === undefined || session === caller) {
    return refusal(request, 'wamp.error.no_such_session')
  }
  if (typeof reason !== 'string' || !isWampUri(reason)) {
    return refusal(request, 'wamp.error.invalid_uri')
  }
  session.end(reason, typeof message === 'string' ? message : undefined)
  return resultMessage(request, {}, { args: [], kwargs: {} })
}

const META_PROCEDURES: ReadonlyMap<string, MetaProcedure> = new Map([
  ['wamp.session.count', countSessions],
  ['wamp.session.kill', killSession],
])

const refusal = (request: number, uri: string): WampMessage =>
  errorMessage(MESSAGE.call, request, uri)
