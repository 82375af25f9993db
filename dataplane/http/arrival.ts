// What dispatch is given once, and what it knows of a request on the way: the shapes its steps share.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { CompiledAction } from '../../language/compile/action.ts'
import type { Scheme } from '../../language/document.ts'
import type { EndpointRoute } from '../../language/routes/endpoint-routes.ts'
import type { AccessLog } from '../../telemetry/access-log.ts'
import type { RequestRow } from '../../telemetry/request-metrics.ts'
import type { GatewayErrorCode } from '../gateway-error.ts'
import type { MemoryBudget } from '../memory/memory-budget.ts'
import type { Match } from '../router/route.ts'
import type { IsScarce } from '../least-rate.ts'
import type { RouteTable } from '../router/route-table.ts'
import type { Authenticate } from '../security/schemes/authentication.ts'
import type { ServedPath, ServedTarget, ServedVersion } from '../served.ts'
import type { EventStreams } from './sse/registry.ts'
import type { Client, ReadClient } from './request/forwarded.ts'
import type { Guard, Preparation, PreparedOperation } from './prepared-operation.ts'
import type { RequestHead } from './request/head.ts'
import type { Selected } from './select-route.ts'
import type { WebSocketRoutes } from './upgrade/web-socket-route.ts'

export interface DispatchOptions {
  readonly table: () => RouteTable<Served>
  readonly preparation: Preparation
  /** Endpoints of the gateway's own; without it there are none. */
  readonly endpoints?: EndpointHandler
  /** Where connections may be upgraded: plain requests are told so. None if left out. */
  readonly webSockets?: WebSocketRoutes
  /** Who sends a request. Left out: nobody can be checked, so all but anonymous operations refuse. */
  readonly authenticate?: Authenticate
  /** Told of every request that had to show who sends it. */
  readonly onAuthentication?: (scheme: Guard['type'], outcome: AuthenticationOutcome) => void
  readonly readClient: ReadClient
  readonly nextRequestId: () => string
  /** Monotonic, milliseconds. */
  readonly now: () => number
  /** Unix time, milliseconds. */
  readonly wallClock: () => number
  readonly accessLog: AccessLog | undefined
  /** Told what became of requests, where there are traces. */
  readonly traces?: SettledTraces | undefined
  /** Requests that are being answered; counted up and down here. */
  readonly inFlight: { count: number }
  /** Where open streams of events are known; without, each listener has its own. */
  readonly eventStreams?: EventStreams
  /** What bodies and answers may take of memory. */
  readonly memory: MemoryBudget
  /** Whether memory or connections are short; never if left out. */
  readonly isScarce?: IsScarce | undefined
  readonly onRefused: (code: GatewayErrorCode) => void
  /** Where requests count that no document serves. */
  readonly unmatched: RequestRow
  readonly onUnexpected: OnUnexpected
}

/** A fault of our own, and whose request it was. */
export type OnUnexpected = (error: unknown, requestId: string, request: IncomingMessage) => void

/** `identity`, or why a request was refused. */
export type AuthenticationOutcome = 'identity' | 'csrf' | GatewayErrorCode

export type Path = ServedPath<PreparedOperation>

export type Served = ServedTarget<PreparedOperation>

/** What is known of a request before a document is found for it. */
export interface Arrival {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly head: RequestHead
  readonly scheme: Scheme
  readonly client: Client | undefined
  readonly id: string
  readonly startedMs: number
}

/** How one request ended. */
export interface Settlement {
  readonly status: number
  /** Of the body. */
  readonly bytes: number
  /** The gateway answered by itself, with this code. */
  readonly refusal?: GatewayErrorCode
}

/** A status that is counted, never sent: what nginx counts for a client that did not wait. */
export const CLIENT_WENT_AWAY = 499

/** What served a request, as far as it is known. */
export interface TracedOperation {
  readonly version: ServedVersion
  /** The document's pattern, with the `base_path`. */
  readonly template: string
  readonly action: CompiledAction['type'] | 'endpoint' | 'ws'
}

/** Traces, as far as those know of them who settle requests. */
export interface SettledTraces {
  /** Ends the span; of a connection that was upgraded when that ends. */
  settled(
    arrival: Omit<Arrival, 'response'>,
    settlement: Settlement,
    operation?: TracedOperation,
  ): void
  traceIdOf(request: IncomingMessage): string | undefined
}

/** And after: everything its exchange needs. */
export interface Admission {
  readonly arrival: Arrival
  readonly match: Match<Served>
  readonly selected: Selected<PreparedOperation>
  readonly operation: PreparedOperation
  readonly language: string
}

/** A request for an endpoint of the gateway's own (§4.1, behaviour §6), handed to whoever answers it. */
export interface EndpointVisit {
  readonly dispatch: DispatchOptions
  readonly arrival: Arrival
  /** Whose settings count. */
  readonly version: ServedVersion
  /** What requests are counted by. */
  readonly template: string
  /** undefined: the public keys of all realms. */
  readonly route: EndpointRoute | undefined
  /** The decoded segment that the route binds. */
  readonly bound: string | undefined
  /** Methods of the path, for `Allow`. */
  readonly allow: string
}

/** One for an endpoint that a document mounts. */
export interface RoutedVisit extends EndpointVisit {
  readonly route: EndpointRoute
}

/** Answers and reports the request: whatever happens, once. */
export type EndpointHandler = (visit: EndpointVisit) => void
