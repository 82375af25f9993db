// Reads JSON text in pieces, so that other work can run in between: `JSON.parse` of a large text takes long and cannot be
// divided. It parses each piece by itself; the value, and what is rejected, are the same as for the whole text.

import { parseJson } from '../../base/parse-json.ts'
import { CodedError } from '../../base/coded-error.ts'
import { endOfString, QUOTE } from '../../base/json-strings.ts'
import { createTable, setOwn } from '../../language/expression/value.ts'

export class JsonError extends CodedError<'malformed' | 'too_deep'> {}

export interface JsonReading {
  /** Levels of lists and maps. */
  readonly maxDepth: number
  /** A piece ends with the first member behind so many; 32 KiB if left out. */
  readonly pieceBytes?: number
  /**
   * Called before a piece is parsed, with what is in it; a key is a value, too. It may throw. Text that is no JSON is
   * counted in some way.
   */
  readonly count?: (containers: number, values: number) => void
  /** Called with each piece, and what it was parsed to. It may throw. */
  readonly check?: (text: string, value: unknown) => void
  /** Lists and maps that open at this depth are not parsed: `toValue` makes the values that stand in their place. */
  readonly unparsed?: {
    readonly depth: { readonly map?: number; readonly list?: number }
    readonly toValue: (json: Uint8Array) => unknown
  }
}

/** Takes 5 ms in the worst case, maps each of another shape. */
const PIECE_BYTES = 32 * 1024
/** As long as no comma comes, a step looks for one in so many times the bytes of a piece. */
const SCANNED_PIECES = 4
/** More than any character has, written as an escape or not. */
const LEAST_SCANNED = 16

/**
 * Gives nothing after each piece, and returns the value.
 * @throws JsonError
 * @example
 * const pieces = readJson(Buffer.from('[1]'), { maxDepth: 512 })
 * pieces.next() // { done: true, value: [1] }
 */
export function* readJson(json: Uint8Array, reading: JsonReading): Generator<undefined, unknown> {
  const reader = new JsonReader(json, reading)
  while (!reader.readPiece()) yield
  return reader.value
}

type Target = unknown[] | Record<string, unknown>

/** A list or map that has not ended yet. What is parsed of it is in `target`; without one it is part of its parent's text. */
interface Container {
  readonly isMap: boolean
  /** Where its bracket is. */
  readonly bracket: number
  target: Target | undefined
  /** Where the text begins that is not in `target` yet. */
  rest: number
  /** Where the current member begins. */
  member: number
  /** Where the latest list or map in it begins: a member is at most one. */
  latest: number
  /** The key of the current member, once its value has a target of its own. */
  key: string
  /** The value of the current member is in `target` already. */
  hasValue: boolean
}

const COMMA = 0x2c
const COLON = 0x3a
const OPEN_MAP = 0x7b
const CLOSE_MAP = 0x7d
/** `[` and `{`, `]` and `}`: the two of a pair differ in one bit. */
const BRACE_BIT = 0x20
const IS_MARK = new Uint8Array(256)
for (const mark of Buffer.from(',:[]{}')) IS_MARK[mark] = 1
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]

class JsonReader {
  readonly #json: Uint8Array
  readonly #reading: JsonReading
  /** From the outside in. The first one stands for the whole text, as a list of one value. */
  readonly #open: Container[]
  #at: number
  /** A comma is before `#at`, and a piece ends there. */
  #isCutDue = false
  #containers = 0
  #values = 0
  /** More containers are open within one that is not parsed. */
  #mostOpen = Infinity
  /** The parts of the text that a step ended within, which goes on at `#at`. */
  #text: string[] | undefined

  constructor(json: Uint8Array, reading: JsonReading) {
    this.#json = json
    this.#reading = reading
    this.#at = BYTE_ORDER_MARK.every((byte, index) => json[index] === byte) ? 3 : 0
    this.#open = [{ ...newContainer(false, this.#at - 1), target: [] }]
  }

