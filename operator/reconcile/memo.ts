// Remembers what was worked out for a key while its inputs are the very same objects: what makes a change
// cost no more than what it touches.

export class Memo<T> {
  readonly #entries = new Map<string, { readonly inputs: readonly unknown[]; readonly value: T }>()

  /** `work` runs only when an input is another one than last time. */
  get(key: string, inputs: readonly unknown[], work: () => T): T {
    const entry = this.#entries.get(key)
    if (entry !== undefined && same(entry.inputs, inputs)) return entry.value
    const value = work()
    this.#entries.set(key, { inputs, value })
    return value
  }

  /** What was worked out for it is to be worked out again. */
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

const same = (left: readonly unknown[], right: readonly unknown[]): boolean =>
  left.length === right.length && left.every((input, i) => input === right[i])
