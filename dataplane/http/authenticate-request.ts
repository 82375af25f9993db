// Authenticates a matched request as its operation demands. It decides synchronously if the identity is known
// already, and never reads the body.

import type { IncomingMessage } from 'node:http'
import { clientAddress } from '../client-address.ts'
import type {
  Authenticate,
  Caller,
  Identity,
  AuthenticateResult,
} from '../security/schemes/authentication.ts'
import { unauthorized } from '../security/schemes/challenge.ts'
import type { IncomingRequest, CountedAuthentication, DispatchOptions } from './incoming-request.ts'
import { toGatewayError } from './errors.ts'
import type { Guard } from './prepared-operation.ts'
import { asError } from '../../base/thrown.ts'

/** What to do next: exactly one of these is called, once. */
export interface Continuation {
  readonly proceed: (identity: Identity) => void
  readonly refuse: (error: unknown) => void
  /** The client disconnected while authentication was pending. */
  readonly abandon: () => void
  /** One of these has thrown after waiting; no other code sees the error. */
  readonly fail: (error: unknown) => void
}

/** Calls `onAuthentication` with every result. */
export const authenticateRequest = (
  options: DispatchOptions,
  incomingRequest: Omit<IncomingRequest, 'response'>,
  demand: { readonly guard: Guard; readonly realmUri: string },
  then: Continuation,
): void => {
  const { guard, realmUri } = demand
  const { authenticate = refuseAll } = options
  const settle = (result: AuthenticateResult): void => {
    options.onAuthentication?.(guard.type, countedResult(result))
    if (result.kind === 'identity') {
      incomingRequest.identity = result.identity
      then.proceed(result.identity)
    } else then.refuse(result.error)
  }
  const verdict = authenticate(guard, realmUri, callerOf(incomingRequest))
  if (!(verdict instanceof Promise)) {
    settle(verdict)
    return
  }
  verdict
    .catch((error: unknown): AuthenticateResult => ({ kind: 'refused', error: asError(error) }))
    .then((late) => {
      if (incomingRequest.request.socket.destroyed) then.abandon()
      else settle(late)
    })
    .catch(then.fail)
}

/** Fails closed: if nothing can verify credentials, none are accepted. */
const refuseAll: Authenticate = ({ type }, realmUri) => ({
  kind: 'refused',
  error: unauthorized(type, realmUri),
})

/** CSRF rejections are counted apart from those for missing groups. */
const countedResult = (result: AuthenticateResult): CountedAuthentication => {
  if (result.kind === 'identity') return 'identity'
  const { code, reason } = toGatewayError(result.error)
  return reason ?? code
}

export const callerOf = (incomingRequest: Omit<IncomingRequest, 'response'>): Caller =>
  new RequestCaller(incomingRequest)

/** The address is computed when it is read: for an address of the socket that is a system call. */
class RequestCaller implements Caller {
  readonly request: IncomingMessage
  readonly requestId: string
  readonly #client: IncomingRequest['client']

  constructor({ request, id, client }: Omit<IncomingRequest, 'response'>) {
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