  /** Parses what was found before, and finds the end of the next piece. True: it was the last one. @throws JsonError */
  readPiece(): boolean {
    if (this.#isCutDue) this.#cut(this.#at - 1)
    const { pieceBytes = PIECE_BYTES } = this.#reading
    const full = this.#at + pieceBytes
    const end = this.#at + Math.max(SCANNED_PIECES * pieceBytes, LEAST_SCANNED)
    const scanned = this.#json.subarray(0, end)
    if (this.#text === undefined) this.#scan(scanned, full)
    else this.#readText(this.#text, scanned)
    if (this.#at < this.#json.length || this.#isCutDue || this.#text !== undefined) return false
    if (this.#open.length > 1) throw malformed()
    this.#endContainer(this.#innermost, this.#at)
    return true
  }

  /** Up to where a piece or `scanned` ends. */
  #scan(scanned: Uint8Array, full: number): void {
    let at = this.#at
    for (; at < scanned.length && !this.#isCutDue; at++) {
      const byte = scanned[at] ?? 0
      if (byte === QUOTE) {
        const behind = endOfString(scanned, at + 1)
        if (behind > scanned.length && this.#beginText(at)) return
        at = (behind > scanned.length ? endOfString(this.#json, at + 1) : behind) - 1
      } else if (IS_MARK[byte] === 1) this.#passMark(byte, at, full)
    }
    this.#at = at
  }

  /** False: it is no value, or one within what is not parsed. @param quote the opening one */
  #beginText(quote: number): boolean {
    const container = this.#innermost
    const isKey = container.isMap && this.#isBlank(container.member, quote)
    if (isKey || this.#open.length > this.#mostOpen) return false
    if (container.latest >= container.member) throw malformed()
    container.latest = quote
    this.#separateAll()
    this.#separate(container, quote)
    this.#text = []
    this.#at = quote + 1
    return true
  }

  /** Parses what a text has in `scanned`; it may end with part of a character. */
  #readText(parts: string[], scanned: Uint8Array): void {
    const behind = endOfString(scanned, this.#at)
    const isWhole = behind <= scanned.length
    const end = isWhole ? behind - 1 : endOfCharacters(scanned, this.#at)
    if (end === this.#at && !isWhole) throw malformed()
    const [part] = this.#parse(false, `"${this.#decode(this.#at, end)}"`) as [string]
    parts.push(part)
    this.#at = isWhole ? behind : end
    if (isWhole) {
      this.#addValue(this.#innermost, parts.join(''), behind)
      this.#text = undefined
    }
  }

  #passMark(byte: number, at: number, full: number): void {
    if (byte === COLON) this.#values += 1
    else if (byte === COMMA) this.#endMember(at, at >= full)
    else if ((byte | BRACE_BIT) === OPEN_MAP) this.#openContainer(byte === OPEN_MAP, at)
    else this.#closeContainer(byte === CLOSE_MAP, at)
  }

  /** @throws JsonError */
  get value(): unknown {
    const values = Object.values(this.#innermost.target ?? [])
    if (values.length !== 1) throw malformed()
    return values[0]
  }

  get #innermost(): Container {
    const container = this.#open.at(-1)
    if (container === undefined) throw malformed()
    return container
  }

  #openContainer(isMap: boolean, at: number): void {
    const parent = this.#innermost
    if (parent.latest >= parent.member) throw malformed()
    parent.latest = at
    this.#containers += 1
    this.#values += 1
    if (this.#open.length === 1)
      this.#mostOpen = 1 + (this.#reading.unparsed?.depth[isMap ? 'map' : 'list'] ?? Infinity)
    this.#open.push(newContainer(isMap, at))
    if (this.#open.length > 1 + this.#reading.maxDepth)
      throw new JsonError('too_deep', 'the JSON is nested too deeply')
  }

  #closeContainer(isMap: boolean, at: number): void {
    const container = this.#open.pop()
    if (container?.isMap !== isMap) throw malformed()
    const parent = this.#innermost
    const { unparsed } = this.#reading
    if (unparsed !== undefined && this.#open.length === this.#mostOpen) {
      this.#separateAll()
      this.#separate(parent, container.bracket)
      this.#addValue(
        parent,
        unparsed.toValue(this.#json.subarray(container.bracket, at + 1)),
        at + 1,
      )
    } else if (container.target !== undefined) {
      this.#endContainer(container, at)
      this.#addValue(parent, container.target, at + 1)
    }
  }

  /** @param behind where the text goes on behind the value */
  #addValue(container: Container, value: unknown, behind: number): void {
    const { target, key } = container
    if (Array.isArray(target)) target.push(value)
    else if (target !== undefined) setOwn(target, key, value)
    container.rest = behind
    container.hasValue = true
  }

  #endMember(comma: number, isFull: boolean): void {
    this.#values += 1
    this.#isCutDue = isFull && this.#open.length <= this.#mostOpen
    const container = this.#innermost
    if (container.hasValue) {
      this.#checkBlank(container.rest, comma)
      container.rest = comma + 1
      container.hasValue = false
    }
    container.member = comma + 1
  }

  /** Parses all that comes before a comma. */
  #cut(comma: number): void {
    this.#separateAll()
    const container = this.#innermost
    if (container.rest <= comma) this.#parseRest(container, comma)
    container.rest = comma + 1
    this.#isCutDue = false
  }

  /** Makes all open containers ones of their own, with a target for each. */
  #separateAll(): void {
    let parent: Container | undefined
    for (const container of this.#open) {
      if (parent !== undefined && container.target === undefined) {
        container.target = container.isMap ? createTable() : []
        this.#separate(parent, container.bracket)
      }
      parent = container
    }
  }

  /** Parses what a container has before the value of its current member, which begins at `start`. */
  #separate(container: Container, start: number): void {
    if (container.rest < container.member) this.#parseRest(container, container.member - 1)
    const member = this.#parse(container.isMap, `${this.#decode(container.member, start)}null`)
    container.key = Object.keys(member)[0] ?? ''
  }

  #endContainer(container: Container, at: number): void {
    if (container.hasValue) this.#checkBlank(container.rest, at)
    else this.#parseRest(container, at)
  }

  /** Parses the rest of a container that was divided: each of its parts has members, as a comma is before it or behind. */
  #parseRest(container: Container, end: number): void {
    const part = this.#parse(container.isMap, this.#decode(container.rest, end))
    const { target } = container
    let isEmpty = true
    if (Array.isArray(part)) {
      for (const item of part) (target as unknown[]).push(item)
      isEmpty = part.length === 0
    } else
      for (const key in part) {
        setOwn(target as Record<string, unknown>, key, part[key])
        isEmpty = false
      }
    if (isEmpty) throw malformed()
  }

