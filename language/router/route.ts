// Defines what the router is built of and what a match returns. It knows hosts, path patterns and ages; what a route
// leads to (`T`) is the caller's.

import type { HostPattern } from '../routes/host-pattern.ts'
import type { PathPattern } from '../routes/path-pattern.ts'

/** All routes of one document. @typeParam W what `/ws` of a version leads to */
export interface RouteSet<T, W = unknown> {
  readonly id: string
  /** Decides conflicts: lower `rank` first (0 managed, 1 loaded by hand), then older, then by id. */
  readonly rank: number
  readonly since: number
  readonly hosts: readonly HostPattern[]
  readonly routes: readonly Route<T>[]
  /** `/ws` of each version, open or not: they stand for its `base_path` too. They hide no path with bindings, nor does one hide them (§2.2). */
  readonly webSockets?: readonly Route<W>[]
}

export interface Route<T> {
  readonly patterns: readonly PathPattern[]
  readonly target: T
}

/** One document's claim on a matched path. */
export interface Candidate<T> {
  readonly target: T
  readonly id: string
  /** Number of the route in its document. */
  readonly route: number
  readonly pattern: PathPattern
  readonly host: HostPattern
}

/**
 * `candidates` in order of precedence: fewer optional segments first, then rank, age, id. A request is
 * served by the first whose scheme and method match. `captures` are the decoded texts that bindings captured, in the order
 * of `pattern.bindings`; `hostCaptures` those of the host's labels (the i-th `null` of `labels`).
 */
export interface Match<T> {
  readonly candidates: readonly Candidate<T>[]
  readonly captures: readonly string[]
  readonly hostCaptures: readonly string[]
}
