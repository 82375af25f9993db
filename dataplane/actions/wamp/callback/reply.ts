// Converts the response of a callback (behaviour §4) to the payload of a YIELD, or to the WampError that becomes an
// ERROR. It produces nothing that a router would not carry.

import { ownValue } from '../../../../language/expression/lookup.ts'
import { isList, isMap, type Value, type ValueMap } from '../../../../language/expression/value.ts'
import { isWampUri } from '../../../../language/wamp-uri.ts'
import { decodeBody } from '../../../codec/codec.ts'
import { mediaKind } from '../../../../language/routes/media-kind.ts'
import type { Holding } from '../../../memory/memory-budget.ts'
import { peerError, WampError, type WampErrorCode } from '../../../wamp/session/joined-session.ts'
import type { Payload } from '../../../wamp/protocol/messages.ts'
import { isValidText, findInvalid } from '../validate-value.ts'

export interface CallbackReply {
  readonly statusCode: number
  /** Content-Type; '' without one. */
  readonly contentType: string
  readonly bytes: Buffer
}

const NOTHING: Payload = { args: [], kwargs: {} }

/**
 * 2xx: a JSON map with only `args` and `kwargs` is the payload; any other JSON value is the only argument; without a
 * body there is no argument. 4xx and 5xx: JSON `{error_uri, args, kwargs}` (or `error` for `error_uri`) is that
 * error.
 *
 * @param memory is charged for what the body decodes to
 * @throws WampError the reply's own error; `svc.error.upstream.<status>` if it names none;
 * `svc.error.bad_gateway` for redirects and bodies that are not JSON
 */
export const readReply = (reply: CallbackReply, memory: Holding): Payload => {
  const { statusCode } = reply
  if (statusCode >= 400) throw errorOf(reply, memory)
  if (statusCode >= 300) throw badReply(`The callback responded with a redirect (${statusCode}).`)
  if (reply.bytes.length === 0 || statusCode === 204 || statusCode === 205) return NOTHING
  const value = jsonOf(reply, memory)
  if (value === undefined) throw badReply('The callback did not respond with JSON.')
  if (findInvalid(value) !== undefined) throw badReply(NOT_CARRIED)
  return payloadOf(value) ?? { args: [value], kwargs: {} }
}

const NOT_CARRIED = 'The callback responded with values that WAMP routers do not carry.'

/** The errors of an invocation that the callback does not answer. */
export type CallbackErrorCode = Exclude<WampErrorCode, 'peer_error'>

/** Callers see the message as an argument: WAMP errors have none of their own. */
export const callbackError = (
  code: CallbackErrorCode,
  message: string,
  cause?: unknown,
): WampError => new WampError(code, message, { args: [message], cause })

const badReply = (message: string): WampError => callbackError('svc.error.bad_gateway', message)

const errorOf = (reply: CallbackReply, memory: Holding): WampError => {
  const { statusCode } = reply
  const body = jsonOf(reply, memory)
  const uri = ownValue(body, 'error_uri') ?? ownValue(body, 'error')
  const message = `The callback responded with status ${statusCode}.`
  if (typeof uri !== 'string' || !isValidText(uri) || !isWampUri(uri) || !isMap(body)) {
    return peerError(`svc.error.upstream.${statusCode}`, message, { args: [message] })
  }
  const payload = payloadOf(withoutOthers(body)) ?? NOTHING
  const isValid =
    findInvalid(payload.args) === undefined && findInvalid(payload.kwargs) === undefined
  return peerError(uri, message, isValid ? payload : NOTHING)
}

const jsonOf = ({ contentType, bytes }: CallbackReply, memory: Holding): Value | undefined => {
  if (mediaKind(contentType) !== 'json') return undefined
  try {
    return decodeBody(contentType, bytes, memory)
  } catch {
    return undefined
  }
}

const withoutOthers = (map: ValueMap): ValueMap =>
  Object.fromEntries(Object.entries(map).filter(([name]) => name === 'args' || name === 'kwargs'))

/** undefined: the value is an argument, not a payload. `{}` is a payload. */
const payloadOf = (value: Value): Payload | undefined => {
  if (!isMap(value)) return undefined
  if (Object.keys(value).some((name) => name !== 'args' && name !== 'kwargs')) return undefined
  const args = ownValue(value, 'args') ?? []
  const kwargs = ownValue(value, 'kwargs') ?? {}
  return isList(args) && isMap(kwargs) ? { args, kwargs } : undefined
}
