// Keeps which members and items of a value schemas have looked at, for `unevaluatedProperties` and `unevaluatedItems`.

export class Evaluated {
  hasAllNames = false
  readonly names = new Set<string>()
  /** Items before this one. */
  items = 0
  readonly indices = new Set<number>()

  add({ hasAllNames, names, items, indices }: Evaluated): void {
    this.hasAllNames ||= hasAllNames
    for (const name of names) this.names.add(name)
    this.items = Math.max(this.items, items)
    for (const index of indices) this.indices.add(index)
  }

  get size(): number {
    return this.names.size + this.indices.size
  }
}
