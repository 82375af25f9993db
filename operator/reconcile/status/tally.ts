// Counts how many data planes give each answer and, for some answers, remembers which data planes they are.

export class Tally<Answer extends string> {
  /** Lazy, as most of the tallies of ten thousand documents are never used. */
  #counts: Map<Answer, number> | undefined
  #names: Map<Answer, Set<string>> | undefined
  readonly #named: ReadonlySet<Answer>
  #total = 0

  constructor(named: ReadonlySet<Answer>) {
    this.#named = named
  }

  /** One data plane changes its answer; undefined: it does not count. */
  move(name: string, from: Answer | undefined, to: Answer | undefined): void {
    if (from !== undefined) this.#add(name, from, -1)
    if (to !== undefined) this.#add(name, to, 1)
  }

  count(...answers: readonly Answer[]): number {
    let sum = 0
    for (const answer of answers) sum += this.#counts?.get(answer) ?? 0
    return sum
  }

  /** The answers that at least one data plane gives. */
  *answers(): Iterable<Answer> {
    for (const [answer, count] of this.#counts ?? NO_COUNTS) if (count > 0) yield answer
  }

  get total(): number {
    return this.#total
  }

  /** The first by name, so that messages do not depend on the order in which data planes answered. */
  first(answer: Answer): string | undefined {
    let first: string | undefined
    for (const name of this.#names?.get(answer) ?? []) {
      if (first === undefined || name < first) first = name
    }
    return first
  }

  #add(name: string, answer: Answer, by: 1 | -1): void {
    this.#total += by
    const count = this.count(answer) + by
    if (count === 0) this.#counts?.delete(answer)
    else (this.#counts ??= new Map<Answer, number>()).set(answer, count)
    if (!this.#named.has(answer)) return
    this.#names ??= new Map<Answer, Set<string>>()
    const names = this.#names.get(answer) ?? new Set()
    if (by === 1) names.add(name)
    else names.delete(name)
    this.#names.set(answer, names)
  }
}

const NO_COUNTS: readonly (readonly [never, number])[] = []
