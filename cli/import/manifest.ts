// Defines one resource of an import, with what a person must add to it.

import type { ValueMap } from '../../language/expression/value.ts'

/** Name and namespace of a resource. */
export interface Place {
  readonly name: string
  /** null: the namespace in which it is applied. */
  readonly namespace: string | null
}

export const metadataOf = ({ name, namespace }: Place): ValueMap => ({
  name,
  ...(namespace !== null && { namespace }),
})

export interface Wanted {
  /** The key within the Secret. */
  readonly key: string
  /** What it is for: a pointer into the resource, or words. */
  readonly what: string
}

export interface Manifest {
  readonly object: ValueMap
  /** Applied together with it. */
  readonly beside?: readonly ValueMap[]
  /** Values that are never read back, and the Secret in which the resource expects them. */
  readonly secret?: { readonly name: string; readonly wanted: readonly Wanted[] }
  /** What else a person has to do. */
  readonly notes: readonly string[]
}
