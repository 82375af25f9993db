// A set of keys that forgets the one that was asked for longest ago when it is full.

export class RecentKeys {
  readonly #keys = new Set<string>()
  readonly #size: number

  constructor(size: number) {
    this.#size = size
  }

  add(key: string): void {
    this.#keys.delete(key)
    this.#keys.add(key)
    const [oldest] = this.#keys
    if (this.#keys.size > this.#size && oldest !== undefined) this.#keys.delete(oldest)
  }

  has(key: string): boolean {
    if (!this.#keys.delete(key)) return false
    this.#keys.add(key)
    return true
  }
}
