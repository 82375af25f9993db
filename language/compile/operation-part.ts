// Defines a part of the compiled operation that is inherited: the keys of documents that it is compiled from, how it is
// compiled, and how it is described to people.

import type { CompiledOperation, OperationParts } from './compiled.ts'
import type { Template } from '../expression/template.ts'
import type { Value, ValueMap } from '../expression/value.ts'
import type { Diagnostics } from './diagnostics.ts'
import type { Placed } from './folded.ts'
import type { Find, InheritedKeys } from './inheritance.ts'
import type { CompiledSecurity } from './security.ts'

/** What parts are compiled with, beside the keys. */
export interface PartDeps {
  /** Of the path, which has compiled it. */
  readonly security: CompiledSecurity
  readonly diagnostics: Diagnostics
  /** Inherited header maps that have been checked: a version's paths share them. */
  readonly validatedHeaders: Map<Placed, Template>
}

export type PartName = keyof OperationParts

/** Parts without templates: data that is known at load, which the steps of every request may read. */
type PlainPartName = {
  [P in PartName]-?: OperationParts<'a'>[P] extends OperationParts<'b'>[P] ? P : never
}[PartName]

export type PlainParts = Pick<CompiledOperation, PlainPartName>

export interface OperationPart<P extends PartName> {
  readonly keys: InheritedKeys
  /** undefined: the document has none, and the operation lacks the part. */
  readonly compile: (find: Find, deps: PartDeps) => OperationParts[P]
  /** With each of its templates as `change` gives it. A part that has any does not compile without, nor one without any with. */
  readonly map: P extends PlainPartName ? 'plain' : MapPart<P>
  /** Under the names of documents. What several parts have under one name is joined. */
  readonly describe: (part: OperationParts<Value>[P]) => ValueMap
}

type MapPart<P extends PartName> = <A, B>(
  part: OperationParts<A>[P],
  change: (template: A) => B,
) => OperationParts<B>[P]
