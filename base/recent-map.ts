// Remembers what was worked out for texts that strangers choose: at most two generations of them, so that random
// texts cannot fill memory. What was asked for of late stays.

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
