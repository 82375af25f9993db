// Defines the form in which a compiled document is stored and sent to workers: routes as data, and all operations as
// one deflated value, from which closures are built at first use.

import type { CompiledEndpoint } from '../../../language/compile/security.ts'
import type {
  CompiledPath,
  PathParts,
  StatusCodes,
  UnmatchedParts,
  VersionParts,
} from '../../../language/compile/compiled.ts'
import type { Method, ServedScheme } from '../../../language/document.ts'
import type { HostPattern } from '../../../language/routes/host-pattern.ts'
import type { PathPattern } from '../../../language/routes/path-pattern.ts'
import type { Compact } from './compact.ts'

export interface PackedDocument {
  readonly id: string
  readonly realmUri: string
  /** The digest of the document as it was submitted. */
  readonly digest?: string
  /** `namespace/name` of the resource that it comes from. */
  readonly resource?: string
  /** Namespace that its requests may not leave for another one of the cluster. */
  readonly confinedTo?: string
  /** Credentials of its realm that its operator lets it use; absent: none if it is managed, otherwise any. */
  readonly credentials?: readonly string[]
  /** 0 managed, 1 loaded by hand. */
  readonly rank: number
  /** Unix time, milliseconds. */
  readonly since: number
  readonly hosts: readonly HostPattern[]
  readonly versions: readonly PackedVersion[]
  /** An `UnpackedDocument`. */
  readonly content: Compact
}

/** `security` and `schemes` are those of `/ws`. */
export interface PackedVersion extends Omit<VersionParts, 'statusCodes'> {
  readonly name: string
  readonly basePath: string
  readonly schemes: readonly ServedScheme[]
  /** The entries of the version's table that the built-in one lacks or has with another value. */
  readonly ownStatusCodes: StatusCodes
  readonly endpoints: readonly CompiledEndpoint[]
  readonly paths: readonly PackedPath[]
  /** The document says something of requests that no path of it matches. */
  readonly wordsUnmatched?: true
}

export interface PackedPath {
  readonly template: string
  readonly patterns: readonly PathPattern[]
  readonly schemes: readonly ServedScheme[]
  /** The methods of its operations. */
  readonly methods: readonly Method[]
}

/** What only requests need. */
export interface UnpackedDocument {
  /** The paths of all versions, one version after the other. */
  readonly paths: readonly UnpackedPath[]
  /** The refusal of each version. */
  readonly unmatched: readonly UnmatchedParts[]
}

export type UnpackedPath = PathParts & Pick<CompiledPath, 'operations'>
