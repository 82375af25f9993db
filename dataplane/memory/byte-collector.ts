// Collects a body that arrives in chunks of any size, with little memory beyond its own bytes.

/** Smaller chunks are copied: each would be an object of about 150 bytes, and a body may come byte by byte. */
const SMALL_BYTES = 1024
const MAX_SLAB_BYTES = 64 * 1024

/**
 * @example
 * const body = new ByteCollector()
 * body.add(chunk)
 * body.join()
 */
export class ByteCollector {
  #chunks: Buffer[] = []
  /** Takes small chunks: `#used` bytes of it are in use, and none of them is in `#chunks` yet. */
  #slab: Buffer | undefined
  #used = 0
  #length = 0

  /** The number of bytes added. */
  get length(): number {
    return this.#length
  }

  add(chunk: Buffer): void {
    // The only chunk of most bodies stays as it is.
    const isFirst = this.#length === 0
    this.#length += chunk.length
    if (isFirst || chunk.length >= SMALL_BYTES) {
      this.#closeSlab()
      this.#chunks.push(chunk)
    } else this.#copy(chunk)
  }

  /** All bytes in one piece. */
  join(): Buffer {
    this.#closeSlab()
    const [first] = this.#chunks
    return this.#chunks.length === 1 && first !== undefined
      ? first
      : Buffer.concat(this.#chunks, this.#length)
  }

  #copy(chunk: Buffer): void {
    if (this.#slab === undefined || this.#slab.length - this.#used < chunk.length) {
      this.#closeSlab()
      const size = Math.min(MAX_SLAB_BYTES, Math.max(4 * SMALL_BYTES, this.#length))
      this.#slab = Buffer.allocUnsafeSlow(size)
    }
    this.#used += chunk.copy(this.#slab, this.#used)
  }

  #closeSlab(): void {
    if (this.#slab === undefined) return
    this.#chunks.push(this.#slab.subarray(0, this.#used))
    this.#slab = undefined
    this.#used = 0
  }
}
