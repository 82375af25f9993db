// Creates the parts that perform the operations of a session, and the session as the bridge sees it. It does not decide
// when the session opens and ends.

import { guarded } from '../../../base/guarded.ts'
import type { Log } from '../../../telemetry/log.ts'
import type { Peer } from './autobahn.ts'
import { createCalls, type RequestDeps } from './calls.ts'
import { netFailure, stuffedFault } from './errors.ts'
import type { SessionParts } from './inbox.ts'
import { createInvocations } from './invocations.ts'
import type { Outbox } from './outbox.ts'
import { payloadToSend } from './payload.ts'
import { createRegistrations } from './registrations.ts'
import { createRequests } from './requests.ts'
import { createSubscriptions } from './subscriptions.ts'
import type { WampSession } from './joined-session.ts'
import { MESSAGE } from '../protocol/messages.ts'

export const createParts = (peer: Peer, outbox: Outbox, log: Log): SessionParts => {
  const told = new Set<string>()
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
      if (told.has(what)) return
      told.add(what)
      log.warn('a router message was lost; later ones like it are not logged', { what, why })
    },
  }
}

/** Everything that waits fails with `wamp.error.net_failure`, now. */
export const endParts = (parts: SessionParts): void => {
  const fault = netFailure(true)
  parts.subscriptions.end()
  parts.registrations.end()
  parts.invocations.end()
  parts.calls.end(fault)
  parts.requests.end(fault)
}

/** Operations fail unsent once `isOpen` says no. */
export const createSession = (
  id: number,
  parts: SessionParts,
  isOpen: () => boolean,
): WampSession => {
  const { peer, outbox, calls, requests, subscriptions, registrations } = parts
  const ended = (): Promise<never> => Promise.reject(netFailure(false))
  return {
    id,
    call: (request, handler) => {
      if (!isOpen()) throw netFailure(false)
      if (outbox.isStuffed) throw stuffedFault()
      return calls.call(request, handler)
    },
    publish: (topic, payload, options) => {
      if (!isOpen()) return ended()
      if (outbox.isStuffed) return Promise.reject(stuffedFault())
      const { args, kwargs } = payloadToSend(payload)
      return requests.ask(
        MESSAGE.publish,
        () => peer.session.publish(topic, args, kwargs, { ...options, acknowledge: true }),
        (answer) => ({ publicationId: answer[2] as number }),
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
