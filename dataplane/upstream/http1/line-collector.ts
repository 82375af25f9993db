// Collects lines that may arrive in any number of pieces: one line, or a block of lines that an empty line ends. It
// accepts CRLF alone as the end of a line and no other control character but HTAB.

import { CR, LF, TEXT } from './octets.ts'

/** `block`: begins with a line that is not empty; `trailers`: may be an empty line alone; `line`: one line. */
export type Extent = 'block' | 'trailers' | 'line'

/** What an octet is for the ends of lines. */
const TEXT_KIND = 0
const CR_KIND = 1
const LF_KIND = 2
const OTHER_KIND = 3

const KINDS = Uint8Array.from(TEXT, (isText, octet) => {
  if (octet === CR) return CR_KIND
  if (octet === LF) return LF_KIND
  return isText === 1 ? TEXT_KIND : OTHER_KIND
})

const IN_LINE = 0
const AFTER_CR = 1
const LINE_START = 2
const AFTER_EMPTY_CR = 3
const BLOCK_END = 4
const INVALID = 5

/** The state after an octet of each kind: text, CR, LF, other. */
const NEXT: readonly (readonly number[])[] = [
  [IN_LINE, AFTER_CR, INVALID, INVALID],
  [INVALID, INVALID, LINE_START, INVALID],
  [IN_LINE, AFTER_EMPTY_CR, INVALID, INVALID],
  [INVALID, INVALID, BLOCK_END, INVALID],
]

const NO_BYTES = Buffer.alloc(0)
const FIRST_KEPT_BYTES = 1024

export class LineCollector {
  /** Once `read` returned `whole`: what was collected, with its last CRLF, is in `bytes` from `from` to `to`. */
  bytes: Buffer = NO_BYTES
  from = 0
  to = 0
  /** Where what follows begins in the bytes that were read last. */
  readTo = 0
  #isLine = false
  #maxBytes = 0
  #state = IN_LINE
  /** The pieces that came before, as they never stay in the reader's memory. */
  #kept: Buffer = NO_BYTES
  #keptBytes = 0

  begin(extent: Extent, maxBytes: number): void {
    this.#isLine = extent === 'line'
    this.#maxBytes = maxBytes
    this.#state = extent === 'trailers' ? LINE_START : IN_LINE
    this.#keptBytes = 0
  }

  /** Forgets what was collected. */
  release(): void {
    this.bytes = NO_BYTES
    if (this.#keptBytes === 0) this.#kept = NO_BYTES
  }

  /** While `read` returns `more`: whether what was collected is the begin of `text`, or begins with it. */
  beginsAs(text: Buffer): boolean {
    const length = Math.min(text.length, this.#keptBytes)
    return this.#kept.compare(text, 0, length, 0, length) === 0
  }

  /** While `read` returns `more`: the first octet of what was collected, if there is one. */
  get firstOctet(): number | undefined {
    return this.#keptBytes === 0 ? undefined : this.#kept[0]
  }

  /** Reads `piece` from `start` to `end`, the continuation of what was read before. */
  read(piece: Buffer, start: number, end: number): 'whole' | 'more' | 'fault' | 'too long' {
    const most = this.#maxBytes - this.#keptBytes
    const found = this.#findEnd(piece, start, Math.min(end, start + most))
    if (found === FAULTY) return 'fault'
    if (found === UNFINISHED) {
      if (end - start >= most) return 'too long'
      this.#keep(piece, start, end)
      return 'more'
    }
    this.readTo = found
    if (this.#keptBytes === 0) {
      this.bytes = piece
      this.from = start
      this.to = found
    } else {
      this.#keep(piece, start, found)
      this.bytes = this.#kept
      this.from = 0
      this.to = this.#keptBytes
    }
    return 'whole'
  }

  /** Each byte is looked at once, however small the pieces. @returns the position after the end */
  #findEnd(bytes: Buffer, start: number, end: number): number {
    let state = this.#state
    for (let at = start; at < end; at++) {
      const kind = KINDS[bytes[at] ?? 0] ?? OTHER_KIND
      if (kind === TEXT_KIND && state === IN_LINE) continue
      state = NEXT[state]?.[kind] ?? INVALID
      if (state === INVALID) return FAULTY
      if (state === BLOCK_END || (state === LINE_START && this.#isLine)) return at + 1
    }
    this.#state = state
    return UNFINISHED
  }

  #keep(bytes: Buffer, from: number, to: number): void {
    const needed = this.#keptBytes + to - from
    if (needed > this.#kept.length) {
      const larger = Buffer.allocUnsafe(Math.max(FIRST_KEPT_BYTES, 2 * needed))
      this.#kept.copy(larger, 0, 0, this.#keptBytes)
      this.#kept = larger
    }
    bytes.copy(this.#kept, this.#keptBytes, from, to)
    this.#keptBytes = needed
  }
}

const UNFINISHED = -1
const FAULTY = -2
