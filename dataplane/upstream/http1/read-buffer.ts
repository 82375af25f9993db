// Owns the memory that a socket reads into. All plain sockets of a process share one buffer, and what is passed on is
// copied out of it; while much arrives each read gets a buffer of its own, which is passed on as it is.

/** Node reads this much at a time from sockets without such a buffer, too. */
export const READ_BYTES = 64 * 1024
/**
 * The fewer system calls, the less a large body costs: measured for 1 MiB, reads of 64 KiB take 1.7 × the system time of
 * reads of 256 KiB.
 */
const LARGE_BYTES = 256 * 1024
/** So many connections of a process read so much at a time, 16 MiB; all others 64 KiB. */
const MOST_LARGE = 64

/** How many more connections of this process may read with large buffers. */
export interface LargeReads {
  left: number
}

export const createLargeReads = (): LargeReads => ({ left: MOST_LARGE })

export class ReadBuffer {
  readonly #shared: Buffer
  readonly #largeReads: LargeReads
  #current: Buffer
  /** Of the buffers of its own; 0: it reads into the shared one. */
  #ownBytes = 0
  /** A part of it was passed on: nothing may be read into it any more. */
  #isHandedOver = false

  /** @param shared nothing else is read into it while bytes that were read are looked at */
  constructor(shared: Buffer, largeReads: LargeReads) {
    this.#shared = shared
    this.#current = shared
    this.#largeReads = largeReads
  }

  /** What was read last. */
  get current(): Buffer {
    return this.#current
  }

  /** @param isMuchExpected the next read probably fills the shared buffer */
  next(isMuchExpected: boolean): Buffer {
    if (!isMuchExpected) this.release()
    else if (this.#isHandedOver || this.#ownBytes === 0) {
      if (this.#ownBytes === 0) this.#ownBytes = this.#acquire()
      this.#current = Buffer.allocUnsafeSlow(this.#ownBytes)
      this.#isHandedOver = false
    }
    return this.#current
  }

  /** Bytes of `current` that the caller may keep. A few are copied, so that they do not hold a whole buffer. */
  take(from: number, to: number): Buffer {
    const bytes = this.#current.subarray(from, to)
    if (this.#ownBytes === 0 || bytes.length < this.#ownBytes / 4) return Buffer.from(bytes)
    this.#isHandedOver = true
    return bytes
  }

  /** Goes back to the shared buffer. */
  release(): void {
    if (this.#ownBytes === LARGE_BYTES) this.#largeReads.left++
    this.#ownBytes = 0
    this.#current = this.#shared
    this.#isHandedOver = false
  }

  #acquire(): number {
    if (this.#largeReads.left === 0) return READ_BYTES
    this.#largeReads.left--
    return LARGE_BYTES
  }
}
