// Serializer names in; what makes messages of bytes and bytes of messages, out.

import type { SerializerName, WampMessage } from '../../dataplane/wamp/wire.ts'
import type { Value } from '../../spec/expression/value.ts'

export interface Codec {
  readonly isBinary: boolean
  /** @throws for what the serializer can't carry */
  encode(message: WampMessage): Buffer
  /** @throws for what is no message */
  decode(bytes: Buffer): WampMessage
}

export const codecOf = (name: string): Codec | undefined =>
  Object.hasOwn(CODECS, name) ? CODECS[name as SerializerName] : undefined

const json: Codec = {
  isBinary: false,
  encode: (message) => Buffer.from(JSON.stringify(message)),
  decode: (bytes) => {
    const value = JSON.parse(bytes.toString()) as Value
    if (!Array.isArray(value)) throw new Error('a message is a list')
    return value as WampMessage
  },
}

const CODECS: Partial<Record<SerializerName, Codec>> = { json }
