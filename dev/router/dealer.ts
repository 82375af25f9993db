// Routes calls: sends INVOCATIONs, INTERRUPTs, results and errors to callers and callees. Keeps the registrations and
// the calls in flight of one realm; completes each call exactly once.

import { MESSAGE, type WampMessage } from '../../dataplane/wamp/protocol/messages.ts'
import { ownValue } from '../../language/expression/lookup.ts'
import type { Value, ValueMap } from '../../language/expression/value.ts'
import {
  type Call,
  type Cancel,
  type InvocationError,
  ProtocolViolation,
  type Register,
  type Unregister,
  type Yield,
} from './client-message.ts'
import { createRegistrations, type Picked } from './registrations.ts'
import { errorMessage, payloadTail, resultMessage } from './router-message.ts'
import { disclosed, type Session } from './session.ts'

export const DEALER_FEATURES: ValueMap = {
  call_canceling: true,
  call_timeout: true,
  caller_identification: true,
  pattern_based_registration: true,
  progressive_call_results: true,
  shared_registration: true,
}

export interface Dealer {
  register(callee: Session, message: Register): void
  unregister(callee: Session, message: Unregister): void
  /** @throws ProtocolViolation for a request id that is in use */
  call(caller: Session, message: Call): void
  cancel(caller: Session, message: Cancel): void
  yield(callee: Session, message: Yield): void
  error(callee: Session, message: InvocationError): void
  /** The session has left: its callers and its callees are informed. */
  forget(session: Session): void
}

export interface DealerNeeds {
  /** A whole number of 0 … limit - 1. */
  readonly drawBelow: (limit: number) => number
  /** Runs once after so many milliseconds, unless the function that it returns is called before. */
  readonly schedule: (delayMs: number, run: () => void) => () => void
}

export const createDealer = (needs: DealerNeeds): Dealer => new CallDealer(needs)

interface PendingCall {
  readonly caller: Session
  /** The id of the CALL, in the caller's session. */
  readonly request: number
  readonly callee: Session
  /** The id of the INVOCATION, in the callee's session. */
  readonly invocation: number
  readonly takesProgress: boolean
  /** CANCEL `kill` has been passed on; the callee's reply is awaited. */
  isInterrupted: boolean
  stopTimer: () => void
}

interface InFlight {
  readonly calls: Map<number, PendingCall>
  readonly invocations: Map<number, PendingCall>
  lastInvocation: number
}

const CANCEL_MODES = ['skip', 'kill', 'killnowait'] as const

type CancelMode = (typeof CANCEL_MODES)[number]

const isCancelMode = (value: unknown): value is CancelMode =>
  CANCEL_MODES.some((mode) => mode === value)