  #parse(isMap: boolean, text: string): Target {
    this.#reading.count?.(this.#containers, this.#values)
    this.#containers = 0
    this.#values = 0
    const whole = isMap ? `{${text}}` : `[${text}]`
    let part: Target
    try {
      part = parseJson(whole) as Target
    } catch (cause) {
      throw malformed(cause)
    }
    this.#reading.check?.(text, part)
    return part
  }

  #checkBlank(from: number, to: number): void {
    if (!this.#isBlank(from, to)) throw malformed()
  }

  #isBlank(from: number, to: number): boolean {
    return /^[ \t\n\r]*$/.test(this.#decode(from, to))
  }

  #decode(from: number, to: number): string {
    try {
      return utf8.decode(this.#json.subarray(from, to))
    } catch (cause) {
      throw malformed(cause)
    }
  }
}

/** A piece begins and ends beside an ASCII character. A byte order mark within is no JSON. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const newContainer = (isMap: boolean, bracket: number): Container => ({
  isMap,
  bracket,
  target: undefined,
  rest: bracket + 1,
  member: bracket + 1,
  latest: bracket,
  key: '',
  hasValue: false,
})

const BACKSLASH = 0x5c
const SMALL_U = 0x75
const LONGEST_ESCAPE = 6

/** Where the last character begins that may go on behind `json`, a part of a text: one in UTF-8, or an escape. */
const endOfCharacters = (json: Uint8Array, from: number): number => {
  let end = json.length
  while (end > from && ((json[end - 1] ?? 0) & 0xc0) === 0x80) end -= 1
  if (end < json.length) return Math.max(from, end - 1)
  if ((json[end - 1] ?? 0) >= 0xc0) return end - 1
  for (let at = Math.max(from, end - LONGEST_ESCAPE + 1); at < end; at++) {
    if (json[at] !== BACKSLASH) continue
    if (isEscaped(json, from, at)) continue
    if (at + (json[at + 1] === SMALL_U ? LONGEST_ESCAPE : 2) > end) return at
    at += 1
  }
  return end
}

const isEscaped = (json: Uint8Array, from: number, at: number): boolean => {
  let first = at
  while (first > from && json[first - 1] === BACKSLASH) first -= 1
  return (at - first) % 2 === 1
}

const malformed = (cause?: unknown): JsonError =>
  new JsonError('malformed', 'the text is no JSON', { cause })
