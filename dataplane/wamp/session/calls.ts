// Sends calls in a session and reports the result to each caller: once, unless the call is cancelled. A cancelled call
// leaves nothing behind, whether the router ever responds to it or not.

import type { ValueMap } from '../../../language/expression/value.ts'
import type { ResponseListener, Peer, PendingRequest } from './autobahn.ts'
import { unansweredError } from './errors.ts'
import { createInFlight, type InFlight, type Linked } from './in-flight.ts'
import type { Outbox } from './outbox.ts'
import { payloadAt, payloadToSend } from './payload.ts'
import type {
  CallHandler,
  CallRequest,
  PendingCall,
  WampError,
  WampResult,
} from './joined-session.ts'
import { MESSAGE, type WampMessage } from '../protocol/messages.ts'

/** What everything that waits for responses needs. */
export interface RequestDeps {
  readonly peer: Peer
  readonly outbox: Outbox
  /** Runs a handler of the bridge; what it throws is logged. */
  readonly guard: (run: () => void) => void
}

export interface Calls {
  /** @throws WampError, unsent */
  call(request: CallRequest, handler: CallHandler): PendingCall
  end(error: WampError): void
  /** Makes the router send something, whatever it is. */
  probe(): void
  readonly size: number
}

// Every router responds to a call; of the meta procedures, which some routers have, this is the cheapest.
const PROBED = 'wamp.session.count'
const KILL_NO_WAIT: ValueMap = { mode: 'killnowait' }

export const createCalls = ({ peer, outbox, guard }: RequestDeps): Calls => {
  const inFlight = createInFlight<Call>()
  const deps: CallDeps = { inFlight, guard }
  let lastProbeId = 0

  return {
    call: (request, handler) => {
      const pending = outbox.request(() => startCall(peer, request, handler))
      const call = new Call(pending, handler, deps)
      pending.listener = call
      inFlight.add(call)
      return call
    },

    end: (error) => {
      for (const call of inFlight.drain()) call.onFailure(error)
    },

    // Nothing waits for the response, be it a result or an error. The next probe drops one that never came.
    probe: () => {
      peer.fail(MESSAGE.call, lastProbeId, unansweredError())
      outbox.request(() => peer.session.call(PROBED, undefined, undefined, {}))
      lastProbeId = outbox.lastRequestId
    },

    get size() {
      return inFlight.size
    },
  }
}

const startCall = (peer: Peer, request: CallRequest, handler: CallHandler): PendingRequest => {
  const { args, kwargs } = payloadToSend(request)
  const options =
    handler.onProgress === undefined
      ? request.options
      : { ...request.options, receive_progress: true }
  return peer.session.call(request.procedure, args, kwargs, options)
}

class Call implements ResponseListener, PendingCall, Linked<Call> {
  isInFlight = false
  older: Call | undefined = undefined
  younger: Call | undefined = undefined
  readonly #pending: PendingRequest
  readonly #handler: CallHandler
  readonly #deps: CallDeps

  constructor(pending: PendingRequest, handler: CallHandler, deps: CallDeps) {
    this.#pending = pending
    this.#handler = handler
    this.#deps = deps
  }

  onResponse(response: WampMessage): void {
    this.#deps.inFlight.remove(this)
    this.#deps.guard(() => {
      this.#handler.onResult(resultOf(response))
    })
  }

  onProgress(response: WampMessage): void {
    this.#deps.guard(() => this.#handler.onProgress?.(resultOf(response)))
  }

  onFailure(error: WampError): void {
    this.#deps.inFlight.remove(this)
    this.#deps.guard(() => {
      this.#handler.onFailure(error)
    })
  }

  cancel(): void {
    if (!this.#deps.inFlight.remove(this)) return
    this.#pending.listener = undefined
    this.#pending.cancel(KILL_NO_WAIT)
  }
}

interface CallDeps {
  readonly inFlight: InFlight<Call>
  readonly guard: (run: () => void) => void
}

/** Reads a RESULT whose shape has been checked. */
const resultOf = (message: WampMessage): WampResult => ({
  requestId: message[1] as number,
  ...payloadAt(message, 3),
  details: message[2] as ValueMap,
})
