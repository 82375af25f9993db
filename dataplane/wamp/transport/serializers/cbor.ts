// Encodes and decodes WAMP messages as CBOR. Decoding is strict: text keys only, text in UTF-8, no tags but bignums.

import type { Value } from '../../../../language/expression/value.ts'
import { DecodeError } from '../../../decode-error.ts'
import { ValueMeter } from '../../../memory/value-meter.ts'
import { portable } from './portable.ts'
import { readCbor, readCborHead } from './read-cbor.ts'
import { asMessage, MAX_DEPTH, unreadable, type Serializer } from './serializer.ts'
import { widenInteger } from './wide-integers.ts'
import { writeCbor } from './write-cbor.ts'

export const cbor: Serializer = {
  name: 'cbor',
  isText: false,
  rawSocketId: 3,

  encode: (message) => writeCbor(portable(message, widenInteger)),

  decode(bytes) {
    let message: Value
    try {
      message = readCbor(bytes, MAX_DEPTH, new ValueMeter())
    } catch (cause) {
      if (!(cause instanceof DecodeError)) throw cause
      throw unreadable(readCborHead(bytes, MAX_DEPTH, new ValueMeter()), cause.message)
    }
    return asMessage(message)
  },
}
