// The calls of a session in flight: each is settled once, by its answer, by its caller, or by the end of the
// session. A cancelled one leaves nothing behind, whether the router ever answers it or not.

import type { ValueMap } from '../../../language/expression/value.ts'
import type { AutobahnSession, Outcome } from './autobahn.ts'
import { createInFlight } from './in-flight.ts'
import type { Outbox } from './outbox.ts'
import { payloadAt, payloadToSend } from './payload.ts'
import type { CallHandler, CallRequest, PendingCall, WampFault } from './joined-session.ts'
import { MESSAGE, type WampMessage } from '../protocol/messages.ts'

/** What all that waits for answers shares. */
export interface Asking {
  readonly autobahn: AutobahnSession
  readonly outbox: Outbox
  /** Lets autobahn have an answer for its books, without the payload, which is read here. */
  readonly account: (message: WampMessage) => void
  /** Runs a handler of the bridge; what it throws is logged. */
  readonly guard: (run: () => void) => void
}

export interface Calls {
  /** @throws WampFault, unsent */
  call(request: CallRequest, handler: CallHandler): PendingCall
  /** A checked RESULT; false: nobody waits for it. */
  onResult(message: WampMessage): boolean
  /** False: nobody waits for it. */
  fail(requestId: number, fault: WampFault): boolean
  end(fault: WampFault): void
  /** Makes the router say something, whatever it is. */
  probe(): void
  readonly size: number
}

// Every router answers a call; of those that have meta procedures this is the cheapest.
const PROBED = 'wamp.session.count'
const KILL_NO_WAIT: ValueMap = { mode: 'killnowait' }

export const createCalls = ({ autobahn, outbox, account, guard }: Asking): Calls => {
  const handlers = createInFlight<CallHandler>()

  return {
    call: (request, handler) => {
      const outcome = outbox.request(() => startCall(autobahn, request, handler))
      const id = outbox.lastRequestId
      handlers.add(id, handler)
      return {
        cancel: () => {
          if (handlers.remove(id) !== undefined) outcome.cancel(KILL_NO_WAIT)
        },
      }
    },

    onResult: (message) => {
      const requestId = message[1] as number
      const details = message[2] as ValueMap
      const handler = handlers.get(requestId)
      if (handler === undefined) return false
      const result = { requestId, ...payloadAt(message, 3), details }
      if (details['progress'] === true) {
        guard(() => handler.onProgress?.(result))
        return true
      }
      handlers.remove(requestId)
      account([MESSAGE.result, requestId, {}])
      guard(() => {
        handler.onResult(result)
      })
      return true
    },

    fail: (requestId, fault) => {
      const handler = handlers.remove(requestId)
      if (handler === undefined) return false
      account([MESSAGE.error, MESSAGE.call, requestId, {}, fault.uri])
      guard(() => {
        handler.onFailure(fault)
      })
      return true
    },

    end: (fault) => {
      for (const handler of handlers.drain()) {
        guard(() => {
          handler.onFailure(fault)
        })
      }
    },

    // Nobody waits for the answer: it is dropped as that of a cancelled call is, be it a number or a refusal.
    probe: () => {
      outbox.request(() => autobahn.call(PROBED, undefined, undefined, {}))
      account([MESSAGE.result, outbox.lastRequestId, {}])
    },

    get size() {
      return handlers.size
    },
  }
}

const startCall = (
  autobahn: AutobahnSession,
  request: CallRequest,
  handler: CallHandler,
): Outcome => {
  const { args, kwargs } = payloadToSend(request)
  const options =
    handler.onProgress === undefined
      ? request.options
      : { ...request.options, receive_progress: true }
  return autobahn.call(request.procedure, args, kwargs, options)
}
