// Decodes CBOR (RFC 8949) of messages that any callee may cause, to values of the expression language only: text keys,
// text in UTF-8, no tags but bignums. No declared length makes it allocate memory.

import { isUtf8 } from 'node:buffer'
import { setOwn, type Value } from '../../../../language/expression/value.ts'
import { DecodeError } from '../../../decode-error.ts'
import type { ValueMeter } from '../../../memory/value-meter.ts'

/**
 * @param maxDepth maps, lists and tags within each other
 * @throws DecodeError
 * @example readCbor(Buffer.from([0xa1, 0x61, 0x61, 0x01]), 512, new ValueMeter()) // { a: 1 }
 */
export const readCbor = (bytes: Buffer, maxDepth: number, meter: ValueMeter): Value => {
  const reader = new Reader(bytes, maxDepth, meter)
  const value = reader.value(0)
  if (reader.at !== bytes.length)
    throw new DecodeError('malformed', 'something follows the CBOR value')
  return value
}

/** The elements of the list up to the first one that can't be read; none when it is no list. Never throws. */
export const readCborHead = (bytes: Buffer, maxDepth: number, meter: ValueMeter): Value[] => {
  const head: Value[] = []
  try {
    const reader = new Reader(bytes, maxDepth, meter)
    const initial = reader.byte()
    if (initial >> 5 === LIST) reader.listInto(head, reader.length(initial & 0x1f), 0)
  } catch (cause) {
    if (!(cause instanceof DecodeError)) throw cause
  }
  return head
}

const LIST = 4
const INDEFINITE = -1
const BREAK = 0xff
const CUT_SHORT = 'the message ends within a CBOR value'

/** Major type → what follows (RFC 8949 §3.1); `info` is the lower five bits of the first byte. */
const MAJOR: readonly ((reader: Reader, info: number, depth: number) => Value)[] = [
  (reader, info) => reader.argument(info),
  (reader, info) => -1 - reader.argument(info),
  (reader, info) => reader.binary(info),
  (reader, info) => reader.text(info),
  (reader, info, depth) => reader.listInto([], reader.length(info), depth),
  (reader, info, depth) => reader.map(reader.length(info), depth),
  (reader, info, depth) => reader.tagged(reader.argument(info), depth),
  (reader, info) => reader.simple(info),
]

class Reader {
  readonly #bytes: Buffer
  readonly #maxDepth: number
  readonly #meter: ValueMeter
  at = 0

  constructor(bytes: Buffer, maxDepth: number, meter: ValueMeter) {
    this.#bytes = bytes
    this.#maxDepth = maxDepth
    this.#meter = meter
  }

  value(depth: number): Value {
    const initial = this.byte()
    const read = MAJOR[initial >> 5]
    if (read === undefined) throw new DecodeError('malformed', CUT_SHORT)
    return read(this, initial & 0x1f, depth)
  }

  byte(): number {
    const byte = this.#bytes[this.at++]
    if (byte === undefined) throw new DecodeError('malformed', CUT_SHORT)
    return byte
  }

