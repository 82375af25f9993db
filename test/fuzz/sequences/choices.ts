// Reads choices from bytes, one byte for each, so that the bytes that the fuzzer makes and shrinks are a test case.

export class Choices {
  readonly #bytes: Uint8Array
  #at = 0

  /** @param bytes once they have been read, every choice is the first one */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** A whole number from 0 to `count` - 1. */
  below(count: number): number {
    return (this.#bytes[this.#at++] ?? 0) % count
  }

  /**
   * An item of the list: the first is that of a 0, and should be the plainest; one that stands there twice comes twice
   * as often.
   * @throws RangeError for a list without items
   */
  of<T>(list: readonly T[]): T {
    if (list.length === 0) throw new RangeError('there is nothing to choose')
    return list[this.below(list.length)] as T
  }
}
