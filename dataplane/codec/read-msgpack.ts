// Decodes MessagePack from untrusted bytes: no extension types, string keys only, valid UTF-8 only. It allocates
// nothing on the word of a declared length.

import { isUtf8 } from 'node:buffer'
import { setOwn, type Value } from '../../language/expression/value.ts'
import { DecodeError } from '../decode-error.ts'
import type { ValueMeter } from '../memory/value-meter.ts'

/**
 * @param maxDepth the most levels of nested maps and lists
 * @param isStrict two equal names in a map are rejected
 * @throws DecodeError
 * @example readMsgpack(Buffer.from([0x81, 0xa1, 0x61, 0x01]), 512, new ValueMeter()) // { a: 1 }
 */
export const readMsgpack = (
  bytes: Buffer,
  maxDepth: number,
  meter: ValueMeter,
  isStrict = false,
): Value => {
  const reader = new Reader(bytes, maxDepth, meter, isStrict)
  const value = reader.value(0)
  if (reader.at !== bytes.length)
    throw new DecodeError('malformed', 'the body has bytes after its msgpack value')
  return value
}

/**
 * Reads the elements of a list up to the first one that cannot be read: as much as can be known of a message with a
 * bad payload. None if it is not a list. Never throws.
 */
export const readMsgpackHead = (bytes: Buffer, maxDepth: number, meter: ValueMeter): Value[] => {
  const head: Value[] = []
  try {
    const reader = new Reader(bytes, maxDepth, meter)
    const length = reader.listLength()
    while (head.length < length) head.push(reader.value(1))
  } catch (cause) {
    if (!(cause instanceof DecodeError)) throw cause
  }
  return head
}

/** Readers by first byte, for formats other than the fixed ones (msgpack specification, *Formats*). */
const FORMATS: Readonly<Record<number, (reader: Reader, depth: number) => Value>> = {
  0xc0: () => null,
  0xc2: () => false,
  0xc3: () => true,
  0xc4: (reader) => reader.binary(reader.byte()),
  0xc5: (reader) => reader.binary(reader.unsigned(2)),
  0xc6: (reader) => reader.binary(reader.unsigned(4)),
  0xca: (reader) => finite(reader.bytes.readFloatBE(reader.take(4))),
  0xcb: (reader) => finite(reader.bytes.readDoubleBE(reader.take(8))),
  0xcc: (reader) => reader.byte(),
  0xcd: (reader) => reader.unsigned(2),
  0xce: (reader) => reader.unsigned(4),
  0xcf: (reader) => Number(reader.bytes.readBigUInt64BE(reader.take(8))),
  0xd0: (reader) => reader.bytes.readInt8(reader.take(1)),
  0xd1: (reader) => reader.bytes.readInt16BE(reader.take(2)),
  0xd2: (reader) => reader.bytes.readInt32BE(reader.take(4)),
  0xd3: (reader) => Number(reader.bytes.readBigInt64BE(reader.take(8))),
  0xd9: (reader) => reader.text(reader.byte()),
  0xda: (reader) => reader.text(reader.unsigned(2)),
  0xdb: (reader) => reader.text(reader.unsigned(4)),
  0xdc: (reader, depth) => reader.list(reader.unsigned(2), depth),
  0xdd: (reader, depth) => reader.list(reader.unsigned(4), depth),
  0xde: (reader, depth) => reader.map(reader.unsigned(2), depth),
  0xdf: (reader, depth) => reader.map(reader.unsigned(4), depth),
}

/** JSON has neither, and would write null. */
const finite = (number: number): number => {
  if (Number.isFinite(number)) return number
  throw new DecodeError('malformed', 'a number of the body is NaN or infinite')
}

const CUT_SHORT = 'the body ends within a msgpack value'

class Reader {
  readonly bytes: Buffer
  readonly #maxDepth: number
  readonly #meter: ValueMeter
  readonly #isStrict: boolean
  at = 0

  constructor(bytes: Buffer, maxDepth: number, meter: ValueMeter, isStrict = false) {
    this.#isStrict = isStrict
    this.bytes = bytes
    this.#maxDepth = maxDepth
    this.#meter = meter
  }

  value(depth: number): Value {
    const byte = this.byte()
    if (byte < 0x80) return byte
    if (byte >= 0xe0) return byte - 0x100
    if (byte < 0x90) return this.map(byte & 0x0f, depth)
    if (byte < 0xa0) return this.list(byte & 0x0f, depth)
    if (byte < 0xc0) return this.text(byte & 0x1f)
    const format = FORMATS[byte]
    if (format === undefined)
      throw new DecodeError('malformed', 'msgpack extension types are not supported')
    return format(this, depth)
  }

  /** The length of the list that begins here; 0 if none does. */
  listLength(): number {
    const byte = this.byte()
    if (byte >= 0x90 && byte < 0xa0) return byte & 0x0f
    if (byte === 0xdc) return this.unsigned(2)
    return byte === 0xdd ? this.unsigned(4) : 0
  }

  /** Skips `count` bytes, which must be there, and returns where they begin. */
  take(count: number): number {
    const start = this.at
    if (count > this.bytes.length - start) throw new DecodeError('malformed', CUT_SHORT)
    this.at = start + count
    return start
  }

  byte(): number {
    const byte = this.bytes[this.at++]
    if (byte === undefined) throw new DecodeError('malformed', CUT_SHORT)
    return byte
  }

  unsigned(count: 2 | 4): number {
    const start = this.take(count)
    return count === 2 ? this.bytes.readUInt16BE(start) : this.bytes.readUInt32BE(start)
  }

  /** An array of bytes is counted as a list. */
  binary(length: number): Uint8Array {
    this.#meter.count(1, 0)
    const start = this.take(length)
    return new Uint8Array(this.bytes.subarray(start, start + length))
  }

  text(length: number): string {
    const start = this.take(length)
    const text = this.bytes.toString('utf8', start, start + length)
    // The text may also contain a replacement character of its own.
    if (text.includes('\uFFFD') && !isUtf8(this.bytes.subarray(start, start + length)))
      throw new DecodeError('malformed', 'a string of the body is not UTF-8')
    return text
  }

  list(length: number, depth: number): Value {
    this.#enter(length, depth)
    const list: Value[] = []
    for (let index = 0; index < length; index++) list.push(this.value(depth + 1))
    return list
  }

  /** The last of two equal keys wins, unless it is strict. */
  map(size: number, depth: number): Value {
    // Each entry has a key and a value.
    this.#enter(2 * size, depth)
    const map: Record<string, Value> = {}
    for (let index = 0; index < size; index++) {
      const key = this.value(depth + 1)
      if (typeof key !== 'string')
        throw new DecodeError('malformed', 'msgpack map keys must be strings')
      if (this.#isStrict && Object.hasOwn(map, key))
        throw new DecodeError('malformed', 'the body has a map with a name twice')
      setOwn(map, key, this.value(depth + 1))
    }
    return map
  }

  /** Each of `count` values takes at least one byte. */
  #enter(count: number, depth: number): void {
    if (depth >= this.#maxDepth) throw new DecodeError('malformed', 'the body is nested too deeply')
    if (count > this.bytes.length - this.at) throw new DecodeError('malformed', CUT_SHORT)
    this.#meter.count(1, count)
  }
}
