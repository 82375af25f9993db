// Defines the targets of the route table: the served form of a document, shared by the store, which builds it, and
// the dispatcher, which runs it. `P` is whatever the dispatcher builds of an operation at its first use.

import type { CompiledSecurity } from '../language/compile/security.ts'
import type {
  CompiledOperation,
  PathParts,
  UnmatchedParts,
  VersionParts,
} from '../language/compile/compiled.ts'
import type { Method, ServedScheme } from '../language/document.ts'
import type { EndpointRoute } from '../language/compile/endpoint-routes.ts'

/** With what the document says for all paths of the version. */
export interface ServedVersion extends Omit<VersionParts, 'isActive' | 'security'> {
  readonly apiId: string
  /** The document's digest; if left out, it is not known. */
  readonly digest?: string | undefined
  readonly name: string
  /** As written, brackets and all. */
  readonly basePath: string
  readonly realmUri: string
  /** `namespace/name` of the resource that the document comes from. */
  readonly resource?: string | undefined
  /** The document may reach Services of this namespace, and nothing else in the cluster. */
  readonly confinedTo?: string | undefined
  /** Names of the credentials of its realm that the document may use; if left out, none. */
  readonly credentials?: readonly string[] | 'any' | undefined
  /** If left out, the document says nothing of what no path of it matches. */
  readonly loadParts?: (() => UnmatchedParts) | undefined
}

/** A version where it is mounted: `/ws` below its `base_path`. */
export interface MountedVersion {
  readonly version: ServedVersion
  /** `base_path` as written, then `/ws`. */
  readonly template: string
  /** undefined: it does not serve `/ws`. */
  readonly security: CompiledSecurity | undefined
  readonly schemes: readonly ServedScheme[]
}

/** `/ws` of a version: the path of WebSocket connections to its realm's router (§2.2). */
export interface ServedWebSocket extends MountedVersion {
  readonly security: CompiledSecurity
}

/** A target of the table: a path of a document, or a built-in endpoint. */
export type ServedTarget<P> = ServedPath<P> | ServedEndpoint

/** An endpoint that the security schemes of a version mount (§4.1, behaviour §6). */
export interface ServedEndpoint {
  readonly kind: 'endpoint'
  readonly version: ServedVersion
  /** `base_path` as written, then the endpoint's own. */
  readonly template: string
  readonly schemes: readonly ServedScheme[]
  readonly route: EndpointRoute
}

export interface ServedPath<P> {
  readonly kind: 'path'
  readonly version: ServedVersion
  /** `base_path` + path as written. */
  readonly template: string
  readonly schemes: readonly ServedScheme[]
  readonly operations: Readonly<Partial<Record<Method, OperationSlot<P>>>>
  loadParts(): PathParts
}

/** An operation, prepared or not: the dispatcher's cache sets and clears `prepared`. */
export interface OperationSlot<P> {
  readonly method: Method
  readonly path: ServedPath<P>
  load(): CompiledOperation
  prepared: P | undefined
  /** Used since the cache last checked it: such slots are kept. */
  isRecent: boolean
}
