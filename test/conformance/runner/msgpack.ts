// JSON values and msgpack bytes, as much as the cases need, one into the other. Apart from the codec
// under test on purpose; binary is read as hex text, extension types are refused.

import { isList, isMap, type Json } from './json.ts'

export const encodeMsgpack = (value: Json): Buffer => {
  if (value === null) return Buffer.of(0xc0)
  if (typeof value === 'boolean') return Buffer.of(value ? 0xc3 : 0xc2)
  if (typeof value === 'number')
    return Number.isInteger(value) ? encodeInteger(value) : encodeDouble(value)
  if (typeof value === 'string') {
    const bytes = Buffer.from(value)
    return Buffer.concat([head(bytes.length, 32, 0xa0, 0xdb), bytes])
  }
  if (isList(value)) {
    return Buffer.concat([head(value.length, 16, 0x90, 0xdd), ...value.map(encodeMsgpack)])
  }
  const entries = Object.entries(value)
  return Buffer.concat([
    head(entries.length, 16, 0x80, 0xdf),
    ...entries.flatMap(([key, member]) => [encodeMsgpack(key), encodeMsgpack(member)]),
  ])
}

export const decodeMsgpack = (bytes: Buffer): Json => {
  const reader: Reader = { bytes, at: 0 }
  const value = decode(reader)
  if (reader.at !== bytes.length) throw new RangeError('bytes left over after the msgpack value')
  return value
}

const head = (length: number, shortBelow: number, shortTag: number, longTag: number): Buffer => {
  if (length < shortBelow) return Buffer.of(shortTag | length)
  const bytes = Buffer.of(longTag, 0, 0, 0, 0)
  bytes.writeUInt32BE(length, 1)
  return bytes
}

const encodeInteger = (value: number): Buffer => {
  if (value >= -32 && value < 128) return Buffer.of(value & 0xff)
  if (value >= 0 && value < 2 ** 32) return head(value, 0, 0, 0xce)
  const bytes = Buffer.alloc(9, 0xd3)
  bytes.writeBigInt64BE(BigInt(value), 1)
  return bytes
}

const encodeDouble = (value: number): Buffer => {
  const bytes = Buffer.alloc(9, 0xcb)
  bytes.writeDoubleBE(value, 1)
  return bytes
}

interface Reader {
  readonly bytes: Buffer
  at: number
}

/** Length-prefixed types: bytes of the length, and what follows. */
const SIZED: ReadonlyMap<
  number,
  readonly [lengthBytes: number, read: (reader: Reader, n: number) => Json]
> = new Map([
  [0xc4, [1, hexOf]],
  [0xc5, [2, hexOf]],
  [0xc6, [4, hexOf]],
  [0xd9, [1, textOf]],
  [0xda, [2, textOf]],
  [0xdb, [4, textOf]],
  [0xdc, [2, listOf]],
  [0xdd, [4, listOf]],
  [0xde, [2, mapOf]],
  [0xdf, [4, mapOf]],
])

const FIXED: ReadonlyMap<number, readonly [size: number, read: (bytes: Buffer) => Json]> = new Map([
  [0xc0, [0, () => null]],
  [0xc2, [0, () => false]],
  [0xc3, [0, () => true]],
  [0xca, [4, (bytes: Buffer) => bytes.readFloatBE()]],
  [0xcb, [8, (bytes: Buffer) => bytes.readDoubleBE()]],
  [0xcc, [1, (bytes: Buffer) => bytes.readUInt8()]],
  [0xcd, [2, (bytes: Buffer) => bytes.readUInt16BE()]],
  [0xce, [4, (bytes: Buffer) => bytes.readUInt32BE()]],
  [0xcf, [8, (bytes: Buffer) => Number(bytes.readBigUInt64BE())]],
  [0xd0, [1, (bytes: Buffer) => bytes.readInt8()]],
  [0xd1, [2, (bytes: Buffer) => bytes.readInt16BE()]],
  [0xd2, [4, (bytes: Buffer) => bytes.readInt32BE()]],
  [0xd3, [8, (bytes: Buffer) => Number(bytes.readBigInt64BE())]],
])

const decode = (reader: Reader): Json => {
  const tag = take(reader, 1).readUInt8()
  if (tag < 0x80) return tag
  if (tag >= 0xe0) return tag - 256
  if (tag < 0x90) return mapOf(reader, tag & 15)
  if (tag < 0xa0) return listOf(reader, tag & 15)
  if (tag < 0xc0) return textOf(reader, tag & 31)
  const fixed = FIXED.get(tag)
  if (fixed !== undefined) return fixed[1](take(reader, fixed[0]))
  const sized = SIZED.get(tag)
  if (sized === undefined)
    throw new RangeError(`msgpack type 0x${tag.toString(16)} is not supported`)
  return sized[1](reader, take(reader, sized[0]).readUIntBE(0, sized[0]))
}

function take(reader: Reader, count: number): Buffer {
  if (reader.at + count > reader.bytes.length) throw new RangeError('msgpack ends too early')
  reader.at += count
  return reader.bytes.subarray(reader.at - count, reader.at)
}

function hexOf(reader: Reader, n: number): Json {
  return take(reader, n).toString('hex')
}

function textOf(reader: Reader, n: number): Json {
  return new TextDecoder('utf-8', { fatal: true }).decode(take(reader, n))
}

function listOf(reader: Reader, n: number): Json {
  return Array.from({ length: n }, () => decode(reader))
}

function mapOf(reader: Reader, n: number): Json {
  return Object.fromEntries(
    Array.from({ length: n }, () => {
      const key = decode(reader)
      return [isMap(key) || isList(key) ? '' : String(key), decode(reader)] as const
    }),
  )
}
