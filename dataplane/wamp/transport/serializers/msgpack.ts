// Encodes and decodes WAMP messages as MessagePack. Decoding is strict: no extension types, text keys only, text in
// UTF-8.

import type { Value } from '../../../../language/expression/value.ts'
import { DecodeError } from '../../../decode-error.ts'
import { ValueMeter } from '../../../memory/value-meter.ts'
import { readMsgpack, readMsgpackHead } from '../../../codec/read-msgpack.ts'
import { writeMsgpack } from '../../../codec/write-msgpack.ts'
import { portable } from './portable.ts'
import { asMessage, MAX_DEPTH, unreadable, type Serializer } from './serializer.ts'

const unchanged = <T>(value: T): T => value

export const msgpack: Serializer = {
  name: 'msgpack',
  isText: false,
  rawSocketId: 2,

  encode: (message) => writeMsgpack(portable(message, unchanged)),

  decode(bytes) {
    let message: Value
    try {
      message = readMsgpack(bytes, MAX_DEPTH, new ValueMeter())
    } catch (cause) {
      if (!(cause instanceof DecodeError)) throw cause
      throw unreadable(readMsgpackHead(bytes, MAX_DEPTH, new ValueMeter()), cause.message)
    }
    return asMessage(message)
  },
}
