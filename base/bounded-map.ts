// Keeps at most so many entries of a map: one more forgets the entry that was set or used longest ago.

/** @example const seen = new BoundedMap<string, number>(10_000) */
export class BoundedMap<K, V> {
  readonly #maxEntries: number
  /** Set or used longest ago first. */
  readonly #entries = new Map<K, V>()
  /**
   * Looks for the oldest entry from where the last one was: from the start, it would pass all that were deleted since V8 has
   * tidied the map, a hundred thousand in a large one. What V8 has replaced meanwhile is kept by it, so it does not live long.
   */
  #oldest: Iterator<[K, V], undefined> | undefined
  #deletions = 0

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
    this.delete(key)
    this.#entries.set(key, value)
    return value
  }

  /** @returns the entry that was forgotten for it */
  set(key: K, value: V): readonly [K, V] | undefined {
    this.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size <= this.#maxEntries) return undefined
    this.#oldest ??= this.#entries[Symbol.iterator]()
    const { value: oldest } = this.#oldest.next()
    if (oldest !== undefined) this.delete(oldest[0])
    return oldest
  }

  delete(key: K): boolean {
    const isDeleted = this.#entries.delete(key)
    if (isDeleted && ++this.#deletions > this.#maxEntries) {
      this.#oldest = undefined
      this.#deletions = 0
    }
    return isDeleted
  }

  clear(): void {
    this.#entries.clear()
    this.#oldest = undefined
  }

  /** Set or used longest ago first. */
  values(): IterableIterator<V> {
    return this.#entries.values()
  }

  [Symbol.iterator](): IterableIterator<[K, V]> {
    return this.#entries[Symbol.iterator]()
  }
}
