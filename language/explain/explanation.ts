// Defines what is explained of one request: plain data, as `GET /explain` sends it and `svc explain` prints it.

import type { Method, Scheme } from '../document.ts'
import type { Miss } from '../router/explain-miss.ts'
import type { OperationDescription } from './describe-operation.ts'

/** A host pattern that was tried, with the path pattern on it that matched furthest. */
export interface TriedHost {
  readonly outcome: 'matched' | 'missed'
  readonly document: string
  readonly host: string
  readonly path: string
  readonly matched_segments: number
  /** null: it matched. */
  readonly reason: Miss['reason'] | 'older document' | null
}

export interface RouteTaken {
  readonly kind: 'operation' | 'endpoint' | 'websocket' | 'keys'
  /** `""` for what the gateway itself has. */
  readonly document: string
  readonly version: string
  readonly realm: string
  /** `base_path`, then the path, as written. */
  readonly path: string
  /** null: the path has no such method, or is not served over this scheme. */
  readonly method: Method | null
  /** JSON pointer of the operation in the document, or of the path that has none for this request. */
  readonly pointer: string | null
  readonly action: string
}

/** A step before the action. `unknown`: it depends on what is not checked here, such as credentials. */
export interface Check {
  readonly name: 'scheme' | 'method' | 'security' | 'accept' | 'body' | 'upgrade'
  readonly result: 'pass' | 'fail' | 'unknown'
  readonly message: string
}

export type ExplainedResult =
  /** As far as is known before the action; `status` null: the action decides. */
  | { readonly outcome: 'served'; readonly status: number | null; readonly message: string }
  | {
      readonly outcome: 'rejected'
      readonly status: number
      readonly code: string
      /** As in `GET /why/:id`. */
      readonly step: 'head' | 'route' | 'method' | 'upgrade' | 'authenticate' | 'negotiate' | 'body'
      readonly message: string
    }

/** What the route table says, which a serving process knows. */
export interface RouteExplanation {
  readonly request: {
    readonly method: string
    readonly scheme: Scheme
    readonly host: string
    /** Without the query. */
    readonly path: string
  }
  /** Host patterns in the order in which they were tried. */
  readonly tried: readonly TriedHost[]
  readonly route: RouteTaken | null
  readonly checks: readonly Check[]
  readonly verdict: ExplainedResult
}

/** A version that would match if it were active. */
export interface InactiveRoute {
  readonly document: string
  readonly version: string
  readonly path: string
}

/** With what the documents say. */
export interface Explanation extends RouteExplanation {
  /** Routes that would serve a request that no document serves. */
  readonly inactive: readonly InactiveRoute[]
  /** Inherited and folded; null: no operation was found, or it cannot be folded without the values of its Secrets. */
  readonly operation: OperationDescription | null
  /** Why there is no operation although one serves the request. */
  readonly note: string | null
}
