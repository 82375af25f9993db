// Defines why a WAMP message is not sent or can't be read. The message quotes nothing of it.

import { CodedError } from '../../../base/coded-error.ts'
import type { WampMessage } from './messages.ts'

export type MessageErrorCode =
  | 'unencodable' // a value that the serializer cannot carry, or a message over the limit
  | 'undecodable' // a message that can't be read, or is none
  | 'malformed_frame' // what no RawSocket peer may send

export class MessageError extends CodedError<MessageErrorCode> {
  /** The readable part of an undecodable one: `[type, id, …]` up to the first element that can't be read. */
  readonly head: WampMessage | undefined

  constructor(code: MessageErrorCode, message: string, more: MessageErrorOptions = {}) {
    super(code, message, more)
    this.head = more.head
  }
}

interface MessageErrorOptions {
  readonly head?: WampMessage | undefined
  readonly cause?: unknown
}