/** Longer ones would make timers fire at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1

class CallDealer implements Dealer {
  readonly #needs: DealerNeeds
  readonly #registrations: ReturnType<typeof createRegistrations>
  readonly #inFlight = new Map<Session, InFlight>()

  constructor(needs: DealerNeeds) {
    this.#needs = needs
    this.#registrations = createRegistrations(needs.drawBelow)
  }

  register(callee: Session, message: Register): void {
    this.#registrations.register(callee, message)
  }

  unregister(callee: Session, message: Unregister): void {
    this.#registrations.unregister(callee, message)
  }

  call(caller: Session, message: Call): void {
    if (this.#of(caller).calls.has(message.request)) {
      throw new ProtocolViolation(`request ${message.request} is still in flight`)
    }
    const picked = this.#registrations.pick(message.uri)
    if (picked === undefined) {
      const uri = 'wamp.error.no_such_procedure'
      caller.send(errorMessage(MESSAGE.call, message.request, uri))
      return
    }
    const pending = this.#open(caller, picked.callee, message)
    if (!picked.callee.send(invocationMessage(pending, picked, message))) {
      this.#fail(pending, PAYLOAD_REFUSED, ['the callee cannot be sent these arguments'])
      return
    }
    this.#limit(pending, ownValue(message.options, 'timeout'))
  }

  cancel(caller: Session, { request, options }: Cancel): void {
    const mode = ownValue(options, 'mode') ?? 'killnowait'
    if (!isCancelMode(mode)) {
      const args = ['mode must be skip, kill or killnowait']
      const uri = 'wamp.error.invalid_argument'
      caller.send(errorMessage(MESSAGE.cancel, request, uri, args))
      return
    }
    const pending = this.#of(caller).calls.get(request)
    // Answered in the meantime, or cancelled before.
    if (pending === undefined || pending.isInterrupted) return
    const isTold = mode !== 'skip' && interrupt(pending, mode)
    if (isTold && mode === 'kill') pending.isInterrupted = true
    else this.#fail(pending, 'wamp.error.canceled')
  }

  yield(callee: Session, { request, options, ...payload }: Yield): void {
    const pending = this.#of(callee).invocations.get(request)
    const isProgress = ownValue(options, 'progress') === true
    if (pending === undefined) {
      // The call is over; the callee would otherwise go on without a caller.
      if (isProgress) interruptInvocation(callee, request, 'killnowait')
      return
    }
    // The caller did not ask for progress, and would take it for the final result.
    if (isProgress && !pending.takesProgress) return
    const details = isProgress ? { progress: true } : {}
    const isSent = pending.caller.send(resultMessage(pending.request, details, payload))
    if (!isSent) this.#fail(pending, PAYLOAD_REFUSED, ['the caller cannot be sent this result'])
    else if (!isProgress) this.#settle(pending)
  }

  error(callee: Session, { request, details, uri, ...payload }: InvocationError): void {
    const pending = this.#of(callee).invocations.get(request)
    if (pending === undefined) return
    this.#settle(pending)
    const tail = payloadTail(payload)
    const error = [MESSAGE.error, MESSAGE.call, pending.request, details, uri, ...tail]
    if (pending.caller.send(error)) return
    pending.caller.send(errorMessage(MESSAGE.call, pending.request, uri))
  }

  forget(session: Session): void {
    this.#registrations.forget(session)
    const inFlight = this.#inFlight.get(session)
    if (inFlight === undefined) return
    for (const pending of [...inFlight.invocations.values()]) {
      this.#fail(pending, 'wamp.error.canceled', ['callee gone'])
    }
    for (const pending of [...inFlight.calls.values()]) {
      this.#settle(pending)
      interrupt(pending, 'killnowait')
    }
    this.#inFlight.delete(session)
  }

  #of(session: Session): InFlight {
    const known = this.#inFlight.get(session)
    if (known !== undefined) return known
    const made = { calls: new Map(), invocations: new Map(), lastInvocation: 0 }
    this.#inFlight.set(session, made)
    return made
  }

  #open(caller: Session, callee: Session, { request, options }: Call): PendingCall {
    const atCallee = this.#of(callee)
    const invocation = ++atCallee.lastInvocation
    const takesProgress =
      ownValue(options, 'receive_progress') === true &&
      callee.features.has('callee.progressive_call_results')
    const stopTimer = (): void => undefined
    const pending = {
      caller,
      request,
      callee,
      invocation,
      takesProgress,
      stopTimer,
      isInterrupted: false,
    }
    atCallee.invocations.set(invocation, pending)
    this.#of(caller).calls.set(request, pending)
    return pending
  }

  /** A time-out that is not a whole number of milliseconds is ignored, as on other routers. */
  #limit(pending: PendingCall, timeout: Value | undefined): void {
    if (typeof timeout !== 'number' || !Number.isInteger(timeout) || timeout <= 0) return
    const delayMs = Math.min(timeout, MAX_TIMEOUT_MS)
    pending.stopTimer = this.#needs.schedule(delayMs, () => {
      interrupt(pending, 'killnowait')
      this.#fail(pending, 'wamp.error.timeout', ['call timeout'])
    })
  }

  #fail(pending: PendingCall, uri: string, args: readonly Value[] = []): void {
    this.#settle(pending)
    pending.caller.send(errorMessage(MESSAGE.call, pending.request, uri, args))
  }

  /** Later messages of the callee belong to no call and are dropped. */
  #settle(pending: PendingCall): void {
    pending.stopTimer()
    this.#inFlight.get(pending.caller)?.calls.delete(pending.request)
    this.#inFlight.get(pending.callee)?.invocations.delete(pending.invocation)
  }
}

/** Too large for the receiver, or a value that its serializer can't encode. */
const PAYLOAD_REFUSED = 'wamp.error.invalid_payload'

const invocationMessage = (
  { caller, callee, invocation, takesProgress }: PendingCall,
  { registrationId, match }: Picked,
  { uri, options, args, kwargs }: Call,
): WampMessage => {
  const isDisclosed =
    ownValue(options, 'disclose_me') === true && callee.features.has('callee.caller_identification')
  const details = {
    ...(match === 'exact' ? {} : { procedure: uri }),
    ...(takesProgress ? { receive_progress: true } : {}),
    ...(isDisclosed ? disclosed('caller', caller) : {}),
  }
  const tail = payloadTail({ args, kwargs })
  return [MESSAGE.invocation, invocation, registrationId, details, ...tail]
}

/** False: the callee does not know INTERRUPT, which would end its session. */
const interrupt = ({ callee, invocation }: PendingCall, mode: CancelMode): boolean =>
  interruptInvocation(callee, invocation, mode)

const interruptInvocation = (callee: Session, invocation: number, mode: CancelMode): boolean => {
  if (!callee.features.has('callee.call_canceling')) return false
  return callee.send([MESSAGE.interrupt, invocation, { mode }])
}
