// Creates the parts that perform the operations of a session, and the session as the bridge sees it. It does not decide
// when the session opens and ends.

import { guarded } from '../../../base/guarded.ts'
import type { Log } from '../../../telemetry/log.ts'
import type { Peer } from './autobahn.ts'
import { createCalls, type RequestDeps } from './calls.ts'
import { sessionEndedError, backlogError } from './errors.ts'
import type { SessionParts } from './inbox.ts'
import { createInvocations } from './invocations.ts'
import type { Outbox } from './outbox.ts'
import { payloadToSend } from './payload.ts'
import { createRegistrations } from './registrations.ts'
import { createRequests } from './requests.ts'
import { createSubscriptions } from './subscriptions.ts'
import type { WampSession } from './joined-session.ts'
import { MESSAGE } from '../protocol/messages.ts'

export const createSessionParts = (peer: Peer, outbox: Outbox, log: Log): SessionParts => {
  const logged = new Set<string>()
  const deps: RequestDeps = {
    peer,
    outbox,
    guard: guarded(
      (run) => {
        run()
      },
      (error) => {
        log.error('a handler of a WAMP session failed', { error })
      },
    ),
  }
  const requests = createRequests(deps)
  const invocations = createInvocations(outbox, log)
  return {
    peer,
    outbox,
    requests,
    calls: createCalls(deps),
    subscriptions: createSubscriptions(deps, requests),
    registrations: createRegistrations(deps, requests, invocations),
    invocations,
    onDropped: (what, why) => {
      if (logged.has(what)) return
      logged.add(what)
      log.warn('a router message was lost; later ones like it are not logged', { what, why })
    },
  }
}

/** Fails everything that waits, with `wamp.error.net_failure`. */
export const endSessionParts = (parts: SessionParts): void => {
  const error = sessionEndedError(true)
  parts.subscriptions.end()
  parts.registrations.end()
  parts.invocations.end()
  parts.calls.end(error)
  parts.requests.end(error)
}

/** Operations fail unsent once `isOpen` returns false. */
export const createSession = (
  id: number,
  parts: SessionParts,
  isOpen: () => boolean,
): WampSession => {
  const { peer, outbox, calls, requests, subscriptions, registrations } = parts
  const ended = (): Promise<never> => Promise.reject(sessionEndedError(false))
  return {
    id,
    call: (request, handler) => {
      if (!isOpen()) throw sessionEndedError(false)
      if (outbox.isBacklogged) throw backlogError()
      return calls.call(request, handler)
    },
    publish: (topic, payload, options) => {
      if (!isOpen()) return ended()
      if (outbox.isBacklogged) return Promise.reject(backlogError())
      const { args, kwargs } = payloadToSend(payload)
      return requests.send(
        MESSAGE.publish,
        () => peer.session.publish(topic, args, kwargs, { ...options, acknowledge: true }),
        (response) => ({ publicationId: response[2] as number }),
      )
    },
    subscribe: (topic, options, onEvent) =>
      isOpen() ? subscriptions.subscribe(topic, options, onEvent) : ended(),
    register: (procedure, options, handler) =>
      isOpen() ? registrations.register(procedure, options, handler) : ended(),
    get pendingCalls() {
      return calls.size
    },
  }
}
