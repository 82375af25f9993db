// Keeps at most so many entries of a map: one more forgets the entry that was set or used longest ago.

/** @example const seen = new BoundedMap<string, number>(10_000) */
export class BoundedMap<K, V> {
  readonly #maxEntries: number
  /** Set or used longest ago first. */
  readonly #entries = new Map<K, V>()

  /** @param maxEntries 1 at least */
  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries
  }

  get size(): number {
    return this.#entries.size
  }

  /** Does not count as a use. */
  get(key: K): V | undefined {
    return this.#entries.get(key)
  }

  has(key: K): boolean {
    return this.#entries.has(key)
  }

  /** The value, which from now on is the last that will be forgotten. */
  use(key: K): V | undefined {
    const value = this.#entries.get(key)
    if (value === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, value)
    return value
  }

  /** @returns the entry that was forgotten for it */
  set(key: K, value: V): readonly [K, V] | undefined {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size <= this.#maxEntries) return undefined
    const [oldest] = this.#entries
    if (oldest !== undefined) this.#entries.delete(oldest[0])
    return oldest
  }

  delete(key: K): boolean {
    return this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
  }

  /** Set or used longest ago first. */
  values(): IterableIterator<V> {
    return this.#entries.values()
  }

  [Symbol.iterator](): IterableIterator<[K, V]> {
    return this.#entries[Symbol.iterator]()
  }
}
