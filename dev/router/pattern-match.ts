// Validates URIs and patterns (exact, prefix, wildcard) and finds those that match. Knows nothing of topics or
// procedures.

import { isWampUri } from '../../language/wamp-uri.ts'

export const MATCH_POLICIES = ['exact', 'prefix', 'wildcard'] as const

export type MatchPolicy = (typeof MATCH_POLICIES)[number]

export const isMatchPolicy = (value: unknown): value is MatchPolicy =>
  MATCH_POLICIES.some((policy) => policy === value)

const WELL_FORMED = {
  exact: isWampUri,
  // The last part may be empty.
  prefix: (pattern) =>
    pattern === '' || isWampUri(pattern.endsWith('.') ? pattern.slice(0, -1) : pattern),
  // Any part may.
  wildcard: (pattern) => !/[\s#]/.test(pattern),
} satisfies Record<MatchPolicy, (pattern: string) => boolean>

/**
 * Checks by the loose rule of WAMP.
 * @example isPattern('com..created', 'wildcard') // true
 */
export const isPattern = (pattern: string, policy: MatchPolicy): boolean =>
  WELL_FORMED[policy](pattern)

const MATCHES = {
  exact: (pattern, uri) => pattern === uri,
  // Compares text, not parts: `com.exam` is a prefix of `com.example`.
  prefix: (pattern, uri) => uri.startsWith(pattern),
  wildcard: (pattern, uri) => {
    const wanted = pattern.split('.')
    const parts = uri.split('.')
    return (
      wanted.length === parts.length &&
      wanted.every((part, index) => part === '' || part === parts[index])
    )
  },
} satisfies Record<MatchPolicy, (pattern: string, uri: string) => boolean>

export const matchesPattern = (pattern: string, policy: MatchPolicy, uri: string): boolean =>
  MATCHES[policy](pattern, uri)

/** Values by pattern. Exact ones are looked up; the other patterns are few in a playground and are all tried. */
export class PatternTable<T> {
  readonly #byPolicy: Readonly<Record<MatchPolicy, Map<string, T>>> = {
    exact: new Map(),
    prefix: new Map(),
    wildcard: new Map(),
  }

  get(policy: MatchPolicy, pattern: string): T | undefined {
    return this.#byPolicy[policy].get(pattern)
  }

  set(policy: MatchPolicy, pattern: string, thing: T): void {
    this.#byPolicy[policy].set(pattern, thing)
  }

  delete(policy: MatchPolicy, pattern: string): void {
    this.#byPolicy[policy].delete(pattern)
  }

  /** All that match: the exact one, then prefixes, then wildcards. */
  all(uri: string): readonly T[] {
    const exact = this.#byPolicy.exact.get(uri)
    const patterns = [...this.#matching('prefix', uri), ...this.#matching('wildcard', uri)]
    const others = patterns.map(([, thing]) => thing)
    return exact === undefined ? others : [exact, ...others]
  }

  /** The one that a call goes to: exact before prefix before wildcard, then the longest pattern. */
  best(uri: string): T | undefined {
    return (
      this.#byPolicy.exact.get(uri) ??
      longest(this.#matching('prefix', uri)) ??
      longest(this.#matching('wildcard', uri))
    )
  }

  #matching(policy: MatchPolicy, uri: string): readonly (readonly [string, T])[] {
    return [...this.#byPolicy[policy]].filter(([pattern]) => matchesPattern(pattern, policy, uri))
  }
}

const longest = <T>(matching: readonly (readonly [string, T])[]): T | undefined =>
  matching.toSorted(([a], [b]) => b.length - a.length)[0]?.[1]
