// WAMP messages as CBOR. Written by cbor-x as plain maps and integers, read by a strict reader of our own.

import { Encoder } from 'cbor-x'
import type { Value } from '../../../spec/expression/value.ts'
import { portable } from './portable.ts'
import { CborFault, readCbor, readCborHead } from './read-cbor.ts'
import { asMessage, MAX_DEPTH, unreadable, type Serializer } from './serializer.ts'
import { widenInteger } from './wide-integers.ts'

const encoder = new Encoder({ useRecords: false, variableMapSize: true, tagUint8Array: false })

export const cbor: Serializer = {
  name: 'cbor',
  isText: false,
  rawSocketId: 3,

  encode: (message) => encoder.encode(portable(message, widenInteger)),

  decode(bytes) {
    let message: Value
    try {
      message = readCbor(bytes, MAX_DEPTH)
    } catch (cause) {
      if (!(cause instanceof CborFault)) throw cause
      throw unreadable(readCborHead(bytes, MAX_DEPTH), cause.message)
    }
    return asMessage(message)
  },
}
