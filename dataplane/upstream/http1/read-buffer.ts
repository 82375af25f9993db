// Owns the memory that a socket reads into. All plain sockets of a process share one buffer, and what is passed on is
// copied out of it; while much arrives each read gets a buffer of its own, which is passed on as it is.

/** Node reads this much at a time from sockets without such a buffer, too. */
export const READ_BYTES = 64 * 1024
/**
 * Fewer bytes are copied, so that a few of them do not hold a whole buffer; copying that many takes less time than
 * allocating a buffer.
 */
const HANDED_OVER_BYTES = 16 * 1024

export class ReadBuffer {
  readonly #shared: Buffer
  #current: Buffer
  /** A part of it was passed on: nothing may be read into it any more. */
  #isHandedOver = false

  /** @param shared nothing else is read into it while bytes that were read are looked at */
  constructor(shared: Buffer) {
    this.#shared = shared
    this.#current = shared
  }

  /** What was read last. */
  get current(): Buffer {
    return this.#current
  }

  /** @param isFilled the next read probably fills it */
  next(isFilled: boolean): Buffer {
    if (!isFilled) {
      this.#current = this.#shared
      this.#isHandedOver = false
    } else if (this.#isHandedOver || this.#current === this.#shared) {
      this.#current = Buffer.allocUnsafeSlow(READ_BYTES)
      this.#isHandedOver = false
    }
    return this.#current
  }

  /** Bytes of `current` that the caller may keep. */
  take(from: number, to: number): Buffer {
    const bytes = this.#current.subarray(from, to)
    if (this.#current === this.#shared || to - from < HANDED_OVER_BYTES) return Buffer.from(bytes)
    this.#isHandedOver = true
    return bytes
  }
}