  /** §3: in the first byte itself or in the 1, 2, 4 or 8 after it. Beyond 2^53 it is rounded. */
  argument(info: number): number {
    if (info < 24) return info
    switch (info) {
      case 24:
        return this.byte()
      case 25:
        return this.#bytes.readUInt16BE(this.#take(2))
      case 26:
        return this.#bytes.readUInt32BE(this.#take(4))
      case 27:
        return Number(this.#bytes.readBigUInt64BE(this.#take(8)))
      default:
        throw new DecodeError('malformed', 'a CBOR value begins with a reserved byte')
    }
  }

  length(info: number): number {
    return info === 31 ? INDEFINITE : this.argument(info)
  }

  binary(info: number): Uint8Array {
    this.#meter.count(1, 0)
    // A copy: it outlives the bytes that were read.
    if (info !== 31) return new Uint8Array(this.#span(this.argument(info)))
    return new Uint8Array(Buffer.concat([...this.#chunks(0x40)]))
  }

  /** §3.2.3: each chunk of a text is UTF-8 by itself. */
  text(info: number): string {
    if (info !== 31) return this.#utf8(this.argument(info))
    let text = ''
    for (const chunk of this.#chunks(0x60)) text += utf8(chunk)
    return text
  }

  listInto(list: Value[], length: number, depth: number): Value {
    this.#enter(length, depth)
    while (this.#goesOn(list.length, length)) list.push(this.value(depth + 1))
    return list
  }

  /** The last of two equal keys wins. */
  map(length: number, depth: number): Value {
    // A key and a value each.
    this.#enter(length === INDEFINITE ? length : 2 * length, depth)
    const map: Record<string, Value> = {}
    for (let count = 0; this.#goesOn(count, length); count++) {
      const key = this.value(depth + 1)
      if (typeof key !== 'string') throw new DecodeError('malformed', 'CBOR map keys must be texts')
      setOwn(map, key, this.value(depth + 1))
    }
    return map
  }

  /** §3.4.3: bignums become doubles. */
  tagged(tag: number, depth: number): Value {
    if (tag !== 2 && tag !== 3)
      throw new DecodeError('malformed', 'CBOR tags are not taken, but for bignums')
    this.#enter(0, depth)
    const digits = this.value(depth + 1)
    if (!(digits instanceof Uint8Array))
      throw new DecodeError('malformed', 'a CBOR bignum is not made of bytes')
    let number = 0
    for (const digit of digits) number = number * 256 + digit
    return finite(tag === 2 ? number : -1 - number)
  }

  /** §3.3: false, true, null, undefined (which becomes null), floats. */
  simple(info: number): Value {
    switch (info) {
      case 20:
        return false
      case 21:
        return true
      case 22:
      case 23:
        return null
      case 25:
        return finite(halfFloat(this.#bytes.readUInt16BE(this.#take(2))))
      case 26:
        return finite(this.#bytes.readFloatBE(this.#take(4)))
      case 27:
        return finite(this.#bytes.readDoubleBE(this.#take(8)))
      default:
        throw new DecodeError('malformed', 'an unknown simple CBOR value')
    }
  }

  /** Values of an indefinite length are counted one by one. */
  #goesOn(count: number, length: number): boolean {
    if (length !== INDEFINITE) return count < length
    if (this.#bytes[this.at] !== BREAK) {
      this.#meter.count(0, 2)
      return true
    }
    this.at++
    return false
  }

  /** The definite chunks of an indefinite string, whose major type is `major` (§3.2.3). */
  *#chunks(major: number): Generator<Buffer> {
    for (let initial = this.byte(); initial !== BREAK; initial = this.byte()) {
      if ((initial & 0xe0) !== major)
        throw new DecodeError('malformed', 'a CBOR string has chunks of another type')
      this.#meter.count(1, 0)
      yield this.#span(this.argument(initial & 0x1f))
    }
  }

  #utf8(length: number): string {
    return utf8(this.#span(length))
  }

  #span(length: number): Buffer {
    const start = this.#take(length)
    return this.#bytes.subarray(start, this.at)
  }

  /** Advances by `count` bytes, after checking that they are there; returns where they begin. */
  #take(count: number): number {
    const start = this.at
    if (count > this.#bytes.length - start) throw new DecodeError('malformed', CUT_SHORT)
    this.at = start + count
    return start
  }

  /** Each of `count` values has at least one byte. */
  #enter(count: number, depth: number): void {
    if (depth >= this.#maxDepth)
      throw new DecodeError('malformed', 'the message is nested too deeply')
    if (count > this.#bytes.length - this.at) throw new DecodeError('malformed', CUT_SHORT)
    this.#meter.count(1, Math.max(0, count))
  }
}

/** A replacement character may also stand there in its own right. */
const utf8 = (bytes: Buffer): string => {
  const text = bytes.toString()
  if (text.includes('\uFFFD') && !isUtf8(bytes))
    throw new DecodeError('malformed', 'a CBOR text is not UTF-8')
  return text
}

/** JSON has neither NaN nor infinity, and would write null. */
const finite = (number: number): number => {
  if (Number.isFinite(number)) return number
  throw new DecodeError('malformed', 'a number of the message is NaN or infinite')
}

/** RFC 8949, appendix D. */
const halfFloat = (half: number): number => {
  const exponent = (half >> 10) & 0x1f
  const mantissa = half & 0x3ff
  const sign = half & 0x8000 ? -1 : 1
  if (exponent === 0) return sign * mantissa * 2 ** -24
  if (exponent === 31) return mantissa === 0 ? sign * Infinity : NaN
  return sign * (mantissa + 1024) * 2 ** (exponent - 25)
}
