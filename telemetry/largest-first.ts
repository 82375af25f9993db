// Counts what each of many items has, and finds an item that has most. Every step takes the same time, however many
// items there are.

/**
 * @example
 * const tenants = new LargestFirst<string>()
 * tenants.grow('shop')
 * tenants.largest // 'shop'
 */
export class LargestFirst<T> {
  readonly #sizes = new Map<T, number>()
  readonly #bySize = new Map<number, Set<T>>()
  #most = 0

  get largest(): T | undefined {
    const [first] = this.#bySize.get(this.#most) ?? []
    return first
  }

  /** 0 for an item that has nothing. */
  sizeOf(item: T): number {
    return this.#sizes.get(item) ?? 0
  }

  grow(item: T): void {
    const size = this.sizeOf(item)
    this.#move(item, { from: size, to: size + 1 })
    this.#most = Math.max(this.#most, size + 1)
  }

  /** An item that has nothing stays as it is. */
  shrink(item: T): void {
    const size = this.sizeOf(item)
    if (size === 0) return
    this.#move(item, { from: size, to: size - 1 })
    // Whatever was the largest is one smaller now.
    if (!this.#bySize.has(this.#most)) this.#most -= 1
  }

  #move(item: T, { from, to }: { readonly from: number; readonly to: number }): void {
    const left = this.#bySize.get(from)
    left?.delete(item)
    if (left?.size === 0) this.#bySize.delete(from)
    if (to === 0) {
      this.#sizes.delete(item)
      return
    }
    this.#sizes.set(item, to)
    const joined = this.#bySize.get(to) ?? new Set()
    joined.add(item)
    this.#bySize.set(to, joined)
  }
}
