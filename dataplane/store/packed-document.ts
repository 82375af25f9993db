// Defines the form in which a compiled document is stored and sent to workers: routes as data, and each operation as
// a slice of bytes from which its closures are built at first use.

import type { CompiledEndpoint, CompiledSecurity } from '../../language/compile/security.ts'
import type { StatusCodes } from '../../language/compiled.ts'
import type { Method, Scheme } from '../../language/document.ts'
import type { HostPattern } from '../../language/routes/host-pattern.ts'
import type { PathPattern } from '../../language/routes/path-pattern.ts'
import type { CompactText } from './compact-text.ts'

export interface PackedDocument {
  readonly id: string
  readonly realmUri: string
  /** Of the document as it was submitted. */
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
  /** JSON of what the operations have in common with the first, by itself, as documents have it in common, too. */
  readonly base: string
  /** Operations and path headers, one after the other, then the values they share. */
  readonly content: CompactText
  readonly shared: readonly Slice[]
}

export interface PackedVersion {
  readonly name: string
  readonly basePath: string
  readonly deprecation?: Readonly<Record<string, string>>
  readonly poolSize: number
  readonly languages: readonly string[]
  /** The entries of the version's table that the built-in one lacks or has with another value. */
  readonly ownStatusCodes: StatusCodes
  /** The security in front of `/ws`, and the schemes that it is served over. */
  readonly security: CompiledSecurity
  readonly schemes: readonly Scheme[]
  readonly endpoints: readonly CompiledEndpoint[]
  readonly paths: readonly PackedPath[]
}

export interface PackedPath {
  readonly template: string
  readonly patterns: readonly PathPattern[]
  readonly schemes: readonly Scheme[]
  readonly headers: Slice
  readonly operations: Readonly<Partial<Record<Method, Slice>>>
}

/** [offset, length] in the expanded `content`. */
export type Slice = readonly [offset: number, length: number]
