// Encodes a value as CBOR (RFC 8949): each integer and length in the shortest form there is for it, floats as doubles,
// no tags. It writes only the types of the expression language, and the 64-bit integers that WAMP wants.

import { ByteSink, type Head } from '../../../codec/byte-sink.ts'

/**
 * Omits what JSON omits: members that are undefined; an undefined item is null. Lone surrogates become
 * U+FFFD. Numbers beyond 32 bits go as doubles, BigInts as 64-bit integers.
 * @throws TypeError for functions and symbols
 * @throws RangeError for a BigInt beyond 64 bits, and for what is nested thousands deep
 * @example writeCbor({ a: 1 }) // <Buffer a1 61 61 01>
 */
export const writeCbor = (value: unknown): Buffer => {
  const sink = new ByteSink()
  writeValue(sink, value)
  return sink.finish()
}

/** The head of a major type (§3). */
const head = (majorType: number): Head => ({
  limit: 24,
  inByte: majorType << 5,
  oneByte: (majorType << 5) | 24,
})

const UNSIGNED = head(0)
const NEGATIVE = head(1)
const BINARY = head(2)
const TEXT = head(3)
const LIST = head(4)
const MAP = head(5)
/** First bytes of what is one kind of value only (§3, §3.3). */
const UNSIGNED_64 = 0x1b
const NEGATIVE_64 = 0x3b
const FALSE = 0xf4
const TRUE = 0xf5
const NULL = 0xf6
const DOUBLE = 0xfb

/** The most bytes of a scalar, or of a head. */
const MOST_BYTES = 9

const writeValue = (sink: ByteSink, value: unknown): void => {
  if (typeof value === 'string') {
    sink.text(TEXT, value)
    return
  }
  sink.reserve(MOST_BYTES)
  if (typeof value === 'number') writeNumber(sink, value)
  else if (typeof value === 'object' && value !== null) writeObject(sink, value)
  else writeOther(sink, value)
}

const writeObject = (sink: ByteSink, value: object): void => {
  if (Array.isArray(value)) writeList(sink, value)
  else if (value instanceof Uint8Array) sink.binary(BINARY, value)
  else writeMap(sink, value as Readonly<Record<string, unknown>>)
}

const writeList = (sink: ByteSink, list: readonly unknown[]): void => {
  sink.head(LIST, list.length)
  for (const item of list) writeValue(sink, item)
}

const writeMap = (sink: ByteSink, map: Readonly<Record<string, unknown>>): void => {
  const keys = Object.keys(map)
  const { size } = sink
  sink.head(MAP, keys.length)
  const sizeWithHead = sink.size
  let absent = 0
  for (const key of keys) {
    const value = map[key]
    if (value === undefined) absent++
    else {
      sink.text(TEXT, key)
      writeValue(sink, value)
    }
  }
  if (absent === 0) return
  const members = sink.cut(sizeWithHead)
  sink.cut(size)
  sink.head(MAP, keys.length - absent)
  sink.append(members)
}

const writeNumber = (sink: ByteSink, value: number): void => {
  const below = -1 - value
  if (value >>> 0 === value) sink.head(UNSIGNED, value)
  else if (below >>> 0 === below) sink.head(NEGATIVE, below)
  else sink.double(DOUBLE, value)
}

const writeOther = (sink: ByteSink, value: unknown): void => {
  switch (typeof value) {
    case 'boolean':
      sink.byte(value ? TRUE : FALSE)
      return
    case 'bigint':
      if (value < 0n) writeWide(sink, NEGATIVE_64, ~value)
      else writeWide(sink, UNSIGNED_64, value)
      return
    case 'function':
    case 'symbol':
      throw new TypeError(`CBOR can't carry a ${typeof value}`)
    case 'object':
    case 'undefined':
    case 'number':
    case 'string':
      sink.byte(NULL)
  }
}

const writeWide = (sink: ByteSink, first: number, value: bigint): void => {
  if (BigInt.asUintN(64, value) !== value) throw new RangeError('CBOR integers have 64 bits')
  sink.eightBytes(first, value)
}
