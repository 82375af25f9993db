// Counts how many data planes report each value and, for some values, remembers which data planes they are.

export class Tally<Value extends string> {
  /** Lazy, as most of the tallies of ten thousand documents are never used. */
  #counts: Map<Value, number> | undefined
  #names: Map<Value, Set<string>> | undefined
  readonly #named: ReadonlySet<Value>
  #total = 0

  constructor(named: ReadonlySet<Value>) {
    this.#named = named
  }

  /** The value of one data plane changes; undefined: it does not count. */
  move(name: string, from: Value | undefined, to: Value | undefined): void {
    if (from !== undefined) this.#add(name, from, -1)
    if (to !== undefined) this.#add(name, to, 1)
  }

  count(...values: readonly Value[]): number {
    let sum = 0
    for (const value of values) sum += this.#counts?.get(value) ?? 0
    return sum
  }

  /** The values that at least one data plane reports. */
  *values(): Iterable<Value> {
    for (const [value, count] of this.#counts ?? NO_COUNTS) if (count > 0) yield value
  }

  get total(): number {
    return this.#total
  }

  /** The first by name, so that messages do not depend on the order in which data planes answered. */
  first(value: Value): string | undefined {
    let first: string | undefined
    for (const name of this.#names?.get(value) ?? []) {
      if (first === undefined || name < first) first = name
    }
    return first
  }

  #add(name: string, value: Value, by: 1 | -1): void {
    this.#total += by
    const count = this.count(value) + by
    if (count === 0) this.#counts?.delete(value)
    else (this.#counts ??= new Map<Value, number>()).set(value, count)
    if (!this.#named.has(value)) return
    this.#names ??= new Map<Value, Set<string>>()
    const names = this.#names.get(value) ?? new Set()
    if (by === 1) names.add(name)
    else names.delete(name)
    this.#names.set(value, names)
  }
}

const NO_COUNTS: readonly (readonly [never, number])[] = []
