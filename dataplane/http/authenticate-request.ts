// Authenticates a matched request as its operation demands. It decides synchronously if the identity is known
// already, and never reads the body.

import type { IncomingMessage } from 'node:http'
import { authSchemesOf, type SchemeName } from '../../language/compile/security.ts'
import type { RealmRecord } from '../../language/realm/record.ts'
import { clientAddress, isAddressRead } from '../client-address.ts'
import type { GatewayErrorCode, GatewayErrorReason, TokenReason } from '../gateway-error.ts'
import type {
  Authenticate,
  Caller,
  AuthenticateResult,
  WholeRequest,
} from '../security/schemes/authentication.ts'
import { unauthorized } from '../security/schemes/challenge.ts'
import type { IncomingRequest } from './incoming-request.ts'
import { clearingTicket } from './clearing-ticket.ts'
import { toGatewayError } from './errors.ts'
import type { Guard } from './operation-shape.ts'
import { asError } from '../../base/thrown.ts'
import type { CheckResult } from './steps/request-step.ts'

export interface AuthenticationOptions {
  /** Authenticates requests. If left out, all but anonymous operations reject every request. */
  readonly authenticate?: Authenticate
  /** The current record of a realm. If left out, no browser is redirected to a login. */
  readonly realm?: (uri: string) => RealmRecord | undefined
  /** Called for every request that had to be authenticated. */
  readonly onAuthentication?: (scheme: CountedScheme, result: CountedAuthentication) => void
}

export interface Authentication {
  readonly guard: Guard
  readonly realmUri: string
  /** If left out, the request has no body. */
  readonly readBody?: ReadWhole
}

/** Reads the whole body within the limits of the operation; rejects with a GatewayError. */
export type ReadWhole = () => Promise<Buffer>

/** `none`: of a caller who needs no credentials. */
export type CountedScheme = SchemeName | 'none' | 'several'

/** `identity`, `anonymous`, or why a request was rejected. */
export type CountedAuthentication =
  'identity' | 'anonymous' | GatewayErrorReason | TokenReason | GatewayErrorCode

/**
 * Keeps the identity of the caller, or gives the error that refuses the request. Calls `onAuthentication` with every result,
 * but not for a client that has disconnected meanwhile.
 */
export const authenticateRequest = (
  options: AuthenticationOptions,
  incomingRequest: Omit<IncomingRequest, 'response'>,
  { guard, realmUri, readBody }: Authentication,
): CheckResult | Promise<CheckResult> => {
  const { authenticate = refuseAll } = options
  const settle = (result: AuthenticateResult): CheckResult => {
    options.onAuthentication?.(
      countedScheme(guard, result),
      countedResult(result, incomingRequest.id),
    )
    if (result.kind === 'refused')
      return result.clearsTicket === true
        ? clearingTicket(result.error, guard, options.realm?.(realmUri))
        : result.error
    if (result.kind === 'identity') incomingRequest.identity = result.identity
    return undefined
  }
  const result = authenticate(guard, realmUri, callerOf(incomingRequest, readBody))
  if (!(result instanceof Promise)) return settle(result)
  return result
    .catch((error: unknown): AuthenticateResult => ({ kind: 'refused', error: asError(error) }))
    .then((late) => (incomingRequest.request.socket.destroyed ? undefined : settle(late)))
}

/** Fails closed: if nothing can verify credentials, none are accepted. */
const refuseAll: Authenticate = (security, realmUri) => ({
  kind: 'refused',
  error: unauthorized(authSchemesOf(security)[0]?.type ?? 'basic', realmUri),
})

/** The one that was taken of several alternatives. */
const countedScheme = (guard: Guard, result: AuthenticateResult): CountedScheme => {
  const [first, ...others] = guard
  if (result.kind === 'anonymous' || first === undefined) return 'none'
  if (others.length > 0) return result.kind === 'identity' ? result.identity.type : 'several'
  return first.type === 'anonymous' ? 'none' : first.type
}

/** CSRF rejections are counted apart from those for missing groups. */
const countedResult = (result: AuthenticateResult, requestId: string): CountedAuthentication => {
  if (result.kind !== 'refused') return result.kind
  const { code, reason, token } = toGatewayError(result.error, requestId)
  return token?.reason ?? reason ?? code
}

export const callerOf = (
  incomingRequest: Omit<IncomingRequest, 'response'>,
  readBody: ReadWhole = () => Promise.resolve(NOTHING),
): Caller => new RequestCaller(incomingRequest, readBody)

const NOTHING = Buffer.alloc(0)

/** The address is computed when it is read: for an address of the socket that is a system call. */
class RequestCaller implements Caller {
  readonly request: IncomingMessage
  readonly requestId: string
  readonly readBody: ReadWhole
  readonly #incomingRequest: Omit<IncomingRequest, 'response'>
  readonly #client: IncomingRequest['client']

  constructor(incomingRequest: Omit<IncomingRequest, 'response'>, readBody: ReadWhole) {
    this.request = incomingRequest.request
    this.requestId = incomingRequest.id
    this.readBody = readBody
    this.#incomingRequest = incomingRequest
    this.#client = incomingRequest.client
  }

  get whole(): WholeRequest {
    return this
  }

  get query(): string {
    return this.#incomingRequest.head.target.query
  }

  onAnswered(listener: (status: number) => void): void {
    this.#incomingRequest.onAnswered = listener
  }

  get address(): string {
    return clientAddress(this.request, this.#client)
  }

  get isAddressKnown(): boolean {
    return this.#client?.isAddressKnown ?? true
  }

  get isAddressRead(): boolean {
    return isAddressRead(this.request, this.#client)
  }

  get isForwarded(): boolean {
    return this.#client !== undefined
  }
}
