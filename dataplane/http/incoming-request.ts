// Defines the options of dispatch, and the types of a request that its steps share.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RequestFailure } from '../actions/request-failure.ts'
import type { SchemeName } from '../../language/compile/security.ts'
import type { CompiledAction } from '../../language/compile/action.ts'
import type { Scheme } from '../../language/document.ts'
import type { RefusingPlace } from '../../language/failing-place.ts'
import type { RealmRecord } from '../../language/realm/record.ts'
import type { EndpointRoute } from '../../language/compile/endpoint-routes.ts'
import type { AccessLog } from '../../telemetry/access-log.ts'
import type { RequestRow } from '../../telemetry/request-row.ts'
import type { DecisionStep } from '../decisions/decision.ts'
import type { GatewayErrorCode, GatewayErrorReason } from '../gateway-error.ts'
import type { MemoryBudget } from '../memory/memory-budget.ts'
import type { Turns } from '../turns.ts'
import type { IsScarce } from '../least-rate.ts'
import type { RouteTable } from '../../language/router/route-table.ts'
import type { Authenticate, Identity } from '../security/schemes/authentication.ts'
import type { MountedVersion, ServedPath, ServedTarget, ServedVersion } from '../served.ts'
import type { ReportFailure } from './failure-report.ts'
import type { EventStreams } from './sse/registry.ts'
import type { Client, ReadClient } from './request/forwarded.ts'
import type { Preparation, PreparedOperation } from './prepared-operation.ts'
import type { RequestHead } from './request/head.ts'
import type { RealmOrigins } from './realm-origins.ts'
import type { SwitchedPeer } from '../actions/performer.ts'
import type { WebSocketOffer } from '../web-socket-switch.ts'
import type { OperationShape } from './operation-shape.ts'
import type { Envelope } from './response/own-headers.ts'
import type { WebSocketRoutes } from './upgrade/web-socket-route.ts'

export interface DispatchOptions {
  readonly table: () => RouteTable<Served, MountedVersion>
  /** Whether an operator owns this gateway and has never sent anything; if left out, never. */
  readonly isAwaitingOperator?: () => boolean
  readonly preparation: Preparation
  /** Handles requests for built-in endpoints; if left out, there are none. */
  readonly endpoints?: EndpointHandler
  /** The origins whose pages may open WebSockets with the credentials of a realm. */
  readonly origins: (realmUri: string) => RealmOrigins
  /** Finds the paths of WebSocket connections, so that plain requests to them get 426; if left out, there are none. */
  readonly webSockets?: WebSocketRoutes
  /** Authenticates requests. If left out, all but anonymous operations reject every request. */
  readonly authenticate?: Authenticate
  /** `--base-url`: the URL that clients reach the gateway by. */
  readonly baseUrl?: string | null | undefined
  /** The current record of a realm. If left out, no browser is redirected to a login. */
  readonly realm?: (uri: string) => RealmRecord | undefined
  /** Called for every request that had to be authenticated. */
  readonly onAuthentication?: (scheme: CountedScheme, result: CountedAuthentication) => void
  readonly readClient: ReadClient
  readonly nextRequestId: () => string
  /** Monotonic, milliseconds. */
  readonly now: () => number
  /** Unix time, milliseconds. */
  readonly wallClock: () => number
  readonly accessLog: AccessLog | undefined
  /** Called with the result of each request, if requests are traced. */
  readonly traces?: SettledTraces | undefined
  /** Records how requests were decided; if left out, nothing is. */
  readonly decisions?: DecisionRecorder
  /** Requests in progress; dispatch counts it up and down. */
  readonly inFlight: { count: number }
  /** The registry of open event streams; if left out, each listener has its own. */
  readonly eventStreams?: EventStreams
  /** Turns of what takes long; if left out, each listener has its own. */
  readonly turns?: Turns | undefined
  /** The memory budget of bodies and responses. */
  readonly memory: MemoryBudget
  /** Whether memory or connections are short; if left out, never. */
  readonly isScarce?: IsScarce | undefined
  readonly onRefused: (code: GatewayErrorCode) => void
  /** The row for requests that no document serves. */
  readonly unmatched: RequestRow
  readonly onUnexpected: OnUnexpected
  /** Called for every request with a reason why it failed; if left out, nothing is reported. */
  readonly onFailure?: ReportFailure
}

/** Called for an unexpected error, with the id of its request. */
export type OnUnexpected = (error: unknown, requestId: string, request: IncomingMessage) => void

