// Validates and types the evaluated values that an action sends to a router (behaviour §4). Nothing that fails here
// is ever sent, so that a client cannot end the session that all share.

import { boundMessage } from '../../../language/expression/errors.ts'
import type { Host } from '../../../language/expression/functions/apply.ts'
import { isList, isMap, type Value, type ValueMap } from '../../../language/expression/value.ts'
import { isWampPattern, type WampMatch } from '../../../language/wamp-uri.ts'
import { WampError, type WampErrorCode } from '../../wamp/session/joined-session.ts'
import { isValidText, findInvalid } from './validate-value.ts'

/** The key under which the gateway sends the caller to callees; nothing else may set it. */
export const CALLER_KEY = '_caller'

/**
 * What a request inserts into a longer URI must be one part of it, or a piece of one: with a dot it would name
 * another procedure than the document means, and an empty value would open a pattern to everything.
 * @throws WampError `wamp.error.invalid_uri`
 */
export const checkInserted = (
  name: string,
  inserted: readonly string[],
  match: WampMatch,
): void => {
  for (const text of inserted) {
    const hasDot = text.includes('.')
    if (!hasDot && (text !== '' || match === 'exact')) continue
    throw invalidRequest('wamp.error.invalid_uri', `${name}: ${hasDot ? NO_DOT : NOT_EMPTY}`)
  }
}

const NO_DOT =
  'a value inside a longer URI must not contain a dot, which would add parts to the URI'
const NOT_EMPTY = 'a value inside a pattern must not be empty, as the pattern would match more'

/**
 * @param name its name in the document: `procedure`, `topic`
 * @throws WampError `wamp.error.invalid_uri`
 */
export const checkUri = (name: string, value: Value, match: WampMatch): string => {
  if (typeof value === 'string' && isValidText(value) && isWampPattern(value, match)) return value
  throw invalidRequest(
    'wamp.error.invalid_uri',
    `${name}: expected a WAMP URI: parts separated by dots, ${EMPTY_PARTS[match]}, without spaces and #`,
  )
}

const EMPTY_PARTS = {
  exact: 'none of them empty',
  prefix: 'none of them empty but the last',
  wildcard: 'any of them may be empty',
} as const satisfies Record<WampMatch, string>

/** @throws WampError `wamp.error.invalid_argument` */
export const checkArgs = (value: Value, host?: Host): readonly Value[] => {
  if (!isList(value)) throw invalid('args: expected a list')
  checkValue('args', value, host)
  return value
}

/**
 * `_caller` is rejected, as a callee may trust it (docs/wamp/actions.md, *Caller identity*).
 * @throws WampError `wamp.error.invalid_argument`
 */
export const checkKwargs = (value: Value, host?: Host): ValueMap => {
  const kwargs = checkKwargsMap(value, host)
  if (!Object.hasOwn(kwargs, CALLER_KEY)) return kwargs
  throw invalid(
    `kwargs.${CALLER_KEY}: only the gateway sets it, if the document has options.forward_identity`,
  )
}

/** Like `checkKwargs`, for when the gateway replaces `_caller` with its own. */
export const checkKwargsMap = (value: Value, host?: Host): ValueMap => {
  if (!isMap(value)) throw invalid('kwargs: expected a map')
  checkValue('kwargs', value, host)
  return value
}

/** @throws WampError `wamp.error.invalid_argument` naming the place */
export const checkValue = (name: string, value: Value, host?: Host): void => {
  const found = findInvalid(value, host)
  if (found !== undefined) throw invalid(`${name}${found.place}: ${found.reason}`)
}

export const invalid = (message: string): WampError =>
  invalidRequest('wamp.error.invalid_argument', message)

/** For an action that fails before anything is sent. */
export const invalidRequest = (code: WampErrorCode, message: string): WampError =>
  new WampError(code, boundMessage(message), { wasSent: false })
