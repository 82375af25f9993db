// Defines a request for a built-in endpoint (§4.1, behaviour §6), as its handler gets it.

import type { EndpointRoute } from '../../../language/compile/endpoint-routes.ts'
import type { RequestRow } from '../../../telemetry/request-row.ts'
import type { MemoryBudget } from '../../memory/memory-budget.ts'
import type { ServedVersion } from '../../served.ts'
import type { AuthenticationOptions } from '../authenticate-request.ts'
import type { IncomingRequest } from '../incoming-request.ts'
import type { LimitDeps } from '../rate-limits/check-limits.ts'
import type { ReportOptions } from '../report.ts'

export interface BuiltinRequest {
  readonly dispatch: BuiltinOptions
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

/** The options of dispatch that handlers need. */
export interface BuiltinOptions extends AuthenticationOptions, ReportOptions {
  /** The memory budget of bodies and responses. */
  readonly memory: MemoryBudget
  /** Counts requests that are limited. */
  readonly limits: LimitDeps
}

/** A request for an endpoint that a document mounts. */
export interface RoutedBuiltinRequest extends BuiltinRequest {
  readonly route: EndpointRoute
}

/** Responds to and records the request exactly once, whatever happens. */
export type EndpointHandler = (builtinRequest: BuiltinRequest) => void
