// Converts payloads to and from the last elements of a message: empty arguments are not sent, and absent ones are
// empty. Nothing is copied.

import type { Value, ValueMap } from '../../../language/expression/value.ts'
import type { Payload, WampMessage } from '../protocol/messages.ts'

export const payloadToSend = ({ args, kwargs }: Payload): Partial<Payload> => {
  if (Object.keys(kwargs).length > 0) return { args, kwargs }
  return args.length > 0 ? { args } : {}
}

/** A payload as the last elements of a message. */
export const payloadElements = (payload: Payload): readonly Value[] => {
  const { args, kwargs } = payloadToSend(payload)
  if (args === undefined) return []
  return kwargs === undefined ? [args] : [args, kwargs]
}

/** Reads the payload of a message whose shape has been checked; its arguments stand at `at`. */
export const payloadAt = (message: WampMessage, at: number): Payload => ({
  args: (message[at] ?? []) as readonly Value[],
  kwargs: (message[at + 1] ?? {}) as ValueMap,
})
