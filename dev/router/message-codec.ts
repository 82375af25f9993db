// Decodes bytes of a client into messages for its inlet, and encodes messages of the router with the client's
// serializer. Data that can't be decoded or encoded is an error of one session, never an exception.

import { SERIALIZERS } from '../../dataplane/wamp/transport/serializers/by-name.ts'
import type { Serializer } from '../../dataplane/wamp/transport/serializers/serializer.ts'
import type { WampMessage } from '../../dataplane/wamp/protocol/messages.ts'
import type { Inlet } from './connection.ts'

export const takeBytes = (inlet: Inlet, serializer: Serializer, bytes: Buffer): void => {
  let message: WampMessage
  try {
    message = serializer.decode(bytes)
  } catch (error) {
    inlet.refuse(error instanceof Error ? error.message : 'the message cannot be read')
    return
  }
  inlet.receive(message)
}

/** Undefined: the serializer can't carry it, or it is larger than the client takes. */
export const encodeFor = (
  serializer: Serializer,
  message: WampMessage,
  maxBytes: number,
): Buffer | undefined => {
  try {
    const encoded = serializer.encode(message)
    const bytes = typeof encoded === 'string' ? Buffer.from(encoded) : bufferOf(encoded)
    return bytes.length > maxBytes ? undefined : bytes
  } catch {
    return undefined
  }
}

export const serializerOfId = (rawSocketId: number): Serializer | undefined =>
  Object.values(SERIALIZERS).find((serializer) => serializer.rawSocketId === rawSocketId)

/** `wamp.2.json` and the like. */
export const serializerOfProtocol = (subProtocol: string): Serializer | undefined =>
  Object.values(SERIALIZERS).find(({ name }) => subProtocol === `wamp.2.${name}`)

const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
