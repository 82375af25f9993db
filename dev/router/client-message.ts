// Reads a decoded message of a client into what it asks of the router, or throws a ProtocolViolation. Knows nothing of
// sessions: whether the message may come now is checked elsewhere.

import { MESSAGE, type Payload, type WampMessage } from '../../dataplane/wamp/protocol/messages.ts'
import { isList, isMap, type Value, type ValueMap } from '../../language/expression/value.ts'
import { isWampId } from './wamp-id.ts'

/** An error of a client that ends its own session and no other. */
export class ProtocolViolation extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ProtocolViolation'
  }
}

interface Request {
  readonly request: number
}

interface Asking extends Request {
  readonly options: ValueMap
  readonly uri: string
}

export interface Publish extends Asking, Payload {
  readonly type: 'publish'
}
export interface Subscribe extends Asking {
  readonly type: 'subscribe'
}
export interface Unsubscribe extends Request {
  readonly type: 'unsubscribe'
  readonly subscription: number
}
export interface Call extends Asking, Payload {
  readonly type: 'call'
}
export interface Cancel extends Request {
  readonly type: 'cancel'
  readonly options: ValueMap
}
export interface Register extends Asking {
  readonly type: 'register'
}
export interface Unregister extends Request {
  readonly type: 'unregister'
  readonly registration: number
}
/** `request` is that of the INVOCATION. */
export interface Yield extends Request, Payload {
  readonly type: 'yield'
  readonly options: ValueMap
}
/** The error of an INVOCATION, whose id `request` is: clients send no other. */
export interface InvocationError extends Request, Payload {
  readonly type: 'error'
  readonly details: ValueMap
  readonly uri: string
}

export type RoutedMessage =
  | Publish
  | Subscribe
  | Unsubscribe
  | Call
  | Cancel
  | Register
  | Unregister
  | Yield
  | InvocationError

export interface Hello {
  readonly type: 'hello'
  readonly realm: string
  readonly details: ValueMap
}

export type ClientMessage =
  | RoutedMessage
  | Hello
  | { readonly type: 'authenticate'; readonly signature: string }
  | { readonly type: 'abort' }
  | { readonly type: 'goodbye' }

/**
 * @throws ProtocolViolation naming the first element that is not what WAMP wants there; more elements than
 * WAMP knows are ignored
 * @example readClientMessage([32, 7, {}, 'com.example.topic']) // { type: 'subscribe', request: 7, … }
 */
export const readClientMessage = (message: WampMessage): ClientMessage => {
  const code = message[0]
  const read = typeof code === 'number' ? READERS.get(code) : undefined
  if (read === undefined) {
    throw new ProtocolViolation(`message type ${JSON.stringify(code)} is not for a router`)
  }
  return read(message)
}

const READERS: ReadonlyMap<number, (message: WampMessage) => ClientMessage> = new Map<
  number,
  (message: WampMessage) => ClientMessage
>([
  [MESSAGE.hello, (m) => ({ type: 'hello', realm: text(m, 1), details: map(m, 2) })],
  [MESSAGE.abort, () => ({ type: 'abort' })],
  [MESSAGE.authenticate, (m) => ({ type: 'authenticate', signature: text(m, 1) })],
  [MESSAGE.goodbye, () => ({ type: 'goodbye' })],
  [MESSAGE.publish, (m) => ({ type: 'publish', ...asking(m), ...payload(m, 4) })],
  [MESSAGE.subscribe, (m) => ({ type: 'subscribe', ...asking(m) })],
  [
    MESSAGE.unsubscribe,
    (m) => ({ type: 'unsubscribe', request: id(m, 1), subscription: id(m, 2) }),
  ],
  [MESSAGE.call, (m) => ({ type: 'call', ...asking(m), ...payload(m, 4) })],
  [MESSAGE.cancel, (m) => ({ type: 'cancel', request: id(m, 1), options: map(m, 2) })],
  [MESSAGE.register, (m) => ({ type: 'register', ...asking(m) })],
  [MESSAGE.unregister, (m) => ({ type: 'unregister', request: id(m, 1), registration: id(m, 2) })],
  [
    MESSAGE.yield,
    (m) => ({ type: 'yield', request: id(m, 1), options: map(m, 2), ...payload(m, 3) }),
  ],
  [MESSAGE.error, (m) => invocationError(m)],
])

const invocationError = (message: WampMessage): InvocationError => {
  if (message[1] !== MESSAGE.invocation) {
    throw new ProtocolViolation('an ERROR of a client answers an INVOCATION, nothing else')
  }
  return {
    type: 'error',
    request: id(message, 2),
    details: map(message, 3),
    uri: text(message, 4),
    ...payload(message, 5),
  }
}

const asking = (message: WampMessage): Asking => ({
  request: id(message, 1),
  options: map(message, 2),
  uri: text(message, 3),
})

const payload = (message: WampMessage, at: number): Payload => ({
  args: message.length > at ? list(message, at) : [],
  kwargs: message.length > at + 1 ? map(message, at + 1) : {},
})

const id = (message: WampMessage, at: number): number => {
  const value = message[at]
  if (!isWampId(value)) throw wrong(message, at, 'an id')
  return value
}

const text = (message: WampMessage, at: number): string => {
  const value = message[at]
  if (typeof value !== 'string') throw wrong(message, at, 'a text')
  return value
}

const map = (message: WampMessage, at: number): ValueMap => {
  const value = message[at]
  if (!isMap(value)) throw wrong(message, at, 'a map')
  return value
}

const list = (message: WampMessage, at: number): readonly Value[] => {
  const value = message[at]
  if (!isList(value)) throw wrong(message, at, 'a list')
  return value
}

const wrong = (message: WampMessage, at: number, wanted: string): ProtocolViolation =>
  new ProtocolViolation(
    `element ${at} of a message of type ${JSON.stringify(message[0])} must be ${wanted}`,
  )
