// Collects JSON text that arrives in chunks, and reads it in pieces. Documents in it are parsed one by one when they are
// needed, so that a batch of a thousand never delays other requests for long, nor is held as values all at once.

import { setImmediate } from 'node:timers/promises'
import { countMarks, NO_MARKS } from '../../base/json-weight.ts'
import { JsonError, readJson } from '../codec/json-reader.ts'
import type { Lazy } from '../store/sync-call.ts'
import { invalidArgument, invalidData, ManagementError } from './management-error.ts'

export interface JsonBounds {
  /** Most bytes, by what the text is at its root. */
  readonly maxBytes: { readonly map: number; readonly list: number }
  /** Lists and maps that open at this depth become a `LazyJson`; absent: the text is parsed whole. */
  readonly lazyDepth: { readonly map?: number; readonly list?: number }
}

/** More than any document's 64 levels, and a small part of what recursion can take. */
const MAX_DEPTH = 256

/** Most entries of a batch. Each has its own result: without a bound a response would outgrow its request. */
export const MAX_ENTRIES = 50_000

const OPEN_LIST = 0x5b
const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d])
const BYTE_ORDER_MARK: ReadonlySet<number> = new Set([0xef, 0xbb, 0xbf])

export class JsonBody {
  readonly #bounds: JsonBounds
  readonly #chunks: Uint8Array[] = []
  #root: 'map' | 'list' | undefined
  #size = 0
  #marks = NO_MARKS

  constructor(bounds: JsonBounds) {
    this.#bounds = bounds
  }

  /** @throws ManagementError 413, or 400 when it is nested too deeply */
  push(chunk: Uint8Array): void {
    this.#root ??= rootOf(chunk)
    const maxBytes = this.#bounds.maxBytes[this.#root ?? 'map']
    if (this.#size + chunk.length > maxBytes) throw tooLarge(maxBytes)
    this.#marks = countMarks(this.#marks, chunk)
    if (this.#marks.deepest > MAX_DEPTH)
      throw invalidArgument(`The JSON is nested more than ${MAX_DEPTH} levels deep`)
    this.#chunks.push(chunk)
    this.#size += chunk.length
  }

  /** The value, or undefined if the body is empty. Rejects with a ManagementError: 400, or 413 for too many entries. */
  async read(): Promise<unknown> {
    if (this.#root === undefined) return undefined
    const json = Buffer.concat(this.#chunks, this.#size)
    let entries = 0
    const toValue = (entry: Uint8Array): LazyJson => {
      entries += 1
      if (entries > MAX_ENTRIES) throw tooMany()
      return new LazyJson(entry)
    }
    const unparsed = { depth: this.#bounds.lazyDepth, toValue }
    const pieces = readJson(json, { maxDepth: MAX_DEPTH, unparsed })
    for (;;) {
      const piece = nextOf(pieces)
      if (piece.done === true) return piece.value
      await setImmediate()
    }
  }
}

/** A list or map in a body that is not parsed yet. */
class LazyJson {
  readonly #json: Uint8Array

  constructor(json: Uint8Array) {
    this.#json = json
  }

  /** @throws ManagementError 400 */
  parse(): unknown {
    const pieces = readJson(this.#json, { maxDepth: MAX_DEPTH })
    let piece = nextOf(pieces)
    while (piece.done !== true) piece = nextOf(pieces)
    return piece.value
  }
}

/** @param entry of a list that `JsonBody.read` has given */
export const toLazy = (entry: unknown): Lazy =>
  entry instanceof LazyJson ? () => entry.parse() : () => entry

/** @throws ManagementError */
const nextOf = <T>(pieces: Iterator<undefined, T>): IteratorResult<undefined, T> => {
  try {
    return pieces.next()
  } catch (cause) {
    throw cause instanceof JsonError ? invalidData('The body is not JSON', cause) : cause
  }
}

/** What the first byte says that is not blank; undefined: there is none yet. */
const rootOf = (chunk: Uint8Array): 'map' | 'list' | undefined => {
  const first = chunk.find((byte) => !BLANKS.has(byte) && !BYTE_ORDER_MARK.has(byte))
  if (first === undefined) return undefined
  return first === OPEN_LIST ? 'list' : 'map'
}

export const tooLarge = (maxBytes: number): ManagementError =>
  new ManagementError(413, 'svc.error.payload_too_large', 'The body is too large', {
    description: `At most ${maxBytes} bytes are accepted here, counted after decompression.`,
  })

export const tooMany = (): ManagementError =>
  new ManagementError(413, 'svc.error.payload_too_large', 'The batch has too many entries', {
    description: `At most ${MAX_ENTRIES} entries are accepted in one call: send several calls.`,
  })
