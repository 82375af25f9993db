// A matched request and what its operation demands in, who sends it or why it is refused out: at once where
// that is known already, else later. Nothing of the body is read before.

import type { IncomingMessage } from 'node:http'
import { clientAddress } from '../client-address.ts'
import type { Authenticate, Caller, Identity, Verdict } from '../security/schemes/authentication.ts'
import { unauthorized } from '../security/schemes/challenge.ts'
import type { Arrival, AuthenticationOutcome, DispatchOptions } from './arrival.ts'
import { toGatewayError } from './errors.ts'
import type { Guard } from './prepared-operation.ts'
import { asError } from '../../base/thrown.ts'

/** What becomes of the request: exactly one of these is called, once. */
export interface Continuation {
  readonly proceed: (identity: Identity) => void
  readonly refuse: (error: unknown) => void
  /** The client went away while it was waited for. */
  readonly abandon: () => void
  /** One of these has thrown after waiting; nobody else hears of it. */
  readonly fail: (error: unknown) => void
}

/** Says so to `onAuthentication`, whatever comes of it. */
export const authenticateRequest = (
  options: DispatchOptions,
  arrival: Omit<Arrival, 'response'>,
  demand: { readonly guard: Guard; readonly realmUri: string },
  then: Continuation,
): void => {
  const { guard, realmUri } = demand
  const { authenticate = refuseAll } = options
  const settle = (verdict: Verdict): void => {
    options.onAuthentication?.(guard.type, outcomeOf(verdict))
    if (verdict.kind === 'identity') then.proceed(verdict.identity)
    else then.refuse(verdict.error)
  }
  const verdict = authenticate(guard, realmUri, callerOf(arrival))
  if (!(verdict instanceof Promise)) {
    settle(verdict)
    return
  }
  verdict
    .catch((error: unknown): Verdict => ({ kind: 'refused', error: asError(error) }))
    .then((late) => {
      if (arrival.request.socket.destroyed) then.abandon()
      else settle(late)
    })
    .catch(then.fail)
}

/** Fails closed: without anybody who could check credentials there are none that count. */
const refuseAll: Authenticate = ({ type }, realmUri) => ({
  kind: 'refused',
  error: unauthorized(type, realmUri),
})

/** A CSRF refusal would hide among those of missing groups. */
const outcomeOf = (verdict: Verdict): AuthenticationOutcome => {
  if (verdict.kind === 'identity') return 'identity'
  const { code, reason } = toGatewayError(verdict.error)
  return reason ?? code
}

export const callerOf = (arrival: Omit<Arrival, 'response'>): Caller => new RequestCaller(arrival)

/** The address costs a call into the system where it is the socket's: it is read by who needs it. */
class RequestCaller implements Caller {
  readonly request: IncomingMessage
  readonly requestId: string
  readonly #client: Arrival['client']

  constructor({ request, id, client }: Omit<Arrival, 'response'>) {
    this.request = request
    this.requestId = id
    this.#client = client
  }

  get address(): string {
    return clientAddress(this.request, this.#client)
  }

  get isAddressKnown(): boolean {
    return this.#client?.isAddressKnown ?? true
  }
}
