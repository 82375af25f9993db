// Collects the bytes that an encoder writes. Small results share slabs and a large one has a buffer of its own, so
// that no more than one slab is kept whatever was written.

import { ExpressionError } from '../../language/expression/errors.ts'
import { MAX_WRITTEN } from '../../language/expression/size-budget.ts'

/** The fixed size of a slab: a small result that is kept retains no more than this. */
const SLAB_BYTES = 65_536
/** A slab with less room is replaced: many messages would have to be copied to another. */
const LEAST_ROOM_BYTES = 2048
/** Characters: from this length the runtime copies faster, in spite of the cost of the call. */
const LONG_TEXT = 48
/** Characters: from this length reserving three bytes each is too much, as most take one. */
const HUGE_TEXT = 4096
/** Characters of a huge text from which its size in bytes is estimated. */
const SAMPLE = 512

const utf8 = new TextEncoder()

const TOO_LARGE = 'a value is too large to be written'

let slab = Buffer.allocUnsafeSlow(SLAB_BYTES)
let slabView = new DataView(slab.buffer)
/** The whole slab while a sink is writing to it, or was abandoned: a sink created then takes another slab. */
let usedBytes = 0

/**
 * How a format writes a number: in the first byte if it is below `limit`, otherwise in the 1, 2 or 4 bytes after it.
 */
export interface Head {
  readonly limit: number
  readonly inByte: number
  /** The byte before a number of one byte; the next two values precede two bytes and four bytes. */
  readonly oneByte: number
}

/**
 * Callers must reserve room for everything but texts and binaries.
 * @example
 * const sink = new ByteSink()
 * sink.reserve(1)
 * sink.byte(0xc0)
 * sink.finish() // <Buffer c0>
 */
export class ByteSink {
  #bytes: Buffer
  #view: DataView
  #start: number
  #at: number
  #end = SLAB_BYTES

  constructor() {
    if (SLAB_BYTES - usedBytes < LEAST_ROOM_BYTES) takeSlab()
    this.#bytes = slab
    this.#view = slabView
    this.#start = usedBytes
    this.#at = usedBytes
    usedBytes = SLAB_BYTES
  }

  /** Bytes written so far. */
  get size(): number {
    return this.#at - this.#start
  }

