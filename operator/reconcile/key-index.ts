// Finds the keys of resources by a text that they have in common, such as a host or a namespace.

export class KeyIndex {
  /** Text → its keys; a single one without a set, as nearly all ids, hosts and routes have one key. */
  readonly #keys = new Map<string, string | Set<string>>()

  add(text: string, key: string): void {
    const known = this.#keys.get(text)
    if (known === undefined) this.#keys.set(text, key)
    else if (typeof known !== 'string') known.add(key)
    else if (known !== key) this.#keys.set(text, new Set([known, key]))
  }

  /** Does nothing if the key was not added. */
  remove(text: string, key: string): void {
    const known = this.#keys.get(text)
    if (known === key) this.#keys.delete(text)
    if (known === undefined || typeof known === 'string') return
    known.delete(key)
    const [first] = known
    if (known.size === 1 && first !== undefined) this.#keys.set(text, first)
  }

  has(text: string): boolean {
    return this.#keys.has(text)
  }

  /** In the order in which they were added. */
  of(text: string): Iterable<string> {
    const known = this.#keys.get(text)
    if (known === undefined) return NONE
    return typeof known === 'string' ? [known] : known
  }
}

const NONE: readonly string[] = []
