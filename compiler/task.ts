// Describes a document and its environment as data, so that another thread can compile it.

import type { CompileBounds } from '../language/compile.ts'
import type { Environment, RealmFacts } from '../language/realm/environment.ts'
import { ownValue } from '../language/expression/lookup.ts'
import { isMap, type ValueMap } from '../language/expression/value.ts'

export interface CompileTask {
  readonly document: unknown
  /** Facts of the realm that the document names; undefined: there is no such realm. */
  readonly realm: RealmFacts | undefined
  /** From Secrets. */
  readonly variables?: ValueMap
}

/**
 * Compiles and keeps what its program needs of the result: plain data, since it may come from another thread. Pure.
 */
export type CompileWork<R> = (task: CompileTask, bounds: Required<CompileBounds>) => R

export const environmentOf = ({ realm, variables }: CompileTask): Environment => ({
  realm: () => realm,
  ...(variables !== undefined && { variables }),
})

/** Keeps of the environment only the realm that the document names. */
export const taskOf = (document: unknown, environment: Environment): CompileTask => {
  const { variables } = environment
  const uri = isMap(document) ? ownValue(document, 'realm_uri') : undefined
  return {
    document,
    realm: environment.realm(typeof uri === 'string' ? uri : ''),
    ...(variables !== undefined && { variables }),
  }
}