  reserve(count: number): void {
    if (this.#at + count > this.#end) this.#grow(count)
  }

  /** Returns all that was written, which now belongs to the caller: the sink must not be used any more. */
  finish(): Buffer {
    if (this.#bytes === slab) usedBytes = this.#at
    return this.#bytes.subarray(this.#start, this.#at)
  }

  /** Removes what was written beyond `size` bytes, and returns it. */
  cut(size: number): Buffer {
    const from = this.#start + size
    const cut = Buffer.from(this.#bytes.subarray(from, this.#at))
    this.#at = from
    return cut
  }

  byte(byte: number): void {
    this.#bytes[this.#at++] = byte
  }

  twoBytes(first: number, value: number): void {
    const at = this.#at
    const bytes = this.#bytes
    bytes[at] = first
    bytes[at + 1] = value >> 8
    bytes[at + 2] = value
    this.#at = at + 3
  }

  fourBytes(first: number, value: number): void {
    const at = this.#at
    this.#bytes[at] = first
    this.#view.setInt32(at + 1, value)
    this.#at = at + 5
  }

  /** As 64 bits, which `value` fits into. */
  eightBytes(first: number, value: bigint): void {
    const at = this.#at
    this.#bytes[at] = first
    this.#view.setBigInt64(at + 1, value)
    this.#at = at + 9
  }

  double(first: number, value: number): void {
    const at = this.#at
    this.#bytes[at] = first
    this.#view.setFloat64(at + 1, value)
    this.#at = at + 9
  }

  head(head: Head, value: number): void {
    const at = this.#at
    const bytes = this.#bytes
    if (value < head.limit) {
      bytes[at] = head.inByte | value
      this.#at = at + 1
    } else if (value < 0x100) {
      bytes[at] = head.oneByte
      bytes[at + 1] = value
      this.#at = at + 2
    } else this.wideHead(head.oneByte + 1, value)
  }

  /** Writes the value in two bytes after `twoBytes`, or in four after the next code. */
  wideHead(twoBytes: number, value: number): void {
    if (value < 0x10000) this.twoBytes(twoBytes, value)
    else this.fourBytes(twoBytes + 1, value)
  }

  /** UTF-8 behind its length; lone surrogates become U+FFFD. */
  text(head: Head, text: string): void {
    const { length } = text
    if (length >= HUGE_TEXT) {
      this.#hugeText(head, text)
      return
    }
    this.reserve(length * 3 + 5)
    const from = this.#at + headBytes(head, length)
    const to =
      length < LONG_TEXT ? this.#putShort(text, from) : from + this.#bytes.write(text, from)
    this.#putLength(head, from, to)
  }

  binary(head: Head, binary: Uint8Array): void {
    this.reserve(binary.length + 5)
    this.head(head, binary.length)
    this.append(binary)
  }

  append(bytes: Uint8Array): void {
    this.#bytes.set(bytes, this.#at)
    this.#at += bytes.length
  }

  #hugeText(head: Head, text: string): void {
    const { size } = this
    this.reserve(likelyBytes(text) + 5)
    this.#at += headBytes(head, text.length)
    const textSize = this.size
    const read = this.#putHuge(text)
    // For the rest of it, and for a length that takes two bytes more than was thought.
    this.reserve((text.length - read) * 3 + 2)
    if (read < text.length) this.#putHuge(text.slice(read))
    const to = this.#at
    this.#at = this.#start + size
    this.#putLength(head, this.#start + textSize, to)
  }

  /** Writes as much as there is room for, and returns the number of characters. */
  #putHuge(text: string): number {
    const { read, written } = utf8.encodeInto(text, this.#bytes.subarray(this.#at))
    this.#at += written
    return read
  }

  /** Returns where the text ends. */
  #putShort(text: string, from: number): number {
    const bytes = this.#bytes
    let at = from
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index)
      if (code < 0x80) bytes[at++] = code
      else if (code < 0x800) {
        bytes[at++] = (code >> 6) | 0xc0
        bytes[at++] = (code & 0x3f) | 0x80
      } else return at + bytes.write(text.slice(index), at)
    }
    return at
  }

  /**
   * Writes the length before a text that was written already, and moves the text if the length takes more or less
   * room.
   */
  #putLength(head: Head, from: number, to: number): void {
    const length = to - from
    const moved = this.#at + headBytes(head, length)
    if (moved !== from) this.#bytes.copyWithin(moved, from, to)
    this.head(head, length)
    this.#at += length
  }

  #grow(count: number): void {
    const { size } = this
    if (size > MAX_WRITTEN) throw new ExpressionError(TOO_LARGE)
    const before = this.#bytes
    const isLarge = size + count > SLAB_BYTES / 2
    if (isLarge && before === slab) usedBytes = this.#start
    if (!isLarge) takeSlab()
    this.#bytes = isLarge ? Buffer.allocUnsafeSlow(2 * size + count) : slab
    this.#view = isLarge ? new DataView(this.#bytes.buffer) : slabView
    before.copy(this.#bytes, 0, this.#start, this.#at)
    this.#start = 0
    this.#at = size
    this.#end = this.#bytes.length
  }
}

const takeSlab = (): void => {
  slab = Buffer.allocUnsafeSlow(SLAB_BYTES)
  slabView = new DataView(slab.buffer)
  usedBytes = SLAB_BYTES
}

const headBytes = (head: Head, value: number): number => {
  if (value < head.limit) return 1
  if (value < 0x100) return 2
  return value < 0x10000 ? 3 : 5
}

/** Extrapolates from its beginning, with some reserve: measuring all of it may take longer than writing it. */
const likelyBytes = (text: string): number =>
  Math.ceil(1.05 * text.length * (Buffer.byteLength(text.slice(0, SAMPLE)) / SAMPLE))
