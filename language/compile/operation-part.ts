// Defines a part that operations, paths and versions have of what is inherited: the keys of documents that it is compiled
// from, which of them have it, how it is compiled, and how it is described to people.

import type {
  CompiledOperation,
  CompiledRefusal,
  OperationParts,
  OwningParts,
  PathParts,
  UnmatchedParts,
} from './compiled.ts'
import type { Template } from '../expression/template.ts'
import type { Value, ValueMap } from '../expression/value.ts'
import type { DocumentSchema } from '../schema/document-notation.ts'
import type { Diagnostics } from './diagnostics.ts'
import type { Placed } from './folded.ts'
import type { Find, InheritedKeys } from './inheritance.ts'
import type { CompiledSecurity } from './security.ts'

/** What paths of a version share is compiled once. */
export type CompileRefusal = (placed: Placed | undefined) => CompiledRefusal | undefined

/** What parts are compiled with, beside the keys. */
export interface PartDeps {
  /** The security of the path, which has compiled it; undefined: there is none, and nothing is an operation's. */
  readonly security?: CompiledSecurity
  readonly diagnostics: Diagnostics
  readonly compileRefusal: CompileRefusal
  /** Inherited header maps that have been checked: a version's paths share them. */
  readonly validatedHeaders: Map<Placed, Template>
  /** As in `RealmFacts`. */
  readonly countsAlone: boolean
}

/** What is compiled from inherited keys, by what has it. */
export interface PartsOf<T = Template> {
  readonly operation: OperationParts<T>
  readonly path: PathParts<T>
  /** The parts of a version. */
  readonly unmatched: UnmatchedParts<T>
}

export type Holder = keyof PartsOf

export type InheritedParts<T = Template> = OperationParts<T> & PathParts<T>

export type PartName = keyof InheritedParts

/** Parts without templates: data that is known at load, which the steps of every request may read. */
type PlainPartName = {
  [P in PartName]-?: InheritedParts<'a'>[P] extends InheritedParts<'b'>[P] ? P : never
}[PartName]

export type PlainParts = Pick<CompiledOperation, PlainPartName & keyof OperationParts>

interface CommonPart<P extends PartName> {
  readonly keys: InheritedKeys
  /** Definitions that the schemas of its keys refer to. */
  readonly definitions?: Readonly<Record<string, DocumentSchema>>
  readonly of: { readonly [H in Holder]: P extends keyof PartsOf[H] ? true : false }
  /** undefined: the document has none, and what has it elsewhere lacks the part. */
  readonly compile: (find: Find, deps: PartDeps) => InheritedParts[P]
  /** With each of its templates as `change` gives it. A part that has any does not compile without, nor one without any with. */
  readonly map: P extends PlainPartName ? 'plain' : MapPart<P>
  /** Under the names of documents. What several parts have under one name is joined. */
  readonly describe: (part: InheritedParts<Value>[P]) => ValueMap
}

export type InheritedPart<P extends PartName> = CommonPart<P> &
  (P extends keyof OwningParts
    ? {
        /** In lower case. What documents write of it is left out, and warned of. */
        readonly ownsHeader: (name: string) => boolean
      }
    : { readonly ownsHeader?: never })

type MapPart<P extends PartName> = <A, B>(
  part: InheritedParts<A>[P],
  change: (template: A) => B,
) => InheritedParts<B>[P]

/** Parts that operations alone have. */
export const OF_OPERATIONS = { operation: true, path: false, unmatched: false } as const
/** For requests that no operation serves. */
export const OF_UNSERVED = { operation: false, path: true, unmatched: true } as const
export const OF_ALL = { operation: true, path: true, unmatched: true } as const
