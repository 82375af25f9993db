// Path patterns of documents (§2.2, §2.3, behaviour §2–3): what may be written, and what it stands for.

/**
 * One way through a pattern, optional segments decided. `null` is any one segment; `bindings[i]` names
 * it. `tail` true: any number of further segments (`[...]`). `weight` orders patterns that differ only
 * in what was optional: lower is tried first.
 */
export interface PathPattern {
  readonly segments: readonly (string | null)[]
  readonly bindings: readonly (string | null)[]
  readonly tail: boolean
  /** Number of trailing segments that came from optional brackets. */
  readonly optional: number
}
