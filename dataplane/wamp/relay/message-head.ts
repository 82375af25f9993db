// Reads the type of a client's WAMP message, and the realm of a HELLO, from its first bytes. It is strict: what a
// lenient router might read in another way is unreadable.

import { parseJson } from '../../../base/parse-json.ts'
import { isUtf8 } from 'node:buffer'
import { endOfString, QUOTE } from '../../../base/json-strings.ts'
import type { SerializerName } from '../protocol/messages.ts'

export type MessageHead =
  | { readonly kind: 'message'; readonly type: number }
  | { readonly kind: 'hello'; readonly realmUri: string }
  /** It depends on bytes that follow. */
  | { readonly kind: 'partial' }
  | { readonly kind: 'unreadable' }

/**
 * @param bytes the message from its beginning, perhaps not all of it
 * @example readMessageHead('json', Buffer.from('[1,"com.acme",{')) // { kind: 'hello', realmUri: 'com.acme' }
 */
export const readMessageHead = (format: SerializerName, bytes: Buffer): MessageHead =>
  READERS[format](bytes)

const HELLO = 1

const PARTIAL = { kind: 'partial' } as const
const UNREADABLE = { kind: 'unreadable' } as const

/** `[`, a whole number as JSON has it, and what follows an element. */
const JSON_TYPE = /^[ \t\r\n]*\[[ \t\r\n]*(0|[1-9]\d{0,2})[ \t\r\n]*([,\]])[ \t\r\n]*/
const JSON_TYPE_BEGUN = /^[ \t\r\n]*(?:\[[ \t\r\n]*(?:(?:0|[1-9]\d{0,2})[ \t\r\n]*)?)?$/

const readJson = (bytes: Buffer): MessageHead => {
  const text = bytes.toString('latin1')
  const [start, type, delimiter] = JSON_TYPE.exec(text) ?? []
  if (start === undefined) return JSON_TYPE_BEGUN.test(text) ? PARTIAL : UNREADABLE
  if (Number(type) !== HELLO) return { kind: 'message', type: Number(type) }
  if (delimiter !== ',') return UNREADABLE
  const at = start.length
  if (at === bytes.length) return PARTIAL
  if (bytes[at] !== QUOTE) return UNREADABLE
  const end = endOfString(bytes, at + 1)
  return end > bytes.length ? PARTIAL : helloOf(bytes.subarray(at, end), readJsonString)
}

/** undefined: it is none. */
const readJsonString = (token: Buffer): string | undefined => {
  try {
    const value: unknown = parseJson(token.toString())
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}

const helloOf = (
  bytes: Buffer,
  read: (bytes: Buffer) => string | undefined = (text) => text.toString(),
): MessageHead => {
  const realmUri = isUtf8(bytes) ? read(bytes) : undefined
  return realmUri === undefined ? UNREADABLE : { kind: 'hello', realmUri }
}

type Stop = (typeof PARTIAL | typeof UNREADABLE)['kind']

/** Readers of a binary format: each reads the lead of one element, and returns how many elements, which number, how many bytes. */
interface Leads {
  readonly list: (cursor: Cursor) => number | Stop
  readonly integer: (cursor: Cursor) => number | Stop
  readonly text: (cursor: Cursor) => number | Stop
}

const readBinary =
  ({ list, integer, text }: Leads) =>
  (bytes: Buffer): MessageHead => {
    const cursor = new Cursor(bytes)
    const count = list(cursor)
    if (typeof count === 'string') return { kind: count }
    const type = count === 0 ? UNREADABLE.kind : integer(cursor)
    if (typeof type === 'string') return { kind: type }
    if (type !== HELLO) return { kind: 'message', type }
    const length = count === 1 ? UNREADABLE.kind : text(cursor)
    if (typeof length === 'string') return { kind: length }
    const name = cursor.take(length)
    return name === undefined ? PARTIAL : helloOf(name)
  }

class Cursor {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** undefined: there are not so many. */
  take(count: number): Buffer | undefined {
    const end = this.#at + count
    if (end > this.#bytes.length) return undefined
    const taken = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return taken
  }

  /** @param size 1, 2, 4 or 8 bytes, big-endian; beyond 2^53 it is rounded */
  number(size: number): number | 'partial' {
    const bytes = this.take(size)
    if (bytes === undefined) return 'partial'
    return size === 8 ? Number(bytes.readBigUInt64BE()) : bytes.readUIntBE(0, size)
  }
}

const MSGPACK: Leads = {
  list: (cursor) => {
    const lead = cursor.number(1)
    if (lead === 'partial') return lead
    if (lead >> 4 === 0x9) return lead & 0x0f
    return lead === 0xdc || lead === 0xdd ? cursor.number(2 << (lead - 0xdc)) : 'unreadable'
  },
  integer: (cursor) => {
    const lead = cursor.number(1)
    if (lead === 'partial' || lead < 0x80) return lead
    if (lead >= 0xcc && lead <= 0xcf) return cursor.number(1 << (lead - 0xcc))
    if (lead < 0xd0 || lead > 0xd3) return 'unreadable'
    const size = 1 << (lead - 0xd0)
    const value = cursor.number(size)
    return value === 'partial' || value < 2 ** (8 * size - 1) ? value : 'unreadable'
  },
  text: (cursor) => {
    const lead = cursor.number(1)
    if (lead === 'partial') return lead
    if (lead >> 5 === 0x5) return lead & 0x1f
    return lead >= 0xd9 && lead <= 0xdb ? cursor.number(1 << (lead - 0xd9)) : 'unreadable'
  },
}

/** Major types of RFC 8949 §3.1. */
const MAJOR = { unsigned: 0, text: 3, list: 4 }
const INDEFINITE = 31

const cborLead =
  (major: number, indefinite: number | 'unreadable' = 'unreadable') =>
  (cursor: Cursor): number | Stop => {
    const lead = cursor.number(1)
    if (lead === 'partial') return lead
    const info = lead & 0x1f
    if (lead >> 5 !== major) return 'unreadable'
    if (info < 24) return info
    if (info <= 27) return cursor.number(1 << (info - 24))
    return info === INDEFINITE ? indefinite : 'unreadable'
  }

const CBOR: Leads = {
  list: cborLead(MAJOR.list, Infinity),
  integer: cborLead(MAJOR.unsigned),
  text: cborLead(MAJOR.text),
}

const READERS = {
  json: readJson,
  msgpack: readBinary(MSGPACK),
  cbor: readBinary(CBOR),
} satisfies Record<SerializerName, (bytes: Buffer) => MessageHead>
