// Defines WAMP messages as values, with the types and payloads that both ends of a session use. It sends and receives
// nothing.

import type { Value, ValueMap } from '../../../language/expression/value.ts'

/** `[type, …]` as the WAMP protocol has it: plain values with own keys, bytes as `Uint8Array`. */
export type WampMessage = readonly Value[]

/** Message types that we send or are sent (WAMP protocol, §"Message Codes"). */
export const MESSAGE = {
  hello: 1,
  welcome: 2,
  abort: 3,
  challenge: 4,
  authenticate: 5,
  goodbye: 6,
  error: 8,
  publish: 16,
  published: 17,
  subscribe: 32,
  subscribed: 33,
  unsubscribe: 34,
  unsubscribed: 35,
  event: 36,
  call: 48,
  cancel: 49,
  result: 50,
  register: 64,
  registered: 65,
  unregister: 66,
  unregistered: 67,
  invocation: 68,
  interrupt: 69,
  yield: 70,
} as const

export type SerializerName = 'json' | 'msgpack' | 'cbor'

/** Arguments of any direction; absent ones are empty. */
export interface Payload {
  readonly args: readonly Value[]
  readonly kwargs: ValueMap
}
