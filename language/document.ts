// Defines the authored document (specification §2) as it passes validation. Every property that accepts an expression
// is typed as `Expr`; the types that expressions must yield are checked after folding.

import type { Value, ValueMap } from './expression/value.ts'

export const METHODS = ['delete', 'get', 'head', 'options', 'patch', 'post', 'put'] as const
export type Method = (typeof METHODS)[number]

export type Scheme = 'http' | 'https'

/** A value, or a string holding `{{…}}` that yields it. */
export type Expr<T extends Value> = T | string

/** §2.1. `versions` is a map by name, or an array (behaviour §2). */
export interface ApiDocument {
  readonly id: string
  readonly host: string
  readonly realm_uri: string
  readonly name?: string
  readonly meta?: ValueMap
  readonly variables?: ValueMap
  readonly defaults?: DefaultsObject
  readonly status_codes?: StatusCodesObject
  /** For paths that set none; nearer than `defaults.security`. */
  readonly security?: Expr<ValueMap>
  readonly versions: Readonly<Record<string, VersionObject>> | readonly VersionObject[]
}

/** WAMP error URI → HTTP status. */
export type StatusCodesObject = Readonly<Record<string, Expr<number>>>

/** Units: timeouts milliseconds, `body_read_seconds` seconds (≥ 1000: milliseconds), sizes bytes. */
export interface LimitProperties {
  readonly body_max_bytes?: Expr<number>
  readonly body_max_byte?: Expr<number>
  readonly body_read_bytes?: Expr<number>
  readonly body_read_seconds?: Expr<number>
  readonly timeout?: Expr<number>
  readonly connect_timeout?: Expr<number>
  readonly retries?: Expr<number>
  readonly retry_timeout?: Expr<number>
}

/** §2.7 */
export interface DefaultsObject extends LimitProperties {
  readonly schemes?: Expr<readonly Scheme[]>
  readonly security?: Expr<ValueMap>
  readonly accepts?: Expr<readonly string[]>
  readonly provides?: Expr<readonly string[]>
  readonly headers?: Expr<ValueMap>
}

/** §2.2 */
export interface VersionObject {
  readonly name?: string
  readonly version?: string
  readonly base_path: string
  readonly paths: Readonly<Record<string, PathObject>>
  readonly is_active?: boolean
  readonly is_deprecated?: boolean
  readonly pool_size?: number
  readonly info?: ValueMap
  /** `deprecated_at`, `sunset_at`, `deprecation_link`; nearer than those of the API's `meta`. */
  readonly meta?: ValueMap
  readonly variables?: ValueMap
  readonly defaults?: DefaultsObject
  readonly status_codes?: StatusCodesObject
  /** For paths that set none; nearer than `defaults.security`. */
  readonly security?: Expr<ValueMap>
  readonly languages?: readonly string[]
}

/** §2.3 */
export interface PathObject extends DefaultsObject {
  readonly summary?: string
  readonly description?: string
  readonly variables?: Expr<ValueMap>
  readonly defaults?: Expr<ValueMap>
  readonly is_collection?: boolean
  readonly delete?: Expr<ValueMap>
  readonly get?: Expr<ValueMap>
  readonly head?: Expr<ValueMap>
  readonly options?: Expr<ValueMap>
  readonly patch?: Expr<ValueMap>
  readonly post?: Expr<ValueMap>
  readonly put?: Expr<ValueMap>
}
