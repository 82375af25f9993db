// Caches a computed value by key as long as its inputs are the same objects, so that a change costs time only for what it
// concerns.

import { isSameList } from '../../base/same-entries.ts'

export class ComputedCache<T> {
  readonly #entries = new Map<string, { readonly inputs: readonly unknown[]; readonly value: T }>()

  /** `work` runs only if an input is another object than at the last call. */
  get(key: string, inputs: readonly unknown[], work: () => T): T {
    const entry = this.#entries.get(key)
    if (entry !== undefined && isSameList(entry.inputs, inputs)) return entry.value
    const value = work()
    this.#entries.set(key, { inputs, value })
    return value
  }

  /** The value must be computed again. */
  forget(key: string): void {
    this.#entries.delete(key)
  }

  keys(): Iterable<string> {
    return this.#entries.keys()
  }

  /** Forgets every key that is not in `live`. */
  retain(live: { has(key: string): boolean }): void {
    for (const key of this.#entries.keys()) if (!live.has(key)) this.#entries.delete(key)
  }
}
