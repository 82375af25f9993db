// Makes calls in a session and tells each caller of the result: once, unless the call is cancelled. A cancelled one
// leaves nothing behind, whether the router ever answers it or not.

import type { ValueMap } from '../../../language/expression/value.ts'
import type { AnswerListener, Peer, PendingRequest } from './autobahn.ts'
import { unansweredFault } from './errors.ts'
import { createInFlight, type InFlight, type Linked } from './in-flight.ts'
import type { Outbox } from './outbox.ts'
import { payloadAt, payloadToSend } from './payload.ts'
import type {
  CallHandler,
  CallRequest,
  PendingCall,
  WampFault,
  WampResult,
} from './joined-session.ts'
import { MESSAGE, type WampMessage } from '../protocol/messages.ts'

/** What all that waits for answers shares. */
export interface RequestDeps {
  readonly peer: Peer
  readonly outbox: Outbox
  /** Runs a handler of the bridge; what it throws is logged. */
  readonly guard: (run: () => void) => void
}

export interface Calls {
  /** @throws WampFault, unsent */
  call(request: CallRequest, handler: CallHandler): PendingCall
  end(fault: WampFault): void
  /** Makes the router say something, whatever it is. */
  probe(): void
  readonly size: number
}

// Every router answers a call; of those that have meta procedures this is the cheapest.
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

    end: (fault) => {
      for (const call of inFlight.drain()) call.onFailure(fault)
    },

    // Nobody waits for the answer, be it a number or a refusal. One that never came is forgotten with the next.
    probe: () => {
      peer.fail(MESSAGE.call, lastProbeId, unansweredFault())
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

class Call implements AnswerListener, PendingCall, Linked<Call> {
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

  onAnswer(answer: WampMessage): void {
    this.#deps.inFlight.remove(this)
    this.#deps.guard(() => {
      this.#handler.onResult(resultOf(answer))
    })
  }

  onProgress(answer: WampMessage): void {
    this.#deps.guard(() => this.#handler.onProgress?.(resultOf(answer)))
  }

  onFailure(fault: WampFault): void {
    this.#deps.inFlight.remove(this)
    this.#deps.guard(() => {
      this.#handler.onFailure(fault)
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

/** Of a checked RESULT. */
const resultOf = (message: WampMessage): WampResult => ({
  requestId: message[1] as number,
  ...payloadAt(message, 3),
  details: message[2] as ValueMap,
})
