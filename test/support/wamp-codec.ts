// Converts WAMP messages to bytes and back for test peers, by well-known libraries and with none of the gateway's own
// care: what a peer sends may be as odd as a test wants.

import { decode as decodeMsgpack, encode as encodeMsgpack } from '@msgpack/msgpack'
import { decode as decodeCbor, encode as encodeCbor } from 'cborg'
import { isList, isMap } from '../../language/expression/value.ts'
import type { SerializerName, WampMessage } from '../../dataplane/wamp/protocol/messages.ts'

export interface WampCodec {
  /** Number in the RawSocket handshake (WAMP, *RawSocket*). */
  readonly rawSocketId: number
  /** WebSocket messages are text. */
  readonly isText: boolean
  encode(message: WampMessage): Buffer
  decode(bytes: Buffer): WampMessage
}

/** Maps stay in order, numbers that are no integers go as doubles. */
const CBOR_OPTIONS = { mapSorter: () => 0, float64: true }

/** cborg reads whole numbers beyond 53 bits as bigints, and bytes as no Buffer. */
const withNumbersAndBuffers = (value: unknown): unknown => {
  if (typeof value === 'bigint') return Number(value)
  if (value instanceof Uint8Array) return Buffer.from(value)
  if (isList(value)) return value.map(withNumbersAndBuffers)
  if (!isMap(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, of]) => [key, withNumbersAndBuffers(of)]),
  )
}

export const WAMP_CODECS = {
  json: {
    rawSocketId: 1,
    isText: true,
    encode: (message) => Buffer.from(JSON.stringify(message)),
    decode: (bytes) => JSON.parse(bytes.toString()) as WampMessage,
  },
  msgpack: {
    rawSocketId: 2,
    isText: false,
    encode: (message) => Buffer.from(encodeMsgpack(message, { maxDepth: 10_000 })),
    decode: (bytes) => decodeMsgpack(bytes) as WampMessage,
  },
  cbor: {
    rawSocketId: 3,
    isText: false,
    encode: (message) => Buffer.from(encodeCbor(message, CBOR_OPTIONS)),
    decode: (bytes) => withNumbersAndBuffers(decodeCbor(bytes)) as WampMessage,
  },
} satisfies Record<SerializerName, WampCodec>
