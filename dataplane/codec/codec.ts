// Decodes bodies to values by content type: JSON, MessagePack, forms. What cannot be decoded becomes a GatewayError
// `invalid_data`.

import { parseJson } from '../../base/parse-json.ts'
import { holdsInfinity } from '../../base/json-infinity.ts'
import {
  isList,
  isMap,
  setOwn,
  type Value,
  type ValueMap,
} from '../../language/expression/value.ts'
import { charsetOf, mediaKind, type MediaKind } from '../../language/routes/media-kind.ts'
import { decodeText } from './charset.ts'
import { DecodeError, type DecodeErrorCode } from '../decode-error.ts'
import { GatewayError } from '../gateway-error.ts'
import { noMemory } from '../memory/no-memory.ts'
import type { Holding } from '../memory/memory-budget.ts'
import { countJson, ValueMeter } from '../memory/value-meter.ts'
import { LARGE_BODY_BYTES } from '../turns.ts'
import { JsonError, readJson } from './json-reader.ts'
import { readMsgpack } from './read-msgpack.ts'

/** Deeper bodies are rejected, so that code which walks a value never runs out of stack. */
const MAX_DEPTH = 512

/**
 * @param holding is charged for what the body decodes to
 * @throws GatewayError `svc.error.invalid_data` for what is no JSON, msgpack or form, or not UTF-8;
 * `svc.error.unsupported_media_type` for a text that is not of its charset;
 * `svc.error.payload_too_large` for more values than any body may have; `svc.error.overloaded` when there is no
 * memory for them now
 */
export const decodeBody = (contentType: string, bytes: Buffer, holding: Holding): Value => {
  const pieces = decodeInPieces(contentType, bytes, holding)
  let piece = pieces.next()
  while (piece.done !== true) piece = pieces.next()
  return piece.value
}

/**
 * The same, with a pause after each piece of JSON of more than 64 KiB. All else is one piece.
 * @param isStrict MessagePack with two equal names in a map is rejected
 */
export function* decodeInPieces(
  contentType: string,
  bytes: Buffer,
  holding: Holding,
  isStrict = false,
): Generator<undefined, Value> {
  const meter = new ValueMeter(holding)
  const kind = mediaKind(contentType)
  try {
    meter.countText(bytes.length)
    if (kind === 'json' && bytes.length > LARGE_BODY_BYTES) return yield* decodeLarge(bytes, meter)
    return kind === 'other' ? decodeTyped(contentType, bytes) : decode(kind, bytes, meter, isStrict)
  } catch (cause) {
    throw cause instanceof DecodeError ? ERRORS[cause.code](cause) : cause
  }
}

/** @throws GatewayError `svc.error.invalid_data`, DecodeError */
function* decodeLarge(json: Buffer, meter: ValueMeter): Generator<undefined, Value> {
  const count = (containers: number, values: number): void => {
    meter.count(containers, values)
  }
  try {
    return (yield* readJson(json, { maxDepth: MAX_DEPTH, count, check: checkNumbers })) as Value
  } catch (cause) {
    if (!(cause instanceof JsonError)) throw cause
    throw undecodable(cause.code === 'too_deep' ? TOO_DEEP : 'the body is not valid JSON', cause)
  }
}

/** @throws GatewayError `svc.error.invalid_data`, DecodeError */
const decode = (
  kind: Exclude<MediaKind, 'other'>,
  bytes: Buffer,
  meter: ValueMeter,
  isStrict: boolean,
): Value => {
  switch (kind) {
    case 'json':
      return decodeJson(bytes, countJson(bytes, meter))
    case 'msgpack':
      return readMsgpack(bytes, MAX_DEPTH, meter, isStrict)
    case 'form':
      countForm(bytes, meter)
      return decodeForm(toText(bytes))
  }
}

/**
 * Text in the charset that its type names.
 * @throws GatewayError `svc.error.unsupported_media_type`
 */
const decodeTyped = (contentType: string, bytes: Buffer): string => {
  const text = decodeText(bytes, charsetOf(contentType) ?? 'utf-8')
  if (text !== undefined) return text
  throw new GatewayError(
    'svc.error.unsupported_media_type',
    'The body is not in the charset of its Content-Type',
    {
      description:
        'Send it as UTF-8, or name its charset by a label of the WHATWG Encoding Standard, such as iso-8859-1.',
    },
  )
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

const toText = (bytes: Buffer): string => {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw undecodable('the body is not UTF-8', cause)
  }
}

/** @param deepest levels of nesting, as far as they were counted */
const decodeJson = (bytes: Buffer, deepest = Infinity): Value => {
  const text = toText(bytes)
  let value: Value
  try {
    value = parseJson(text) as Value
  } catch (cause) {
    throw undecodable('the body is not valid JSON', cause)
  }
  // Walking a map of 100,000 keys takes 20 ms.
  if (deepest > MAX_DEPTH) checkDepth(text.length, value)
  checkNumbers(text, value)
  return value
}

const checkNumbers = (text: string, value: unknown): void => {
  if (holdsInfinity(text, value)) throw undecodable('the body is unreadable: a number is too large')
}

const AMPERSAND = 0x26

/** Counts a name and a value for each pair. */
const countForm = (bytes: Buffer, meter: ValueMeter): void => {
  let pairs = 1
  for (let at = bytes.indexOf(AMPERSAND); at >= 0; at = bytes.indexOf(AMPERSAND, at + 1)) pairs++
  meter.count(1, 2 * pairs)
}

/** The last of two equal names wins; `+` is a space; the value of a name alone is `""`. */
export const decodeForm = (text: string): ValueMap => {
  const map: Record<string, Value> = {}
  for (const [name, value] of formPairs(text)) setOwn(map, name, value)
  return map
}

/** The parser drops a `?` at the begin, which here is one of a name. */
export const formPairs = (text: string): readonly (readonly [string, string])[] =>
  text === '' ? [] : [...new URLSearchParams(`&${withSigns(text)}`)]

/** A name alone with its `=`: Node looks for that of each name to the end of the text, 7 s for 490,000 names in 2.4 MB. */
const withSigns = (text: string): string =>
  text
    .split('&')
    .map((pair) => (pair.includes('=') || pair === '' ? pair : `${pair}=`))
    .join('&')

/** Only a body that is long enough to be deep is walked. */
const checkDepth = (length: number, value: Value): void => {
  if (length > 2 * MAX_DEPTH && !isShallow(value, MAX_DEPTH)) throw undecodable(TOO_DEEP)
}

const TOO_DEEP = 'the body is nested too deeply'

const isShallow = (value: Value, left: number): boolean => {
  if (typeof value !== 'object' || value === null) return true
  if (left === 0) return false
  if (isList(value)) return value.every((item) => isShallow(item, left - 1))
  if (!isMap(value)) return true
  for (const key in value) {
    const child = value[key]
    if (typeof child === 'object' && !isShallow(child, left - 1)) return false
  }
  return true
}

const undecodable = (message: string, cause?: unknown): GatewayError =>
  new GatewayError('svc.error.invalid_data', message, {
    description: 'Send a body that matches its Content-Type.',
    ...(cause === undefined ? {} : { cause }),
  })

const ERRORS = {
  malformed: (cause) => undecodable(cause.message, cause),
  too_many_values: (cause) =>
    new GatewayError('svc.error.payload_too_large', cause.message, {
      description: 'Send it in several requests.',
      cause,
    }),
  no_memory: noMemory,
} as const satisfies Record<DecodeErrorCode, (cause: DecodeError) => GatewayError>
