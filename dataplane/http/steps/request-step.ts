// Defines what a step is: one thing that may stand between the match of a request and its action, at each door that
// requests come in by.

import type { Identity } from '../../security/schemes/authentication.ts'
import type { ServedWebSocket } from '../../served.ts'
import type { Guard, OperationShape } from '../operation-shape.ts'
import type { RequestHead } from '../request/head.ts'

/** Door → what of the document a request there is checked against. A new door does not compile without its entry in each row. */
export interface Doors {
  readonly http: OperationShape
  readonly webSocket: Pick<ServedWebSocket, 'security'>
}

export type Door = keyof Doors

/** What a step sees of a request, whichever door it came in by: what was read of its head, and who sent it. Never Node's own. */
export interface StepRequest {
  readonly head: Pick<RequestHead, 'accept' | 'contentType' | 'contentLength' | 'isChunked'>
  readonly contentEncoding: string | undefined
  /** undefined until a step has asked who the caller is, and for operations that do not ask. */
  readonly identity: Identity | undefined
  /** Whether a type of the operation, or a stream of events where it may give one, is acceptable to the client. */
  readonly isAcceptable: boolean
  /** The client has disconnected. */
  readonly isGone: boolean
  /** Finds out who the caller is. */
  authenticate(guard: Guard): Verdict | Promise<Verdict>
}

/**
 * undefined: the request goes on. An error refuses it: a GatewayError, from whose code status, metric and the step that
 * `GET /why/:id` names follow (`STATUSES`, `STEPS`).
 */
export type Verdict = Error | undefined

/** At one door. */
export interface DoorStep<Subject> {
  /** Whether the document asks for it: operations pay only for the steps that they have. */
  readonly isFor: (subject: Subject) => boolean
  readonly check: (request: StepRequest, subject: Subject) => Verdict | Promise<Verdict>
}

export interface RequestStep {
  /**
   * Whether every request that is served a fixed response passes: one without a body, of a type that is kept. Otherwise the
   * short cut for fixed responses is closed to operations that have the step.
   */
  readonly isMetByFixed: boolean
  /** `none`: requests there have nothing that it could check. */
  readonly doors: { readonly [D in Door]: DoorStep<Doors[D]> | 'none' }
}
