// Bounds what one value is written to, or copied to: a value may name another one many times, and each time counts.

/**
 * Characters of what one body, or all headers, are written to. A document may name a body of 25 MB 100,000 times: sixty
 * times ended a process with a heap of 256 MB. One such body, as base64 if it is bytes, is shorter.
 */
export const MAX_WRITTEN = 2 ** 25

/** @example if (!budget.take(text.length)) throw tooLarge() */
export class SizeBudget {
  readonly #size: number
  #left: number

  constructor(size = MAX_WRITTEN) {
    this.#size = size
    this.#left = size
  }

  get taken(): number {
    return this.#size - this.#left
  }

  get isFull(): boolean {
    return this.#left < 0
  }

  /** False: that is too much, as is anything that follows. */
  take(count: number): boolean {
    this.#left -= count
    return this.#left >= 0
  }
}
