// WAMP messages to bytes and back for test peers, by well-known libraries and with none of the gateway's own
// care: what a peer sends may be as odd as a test wants.

import { Decoder, Encoder } from 'cbor-x'
import { Packr } from 'msgpackr'
import { isList, isMap } from '../../spec/expression/value.ts'
import type { SerializerName, WampMessage } from '../../dataplane/wamp/wire.ts'

export interface WampCodec {
  /** Number in the RawSocket handshake (WAMP, *RawSocket*). */
  readonly rawSocketId: number
  /** WebSocket messages are text. */
  readonly isText: boolean
  encode(message: WampMessage): Buffer
  decode(bytes: Buffer): WampMessage
}

const packr = new Packr({ useRecords: false, int64AsType: 'number' })
const encoder = new Encoder({ useRecords: false, tagUint8Array: false, mapsAsObjects: true })
const decoder = new Decoder({ useRecords: false, mapsAsObjects: true })

/**
 * cbor-x writes whole numbers beyond 32 bits as floats, and reads them as bigints. A router takes no float for an
 * id, and Crossbar draws its ids from 53 bits.
 */
const withLongIntegers = (value: unknown): unknown => {
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && Math.abs(value) >= 2 ** 31 ? BigInt(value) : value
  if (isList(value)) return value.map(withLongIntegers)
  if (!isMap(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, of]) => [key, withLongIntegers(of)]))
}

const withNumbers = (value: unknown): unknown => {
  if (typeof value === 'bigint') return Number(value)
  if (isList(value)) return value.map(withNumbers)
  if (!isMap(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, of]) => [key, withNumbers(of)]))
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
    encode: (message) => packr.pack(message),
    decode: (bytes) => packr.unpack(bytes) as WampMessage,
  },
  cbor: {
    rawSocketId: 3,
    isText: false,
    encode: (message) => encoder.encode(withLongIntegers(message)),
    decode: (bytes) => withNumbers(decoder.decode(bytes)) as WampMessage,
  },
} satisfies Record<SerializerName, WampCodec>
