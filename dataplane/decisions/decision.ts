// Defines what is kept of how one request was decided. It holds what stands in documents, codes, lengths, pointers and
// what the log has of a failure, and never a path, a host, a header, a query or a body as a client has sent it.

import type { Method, Scheme } from '../../language/document.ts'

/** The step of a request at which its result was decided (docs/architecture.md). */
export type DecisionStep =
  | 'head'
  | 'match'
  | 'scheme'
  | 'method'
  | 'upgrade'
  | 'authenticate'
  | 'requirements'
  | 'negotiate'
  | 'schema'
  | 'body'
  | 'limit'
  | 'expression'
  | 'action'
  | 'response'
  | 'client'
  | 'internal'

/** Why a route that was tried did not serve the request. */
export type MissReason =
  /** The segment after those that matched is another. */
  | 'segment'
  /** It is empty, `.` or `..`, which nothing matches. */
  | 'unsafe segment'
  /** The path ends before the pattern does. */
  | 'path too short'
  /** The path goes on after the end of the pattern. */
  | 'path too long'
  /** Path and host match; it is not served over this scheme. */
  | 'scheme'
  /** Path, host and scheme match; it has no such method. */
  | 'method'

/** A route that was tried, in patterns as documents have them. */
export interface TriedRoute {
  readonly document: string
  readonly host: string
  /** The pattern on this host that matched furthest. */
  readonly path: string
  /** Segments of the path that matched. */
  readonly matchedSegments: number
  readonly reason: MissReason
}

export interface DecisionCaller {
  /** `basic`, `api_key`, `oauth2`, `oidc` */
  readonly scheme: string
  /** `password`, `api_key`, … */
  readonly method: string
  /** The hash of realm and authid, with a key that the process has drawn: tells callers apart until it ends. */
  readonly hash: string
}

export interface DecisionDocument {
  readonly id: string
  readonly version: string
  /** The digest of the document, as `GET /api_specs?view=state` and the operator have it: says which generation it was. */
  readonly digest?: string | undefined
  readonly realm: string
  /** The pattern of the path, with its `base_path`. */
  readonly path: string
  readonly action: string
}

/** One entry of `GET /why/:id`. */
export interface Decision {
  readonly id: string
  /** ISO 8601, when the request arrived. */
  readonly at: string
  readonly ms: number
  readonly process: number
  readonly method: Method | 'other'
  readonly scheme: Scheme
  /** 499: the client has disconnected. */
  readonly status: number
  readonly step: DecisionStep
  /** The code of the error record, or of the failed action if the document or the gateway names it; otherwise left out. */
  readonly code?: string | undefined
  /** Why the action failed, or the token was refused: one word of a closed list, as in the log; else left out. */
  readonly reason?: string | undefined
  /** The claim of a refused token that is wrong, or the member of its header, and what would have counted. */
  readonly claim?: string | undefined
  readonly expected?: string | undefined
  /** How often it was sent to an upstream, or tried to be. */
  readonly attempts?: number | undefined
  /** `http://host:port` of the last attempt. */
  readonly upstream?: string | undefined
  /** What the peer or the operating system said; left out for expressions, whose texts may hold values of the request. */
  readonly detail?: string | undefined
  /** JSON pointer to the place in the document that refused. */
  readonly pointer?: string | undefined
  /** Left out where no document served the request. */
  readonly document?: DecisionDocument | undefined
  readonly caller?: DecisionCaller | undefined
  /** What was tried for a request that no document served: none at all if no document has its host. */
  readonly tried?: readonly TriedRoute[] | undefined
  /** What `safePath` leaves of a path that no document served. */
  readonly path?: string | undefined
  /**
   * How many requests of the same document and cause were not recorded since the one before, as there were too many in
   * one second; left out where there were none.
   */
  readonly more?: number | undefined
  /** In characters, without the query. */
  readonly pathLength: number
  readonly hostLength: number
}
