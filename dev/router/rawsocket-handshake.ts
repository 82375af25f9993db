// Answers the four bytes that a RawSocket client begins with, and says what was agreed on (WAMP protocol, *RawSocket
// Transport*). Pure.

import {
  greeting,
  MAX_FRAME_BYTES,
  takenBytes,
} from '../../dataplane/wamp/transport/rawsocket-handshake.ts'
import type { Serializer } from '../../dataplane/wamp/transport/serializers/serializer.ts'
import { serializerOfId } from './message-codec.ts'

export type Handshake =
  /** Not a RawSocket client: nothing is sent. */
  | { readonly kind: 'foreign' }
  | { readonly kind: 'refused'; readonly response: Buffer }
  | {
      readonly kind: 'agreed'
      readonly response: Buffer
      readonly serializer: Serializer
      /** The largest message that the client accepts. */
      readonly maxSentBytes: number
      /** The largest message that we have promised to accept. */
      readonly maxReceivedBytes: number
    }

/** @example answerGreeting(Buffer.from([0x7f, 0xf1, 0, 0]), 2 ** 24).kind // 'agreed' */
export const answerGreeting = (bytes: Buffer, maxMessageBytes: number): Handshake => {
  const [magic, said = 0, third, fourth] = bytes
  if (magic !== MAGIC) return { kind: 'foreign' }
  if (third !== 0 || fourth !== 0) return refused(REFUSALS.reservedBits)
  const serializer = serializerOfId(said & 0x0f)
  if (serializer === undefined) return refused(REFUSALS.serializer)
  return {
    kind: 'agreed',
    // The same four bytes as of a client.
    response: greeting(serializer.rawSocketId, maxMessageBytes),
    serializer,
    maxSentBytes: Math.min(2 ** (9 + (said >> 4)), MAX_FRAME_BYTES),
    maxReceivedBytes: takenBytes(maxMessageBytes),
  }
}

const MAGIC = 0x7f

const REFUSALS = { serializer: 1, reservedBits: 3 } as const

const refused = (code: number): Handshake => ({
  kind: 'refused',
  response: Buffer.of(MAGIC, code << 4, 0, 0),
})
