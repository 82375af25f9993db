// Builds the messages of the router: lists in the form of WAMP, with empty arguments left off. Sends nothing.

import { MESSAGE, type Payload, type WampMessage } from '../../dataplane/wamp/protocol/messages.ts'
import type { Value, ValueMap } from '../../language/expression/value.ts'

export const errorMessage = (
  asked: number,
  request: number,
  uri: string,
  args: readonly Value[] = [],
): WampMessage => [MESSAGE.error, asked, request, {}, uri, ...payloadTail({ args, kwargs: {} })]

export const resultMessage = (
  request: number,
  details: ValueMap,
  payload: Payload,
): WampMessage => [MESSAGE.result, request, details, ...payloadTail(payload)]

export const abortMessage = (reason: string, message?: string): WampMessage => [
  MESSAGE.abort,
  message === undefined ? {} : { message },
  reason,
]

export const goodbyeMessage = (reason: string, message?: string): WampMessage => [
  MESSAGE.goodbye,
  message === undefined ? {} : { message },
  reason,
]

/** The end of any message that carries arguments. */
export const payloadTail = ({ args, kwargs }: Payload): readonly Value[] => {
  if (Object.keys(kwargs).length > 0) return [args, kwargs]
  return args.length > 0 ? [args] : []
}
