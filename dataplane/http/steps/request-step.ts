// Defines what a step is: one thing that may stand between the match of a request and its action, at each door that
// requests come in by; and what it sees of a request, whichever door that was.

import type { Lacks } from '../../../language/router/select-route.ts'
import type { CompiledSecurity } from '../../../language/compile/security.ts'
import type { Identity } from '../../security/schemes/authentication.ts'
import type { DecisionStep } from '../../decisions/decision.ts'
import type { CompiledSchemas } from '../../../language/compile/compiled.ts'
import type { GatewayError, InvalidPart } from '../../gateway-error.ts'
import type { ServedWebSocket } from '../../served.ts'
import type { Guard, OperationShape } from '../operation-shape.ts'
import { placeOfClient } from '../client-place.ts'
import type { IncomingRequest } from '../incoming-request.ts'
import { preflightOf } from '../preflight.ts'
import type { LimitTime, PreparedLimits } from '../rate-limits/prepare-limits.ts'
import type { RequestHead } from '../request/head.ts'
import type { HeaderList } from '../response/headers.ts'
import type { RenderedResponse } from '../response/plan.ts'

/** Door → what of the document a request there is checked against. A new door does not compile without its entry in each row. */
export interface Doors {
  readonly http: OperationShape
  readonly webSocket: LimitedWebSocket
  readonly path: UnservedRequest
}

export interface LimitedWebSocket extends Pick<ServedWebSocket, 'security'> {
  readonly rateLimits: PreparedLimits | undefined
}

/** A request whose path a document has, but no operation for it. */
export interface UnservedRequest {
  readonly lacks: Lacks
  /** The schemes that the path is served over: `http and https`. */
  readonly schemes: string
  /** Its methods over this scheme, as `Allow` has them. */
  readonly allow: string
  /** To https, where the document says so; undefined: it does not. */
  redirect(): StepResult
  /** Those of the document for this path. */
  headers(): HeaderList
  /** A preflight that the `cors` of the document answers. */
  readonly isPreflight: boolean
}

export type Door = keyof Doors

/** What a step sees of a request: what was read of its head, and who sent it. Never Node's own. */
export type StepRequest = Pick<SeenRequest, keyof SeenRequest>

/**
 * A request at any door. What steps need of it is computed when one of them asks; a door says what is different there: for
 * which types it can respond, who may open a WebSocket, how callers authenticate.
 */
export abstract class SeenRequest {
  protected abstract readonly incomingRequest: Omit<IncomingRequest, 'response'>

  get head(): RequestHead {
    return this.incomingRequest.head
  }

  get contentEncoding(): string | undefined {
    return this.incomingRequest.request.headers['content-encoding']
  }

  /** `Sec-Fetch-Site`: which page made a browser send it. */
  get fetchSite(): string | undefined {
    const site = this.incomingRequest.request.headers['sec-fetch-site']
    return typeof site === 'string' ? site : undefined
  }

  /**
   * The address that the client is counted by where something is shared among clients; of IPv6 its /64. undefined: it is a
   * proxy's, whose clients are not known, or there is none.
   */
  get clientAddress(): string | undefined {
    return placeOfClient(this.incomingRequest)
  }

  /** undefined until a step has asked who the caller is, and for operations that do not ask. */
  get identity(): Identity | undefined {
    return this.incomingRequest.identity
  }

  /** It asks for a browser what a page of another origin may send (CORS). */
  get isPreflight(): boolean {
    return preflightOf(this.incomingRequest.request) !== undefined
  }

  /** The client has disconnected. */
  get isGone(): boolean {
    return this.incomingRequest.request.socket.destroyed
  }

  /** Whether a type of the operation, or a stream of events where it may give one, is acceptable to the client. */
  abstract readonly isAcceptable: boolean

  /**
   * Whether a page of this origin may open the WebSocket of this handshake with these credentials. Other requests have
   * nothing to check.
   */
  abstract checkOrigin(security: CompiledSecurity): CheckResult

  /** Whether the handshake of a WebSocket, if it is one, may go on to an upstream. @param isTaken the document wants it to */
  abstract checkHandshake(isTaken: boolean): CheckResult

  /** Checks query parameters, bindings and headers, and keeps the values that they stand for. @returns what is wrong */
  abstract checkHead(schemas: CompiledSchemas): readonly InvalidPart[]

  /** Counts it in the limits that need no caller, or in the others, unless its network alone refuses it. */
  abstract limit(
    limits: PreparedLimits,
    when: LimitTime,
    security: CompiledSecurity,
  ): CheckResult | Promise<CheckResult>

  /** Finds out who the caller is. */
  abstract authenticate(guard: Guard): CheckResult | Promise<CheckResult>
}

/** undefined: the request goes on. A GatewayError refuses it: status and metric are those of its code. */
export type CheckResult = Error | undefined

/** A response ends the request in order. */
export type StepResult = CheckResult | RenderedResponse

/** At one door. */
export interface DoorStep<Subject> {
  /** Whether the document asks for it: operations pay only for the steps that they have. */
  readonly isFor: (subject: Subject) => boolean
  readonly check: (request: StepRequest, subject: Subject) => StepResult | Promise<CheckResult>
}

export interface RequestStep {
  /** The name that `GET /why/:id` has for it, of a request that it refuses. */
  readonly name: DecisionStep | ((error: GatewayError) => DecisionStep)
  /**
   * Whether every request that is served a fixed response passes: one without a body, of a type that is kept. Otherwise the
   * short cut for fixed responses is closed to operations that have the step.
   */
  readonly isMetByFixed: boolean
  /** `none`: requests there have nothing that it could check. */
  readonly doors: { readonly [D in Door]: DoorStep<Doors[D]> | 'none' }
}
