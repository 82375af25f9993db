// Caches what was computed for texts that clients choose, in at most two generations, so that random texts cannot fill
// memory. Entries used recently stay.

/** Longer texts are not worth their memory. */
const MAX_KEY_LENGTH = 256

export class RecentMap<V> {
  readonly #generation: number
  #young = new Map<string, V>()
  #old = new Map<string, V>()

  /** @param generation entries of one generation: between one and two of them are remembered */
  constructor(generation: number) {
    this.#generation = generation
  }

  get(key: string): V | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  set(key: string, value: V): void {
    if (key.length > MAX_KEY_LENGTH) return
    if (this.#young.size >= this.#generation) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
  }
}
