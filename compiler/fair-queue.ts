// A queue whose groups take turns (round robin), so that a group with a thousand items delays any other by one item at most.
// Within a group the order is first in, first out.

export class FairQueue<T> {
  /** Has no empty lists. The group whose turn it is comes first. */
  readonly #groups = new Map<string, T[]>()

  push(group: string, item: T): void {
    const items = this.#groups.get(group)
    if (items === undefined) this.#groups.set(group, [item])
    else items.push(item)
  }

  shift(): T | undefined {
    for (const [group, items] of this.#groups) {
      this.#groups.delete(group)
      const first = items.shift()
      if (items.length > 0) this.#groups.set(group, items)
      return first
    }
    return undefined
  }

  /** @returns false when it is not (or no longer) in the queue */
  remove(group: string, item: T): boolean {
    const items = this.#groups.get(group) ?? []
    const rest = items.filter((each) => each !== item)
    if (rest.length === items.length) return false
    if (rest.length === 0) this.#groups.delete(group)
    else this.#groups.set(group, rest)
    return true
  }
}
