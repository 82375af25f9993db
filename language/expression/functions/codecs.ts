// Encodes and decodes base64 and JSON text. Strict, and bounded in size and depth.

import { parseJson } from '../../../base/parse-json.ts'
import { holdsInfinity } from '../../../base/json-infinity.ts'
import { countInSteps, NO_MARKS } from '../../../base/json-weight.ts'
import type { Apply, Host } from './apply.ts'
import { FunctionError } from '../errors.ts'
import { base64Of, toJson } from '../render.ts'
import { bytesOfText, spend, spendWork, UNITS, unitsOfCopy } from './spend.ts'
import type { Value } from '../value.ts'

/** Deeper JSON text is rejected: code that reads it afterwards may recurse. */
const MAX_NESTING = 512
/** As many as a body may have: 8 MB of empty lists would take 120 MB. */
const MAX_VALUES = 1_000_000

export const encodeBase64: Apply = (input, _args, host) => {
  const bytes = input instanceof Uint8Array ? input : Buffer.from(textFrom(input))
  spendWork(host, bytes.length)
  spend(host, Math.ceil(bytes.length / 3) * 4)
  return base64Of(bytes)
}

export const decodeBase64: Apply = (input, _args, host) => {
  const encoded = textFrom(input)
  spendWork(host, encoded.length * UNITS.parsedCharacter)
  const bytes = Buffer.from(encoded, 'base64')
  if (base64Of(bytes) !== encoded) throw new FunctionError('takes base64 text with padding', input)
  spend(host, bytes.length)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new FunctionError('takes base64 of UTF-8 text', input, { cause })
  }
}

export const encodeJson: Apply = (input, _args, host) => {
  const text = toJson(input, host)
  spend(host, bytesOfText(text))
  return text
}

export const decodeJson: Apply = (input, _args, host) => {
  const text = textFrom(input)
  spendWork(host, text.length * UNITS.parsedCharacter)
  spend(host, bytesOfText(text))
  chargeParsing(text, host)
  const value = parsed(text, host)
  if (holdsInfinity(text, value))
    throw new FunctionError('takes JSON text without numbers that are too large', input)
  return value
}

const parsed = (text: string, host: Host): Value => {
  try {
    return parseJson(text, (keys) => {
      spendWork(host, keys * UNITS.escapedKey)
    }) as Value
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    throw new FunctionError('takes JSON text', text, { cause })
  }
}

const textFrom = (input: Value): string => {
  if (typeof input === 'string') return input
  throw new FunctionError('takes text', input)
}

/**
 * Charges what text becomes, as if all keys were of one map. What is no longer than the deepest nesting has next to nothing in
 * it.
 * @throws FunctionError for what is too deep or has too many values, ExpressionError for too much work
 */
const chargeParsing = (text: string, host: Host): void => {
  if (text.length <= MAX_NESTING) return
  let marks = NO_MARKS
  for (marks of countInSteps(Buffer.from(text))) {
    if (marks.deepest > MAX_NESTING)
      throw new FunctionError(`takes JSON text of at most ${MAX_NESTING} levels`, text)
    if (1 + marks.containers + marks.commas > MAX_VALUES)
      throw new FunctionError(`takes JSON text of at most ${MAX_VALUES} values`, text)
  }
  const values = marks.containers * UNITS.parsedContainer + marks.commas * UNITS.parsedValue
  spendWork(host, values + unitsOfCopy(marks.colons))
}
