// Encodes a value as MessagePack, with the shortest form of each number, text and length. It writes only the types of
// the expression language.

import { ByteSink, type Head } from './byte-sink.ts'

/**
 * Omits what JSON omits: members that are undefined; an undefined item is null. Lone surrogates become
 * U+FFFD. Whole numbers up to 2^53 are integers, as some peers refuse a double for an id or a time; others are doubles.
 * @throws TypeError for functions, symbols and BigInts
 * @throws RangeError for what is nested thousands deep
 * @example writeMsgpack({ a: 1 }) // <Buffer 81 a1 61 01>
 */
export const writeMsgpack = (value: unknown): Buffer => {
  const sink = new ByteSink()
  writeValue(sink, value)
  return sink.finish()
}

/** First bytes (msgpack specification, *Formats*). */
const UNSIGNED: Head = { limit: 0x80, inByte: 0, oneByte: 0xcc }
const TEXT: Head = { limit: 0x20, inByte: 0xa0, oneByte: 0xd9 }
const BINARY: Head = { limit: 0, inByte: 0, oneByte: 0xc4 }
const NIL = 0xc0
const FALSE = 0xc2
const TRUE = 0xc3
const DOUBLE = 0xcb
const INT_8 = 0xd0
const INT_16 = 0xd1
const INT_32 = 0xd2
const INT_64 = 0xd3
const FIX_MAP = 0x80
const MAP_16 = 0xde
const FIX_LIST = 0x90
const LIST_16 = 0xdc

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
  const { length } = list
  if (length < 16) sink.byte(FIX_LIST | length)
  else sink.wideHead(LIST_16, length)
  for (const item of list) writeValue(sink, item)
}

const writeMap = (sink: ByteSink, map: Readonly<Record<string, unknown>>): void => {
  const keys = Object.keys(map)
  const { size } = sink
  writeMapHead(sink, keys.length)
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
  writeMapHead(sink, keys.length - absent)
  sink.append(members)
}

const writeMapHead = (sink: ByteSink, count: number): void => {
  if (count < 16) sink.byte(FIX_MAP | count)
  else sink.wideHead(MAP_16, count)
}

const writeNumber = (sink: ByteSink, value: number): void => {
  if (value >>> 0 === value) sink.head(UNSIGNED, value)
  else if ((value | 0) !== value) writeWideNumber(sink, value)
  else if (value >= -0x20) sink.byte(value)
  else if (value >= -0x80) {
    sink.byte(INT_8)
    sink.byte(value)
  } else if (value >= -0x8000) sink.twoBytes(INT_16, value)
  else sink.fourBytes(INT_32, value)
}

/** A double represents every integer up to here, and no more. */
const MAX_EXACT = 2 ** 53

const writeWideNumber = (sink: ByteSink, value: number): void => {
  if (Number.isInteger(value) && Math.abs(value) <= MAX_EXACT)
    sink.eightBytes(INT_64, BigInt(value))
  else sink.double(DOUBLE, value)
}

const writeOther = (sink: ByteSink, value: unknown): void => {
  switch (typeof value) {
    case 'boolean':
      sink.byte(value ? TRUE : FALSE)
      return
    case 'bigint':
    case 'function':
    case 'symbol':
      throw new TypeError(`msgpack can't carry a ${typeof value}`)
    case 'object':
    case 'undefined':
    case 'number':
    case 'string':
      sink.byte(NIL)
  }
}
