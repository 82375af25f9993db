// Defines what a serializer is to a transport: it encodes a message to text or bytes, and decodes it again. The error
// for a message that cannot be decoded says how far it could be, so that one call fails and not the session.

import type { Value } from '../../../../language/expression/value.ts'
import { MessageError } from '../../protocol/message-error.ts'
import type { SerializerName, WampMessage } from '../../protocol/messages.ts'

export interface Serializer {
  readonly name: SerializerName
  /** WebSocket: messages are text frames, or binary ones. */
  readonly isText: boolean
  /** RawSocket: its number in the handshake. */
  readonly rawSocketId: number
  /**
   * Text for text frames, bytes otherwise.
   * @throws MessageError `unencodable` for values that the format, or every router, can't take
   */
  encode(message: WampMessage): string | Uint8Array
  /**
   * Keeps nothing of `bytes`.
   * @throws MessageError `undecodable`
   */
  decode(bytes: Buffer): WampMessage
}

/** How deep lists and maps may be nested, the message itself included, so that no walk of it runs out of stack. */
export const MAX_DEPTH = 512

/** @throws MessageError `undecodable` for what is no list that begins with a whole number */
export const asMessage = (value: Value): WampMessage => {
  if (isMessage(value)) return value
  throw new MessageError('undecodable', 'a message is a list that begins with a whole number')
}

/** The error for a message of which only `head` could be read: type and one more element, or nothing. */
export const unreadable = (head: readonly Value[], why: string): MessageError =>
  new MessageError('undecodable', why, {
    head: head.length >= 2 && isMessage(head) ? head : undefined,
  })

const isMessage = (value: Value): value is WampMessage =>
  Array.isArray(value) && Number.isInteger(value[0])
