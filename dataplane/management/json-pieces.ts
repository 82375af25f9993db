// Splits JSON text that arrives in chunks into pieces that are parsed one by one, and bounds size and nesting before
// anything is parsed. A batch of a thousand documents never delays other requests for long: scanning is spread over
// the chunks, parsing over the documents.

import {
  endOfString,
  firstOutside,
  nextChunk,
  type NextChunk,
  QUOTE,
} from '../../base/json-strings.ts'
import type { Lazy } from '../store/sync-call.ts'
import { invalidArgument, invalidData, ManagementError } from './management-error.ts'

export interface JsonBounds {
  /** Most bytes, by what the text is at its root. */
  readonly maxBytes: { readonly map: number; readonly list: number }
  /** Containers that open at this depth become pieces; absent: the text is parsed whole. */
  readonly cutDepth: { readonly map?: number; readonly list?: number }
}

/** More than any document's 64 levels, and a small part of what recursion can take. */
const MAX_DEPTH = 256

/** Most entries of a batch. Each has its own result: without a bound a response would outgrow its request. */
export const MAX_ENTRIES = 50_000

const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_MAP = 0x7b
const CLOSE_MAP = 0x7d
const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d])
const BYTE_ORDER_MARK: ReadonlySet<number> = new Set([0xef, 0xbb, 0xbf])

export class JsonPieces {
  readonly #bounds: JsonBounds
  readonly #chunks: Uint8Array[] = []
  /** Offsets [start, end) of the pieces. */
  readonly #cuts: (readonly [number, number])[] = []
  #root: 'map' | 'list' | undefined
  #size = 0
  #depth = 0
  #start = 0
  #next: NextChunk = 'outside'

  constructor(bounds: JsonBounds) {
    this.#bounds = bounds
  }

  /** @throws ManagementError 413, or 400 when it is nested too deeply */
  push(chunk: Uint8Array): void {
    this.#root ??= rootOf(chunk)
    const maxBytes = this.#bounds.maxBytes[this.#root ?? 'map']
    if (this.#size + chunk.length > maxBytes) throw tooLarge(maxBytes)
    this.#scan(chunk)
    this.#chunks.push(chunk)
    this.#size += chunk.length
  }

  finish(): JsonText {
    return new JsonText(Buffer.concat(this.#chunks, this.#size), this.#root, this.#cuts)
  }

  // Measured on Node 26: 3 ms for a MiB, spread over its chunks.
  #scan(chunk: Uint8Array): void {
    let at = firstOutside(chunk, this.#next)
    for (; at < chunk.length; at++) {
      const byte = chunk[at]
      if (byte === QUOTE) at = endOfString(chunk, at + 1) - 1
      else if (byte === OPEN_MAP || byte === OPEN_LIST) this.#open(at)
      else if (byte === CLOSE_MAP || byte === CLOSE_LIST) this.#close(at)
    }
    this.#next = nextChunk(at - chunk.length)
  }

  #open(index: number): void {
    if (this.#depth === this.#cutDepth) this.#start = this.#size + index
    this.#depth += 1
    if (this.#depth > MAX_DEPTH)
      throw invalidArgument(`The JSON is nested more than ${MAX_DEPTH} levels deep`)
  }

  #close(index: number): void {
    this.#depth -= 1
    if (this.#depth < 0)
      throw invalidData('The body is not JSON: a bracket closes that was not opened')
    if (this.#depth !== this.#cutDepth) return
    if (this.#cuts.length === MAX_ENTRIES) throw tooMany()
    this.#cuts.push([this.#start, this.#size + index + 1])
  }

  get #cutDepth(): number | undefined {
    return this.#root && this.#bounds.cutDepth[this.#root]
  }
}

/** A whole JSON text, not parsed yet. */
export class JsonText {
  readonly #bytes: Buffer
  readonly #cuts: readonly (readonly [number, number])[]
  /** undefined: neither map nor list, or empty. */
  readonly root: 'map' | 'list' | undefined

  constructor(
    bytes: Buffer,
    root: 'map' | 'list' | undefined,
    cuts: readonly (readonly [number, number])[],
  ) {
    this.#bytes = bytes
    this.root = root
    this.#cuts = cuts
  }

  get isEmpty(): boolean {
    return this.root === undefined && this.#bytes.every((byte) => BLANKS.has(byte))
  }

  /** Returns the value, with a placeholder for each piece: see `lazy`. @throws ManagementError 400 */
  parse(): unknown {
    if (this.#cuts.length === 0) return parse(this.#bytes)
    const parts: Uint8Array[] = []
    let end = 0
    this.#cuts.forEach(([from, to], index) => {
      parts.push(this.#bytes.subarray(end, from), Buffer.from(`[${index}]`))
      end = to
    })
    parts.push(this.#bytes.subarray(end))
    return parse(Buffer.concat(parts))
  }

  /**
   * Returns the value for which `parse` left `entry`. A list there is always a placeholder: real lists and maps of
   * that depth have become pieces.
   */
  readonly lazy = (entry: unknown): Lazy => {
    const cut = Array.isArray(entry) ? this.#cuts[Number(entry[0])] : undefined
    return cut === undefined ? () => entry : () => parse(this.#bytes.subarray(cut[0], cut[1]))
  }
}

const parse = (bytes: Uint8Array): unknown => {
  try {
    // Fatal: bytes that are not UTF-8 are rejected, not replaced. A byte order mark is skipped.
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw invalidData('The body is not JSON', cause)
  }
}

const rootOf = (chunk: Uint8Array): 'map' | 'list' | undefined => {
  const first = chunk.find((byte) => !BLANKS.has(byte) && !BYTE_ORDER_MARK.has(byte))
  if (first === OPEN_LIST) return 'list'
  return first === OPEN_MAP ? 'map' : undefined
}

export const tooLarge = (maxBytes: number): ManagementError =>
  new ManagementError(413, 'svc.error.payload_too_large', 'The body is too large', {
    description: `At most ${maxBytes} bytes are accepted here, counted after decompression.`,
  })

export const tooMany = (): ManagementError =>
  new ManagementError(413, 'svc.error.payload_too_large', 'The batch has too many entries', {
    description: `At most ${MAX_ENTRIES} entries are accepted in one call: send several calls.`,
  })
