// Keeps what one validation has left to spend, and the errors that it has found. An error never has the value.

import { childPointer } from '../../base/json-pointer.ts'

/** What is wrong with a value: where, by which keyword, and for which member, if it is about one. */
export interface SchemaError {
  readonly pointer: string
  readonly keyword: string
  readonly property?: string
}

/** Values times the schemas that look at them, 50 to 100 ns each: at most 20 ms. */
export const MAX_COST = 200_000
/** Schemas within schemas, for values within values. */
const MAX_DEPTH = 1500
const MAX_ERRORS = 100
const LONGEST_NAME = 100
const LONGEST_POINTER = 1000

export class ValidationRun {
  readonly errors: SchemaError[] = []
  readonly path: (string | number)[] = []
  /** More than what a validation may cost: the value is not valid, as it cannot be checked. */
  isOver = false
  /** Schemas around this one ask only whether it is valid. */
  quiet = 0
  #left = MAX_COST
  #depth = 0

  readonly spend = (cost: number): boolean => {
    this.#left -= cost
    if (this.#left < 0) this.isOver = true
    return !this.isOver
  }

  get spent(): number {
    return MAX_COST - this.#left
  }

  enter(): boolean {
    this.#depth += 1
    if (this.#depth > MAX_DEPTH) this.isOver = true
    return this.spend(1)
  }

  leave(): void {
    this.#depth -= 1
  }

  /** Whether the first error decides. */
  get isDecided(): boolean {
    return this.quiet > 0 || this.isOver || this.errors.length >= MAX_ERRORS
  }

  /** Always false, as what it reports is. */
  report(keyword: string, property?: string): false {
    if (!this.isDecided)
      this.errors.push({
        pointer: this.#pointer(),
        keyword,
        ...(property !== undefined && { property: cut(property, LONGEST_NAME) }),
      })
    return false
  }

  #pointer(): string {
    const names = this.path.map((key) => (typeof key === 'string' ? cut(key, LONGEST_NAME) : key))
    return cut(names.reduce<string>(childPointer, ''), LONGEST_POINTER)
  }
}

const cut = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`