/** `none`: of a caller who needs no credentials. */
export type CountedScheme = SchemeName | 'none' | 'several'

/** `identity`, `anonymous`, or why a request was rejected. */
export type CountedAuthentication = 'identity' | 'anonymous' | GatewayErrorReason | GatewayErrorCode

export type Path = ServedPath<PreparedOperation>

export type Served = ServedTarget<PreparedOperation>

/** What carries the handshake of a WebSocket up to its 101. */
export interface ConnectionUpgrade {
  readonly offer: WebSocketOffer | undefined
  admit(realmUri: string): Error | undefined
  open(peer: SwitchedPeer, exchange: UpgradedExchange): boolean
}

export interface UpgradedExchange {
  readonly incomingRequest: Omit<IncomingRequest, 'response'>
  readonly operation: {
    readonly version: ServedVersion
    readonly shape: { readonly guard: OperationShape['guard'] }
  }
  readonly response: ServerResponse
  readonly envelope: Envelope
}

/** A request that was received and is not matched to a route yet. */
export interface IncomingRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly head: RequestHead
  readonly scheme: Scheme
  readonly client: Client | undefined
  readonly id: string
  readonly startedMs: number
  /** Set while the connection may be switched to a WebSocket. */
  readonly upgrade?: ConnectionUpgrade | undefined
  /** The caller, as soon as its credentials were accepted. */
  identity: Identity | undefined
}

/** How one request ended. */
export interface Settlement {
  readonly status: number
  /** Of the body. */
  readonly bytes: number
  /** The gateway responded with an error record of this code. */
  readonly refusal?: GatewayErrorCode
  /** What has refused it, where that is one of the list of steps. */
  readonly step?: DecisionStep | undefined
  /** The action failed with this URI, which the gateway or the document names. */
  readonly failure?: string
  /** Why it failed, whatever the document made of it. */
  readonly why?: RequestFailure
  /** What of the document refused the request: finding it takes long, and happens only for what is recorded. */
  readonly place?: RefusingPlace
}

/** A status that is counted, never sent: nginx uses it for a client that did not wait for the response. */
export const CLIENT_WENT_AWAY = 499

/** The operation that served a request, as far as it is known. */
export interface TracedOperation {
  readonly version: ServedVersion
  /** The document's pattern, with the `base_path`. */
  readonly template: string
  readonly action: CompiledAction['type'] | 'endpoint' | 'ws'
  /** JSON pointer into the document of what refused a request; if left out, it is not known. */
  readonly pointerOf?: (place: RefusingPlace) => string | undefined
}

/** The part of tracing that is called when a request ends. */
export interface SettledTraces {
  /** Ends the span; that of an upgraded connection ends with the connection. */
  settled(
    incomingRequest: Omit<IncomingRequest, 'response'>,
    settlement: Settlement,
    operation?: TracedOperation,
  ): void
  traceIdOf(request: IncomingMessage): string | undefined
}

/** A request whose decision is recorded. */
export interface EndedRequest {
  readonly incomingRequest: Omit<IncomingRequest, 'response'>
  readonly settlement: Settlement
  readonly seconds: number
  /** undefined: no document served it. */
  readonly operation?: TracedOperation | undefined
}

/** The part of the log of decisions that is called when a request ends. */
export interface DecisionRecorder {
  /**
   * Whether a request that ended so is recorded. It counts, so call it once for each request.
   * @param version undefined where none served the request
   */
  keeps(settlement: Settlement, version: Pick<ServedVersion, 'apiId'> | undefined): boolean
  record(request: EndedRequest): void
}

/** A request for a built-in endpoint (§4.1, behaviour §6), as its handler gets it. */
export interface BuiltinRequest {
  readonly dispatch: DispatchOptions
  readonly incomingRequest: IncomingRequest
  /** The version whose settings apply. */
  readonly version: ServedVersion
  /** The path by which requests are counted. */
  readonly template: string
  /** Found while the document is served: it may be removed before the request ends. */
  readonly row: RequestRow
  /** undefined: the public keys of all realms. */
  readonly route: EndpointRoute | undefined
  /** The decoded segment that the route binds. */
  readonly bound: string | undefined
  /** Methods of the path, for `Allow`. */
  readonly allow: string
}

/** A request for an endpoint that a document mounts. */
export interface RoutedBuiltinRequest extends BuiltinRequest {
  readonly route: EndpointRoute
}

/** Responds to and records the request exactly once, whatever happens. */
export type EndpointHandler = (builtinRequest: BuiltinRequest) => void
