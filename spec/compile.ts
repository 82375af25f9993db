// The pipeline of the language in one screen: an unknown value in, a compiled document or every fault
// out. Total (never throws on what a user sent), deterministic, pure.

import type { CompiledApi } from './compiled.ts'
import type { ValueMap } from './expression/value.ts'
import type { Problem, Warning } from './problem.ts'

/** What a document is judged against. */
export interface Environment {
  /** Facts of a realm; undefined: there is no such realm. */
  realm(uri: string): RealmFacts | undefined
  /** From Secrets: laid over the document's own `variables` by name. */
  readonly variables?: ValueMap
}

export interface RealmFacts {
  readonly authmethods: readonly string[]
  /** Names of `info.oidc_providers`. */
  readonly oidcProviders: readonly string[]
}

export type Compilation =
  | { readonly compiled: CompiledApi; readonly warnings: readonly Warning[] }
  | { readonly problems: readonly Problem[] }

export declare function compile(document: unknown, environment: Environment): Compilation
