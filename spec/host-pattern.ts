// Host patterns of documents (§2.1, behaviour §3): what may be written, and what it stands for.

/**
 * Labels left to right, lower case; `null` is one label of any name, bound when it was written with a
 * name (`:tenant` → `bindings[i] = 'tenant'`). `tail` true: any number of leading labels before them
 * (`[...]`). `_` alone is `{labels: [], bindings: [], tail: true}`.
 */
export interface HostPattern {
  readonly labels: readonly (string | null)[]
  readonly bindings: readonly (string | null)[]
  readonly tail: boolean
}
