// Checks whether a message of the router has the shape that its type demands. Nothing behind this check repeats it.

import { isList, isMap, type Value } from '../../../language/expression/value.ts'
import { MESSAGE, type WampMessage } from './messages.ts'

type Check = (element: Value | undefined) => boolean

/** WAMP protocol, *Identifiers*: up to 2^53, which is one more than a safe integer. */
const isId: Check = (element) =>
  typeof element === 'number' && Number.isInteger(element) && element >= 0 && element <= 2 ** 53
const isText: Check = (element) => typeof element === 'string'
const isOptionalMap: Check = (element) => element === undefined || isMap(element)
const isWelcome: Check = (element) => isMap(element) && isMap(element['roles'])
const isSessionId: Check = (element) => isId(element) && element !== 0

interface Shape {
  /** Checks of the elements after the type. */
  readonly elements: readonly Check[]
  readonly hasPayload: boolean
}

const plain = (...elements: readonly Check[]): Shape => ({ elements, hasPayload: false })
const withPayload = (...elements: readonly Check[]): Shape => ({ elements, hasPayload: true })

const HEARTBEAT = 7

/** What a router may send to a client; every other type is malformed. */
const SHAPES: ReadonlyMap<Value | undefined, Shape> = new Map([
  [MESSAGE.welcome, plain(isSessionId, isWelcome)],
  [MESSAGE.abort, plain(isMap, isText)],
  [MESSAGE.challenge, plain(isText, isMap)],
  [MESSAGE.goodbye, plain(isMap, isText)],
  [HEARTBEAT, plain()],
  [MESSAGE.error, withPayload(isId, isId, isMap, isText)],
  [MESSAGE.published, plain(isId, isId)],
  [MESSAGE.subscribed, plain(isId, isId)],
  [MESSAGE.unsubscribed, plain(isId, isOptionalMap)],
  [MESSAGE.event, withPayload(isId, isId, isMap)],
  [MESSAGE.result, withPayload(isId, isMap)],
  [MESSAGE.registered, plain(isId, isId)],
  [MESSAGE.unregistered, plain(isId, isOptionalMap)],
  [MESSAGE.invocation, withPayload(isId, isId, isMap)],
  [MESSAGE.interrupt, plain(isId, isMap)],
])

/** `payload`: only the arguments are malformed, so it concerns one request and not the session. */
export type ShapeCheck = 'ok' | 'payload' | 'malformed'

/**
 * Elements beyond those that the protocol defines are ignored; null stands for absent arguments, as autobahn for
 * Python sends them.
 *
 * @example
 * checkShape([50, 7, {}, 'no list']) // 'payload'
 */
export const checkShape = (message: WampMessage): ShapeCheck => {
  const shape = SHAPES.get(message[0])
  if (shape === undefined) return 'malformed'
  const { elements, hasPayload } = shape
  for (let at = 0; at < elements.length; at++) {
    if (elements[at]?.(message[at + 1]) !== true) return 'malformed'
  }
  if (!hasPayload) return 'ok'
  const args = message[elements.length + 1] ?? null
  const kwargs = message[elements.length + 2] ?? null
  return (args === null || isList(args)) && (kwargs === null || isMap(kwargs)) ? 'ok' : 'payload'
}
