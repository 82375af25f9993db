// Encodes and decodes base64 and JSON text. Strict, and bounded in size and depth.

import { findExcess, type JsonBounds } from '../../../base/json-weight.ts'
import type { Apply } from './apply.ts'
import { FunctionError } from '../errors.ts'
import { base64Of, toJson } from '../render.ts'
import { bytesOfText, spend } from './spend.ts'
import type { Value } from '../value.ts'

/** Deeper JSON text is rejected: code that reads it afterwards may recurse. */
const MAX_NESTING = 512

export const encodeBase64: Apply = (input, _args, host) => {
  const bytes = input instanceof Uint8Array ? input : Buffer.from(textFrom(input))
  spend(host, Math.ceil(bytes.length / 3) * 4)
  return base64Of(bytes)
}

export const decodeBase64: Apply = (input, _args, host) => {
  const encoded = textFrom(input)
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
  const text = toJson(input)
  spend(host, bytesOfText(text))
  return text
}

export const decodeJson: Apply = (input, _args, host) => {
  const text = textFrom(input)
  spend(host, bytesOfText(text))
  if (isTooDeep(text)) {
    throw new FunctionError(`takes JSON text of at most ${MAX_NESTING} levels`, input)
  }
  try {
    return JSON.parse(text) as Value
  } catch (cause) {
    throw new FunctionError('takes JSON text', input, { cause })
  }
}

const textFrom = (input: Value): string => {
  if (typeof input === 'string') return input
  throw new FunctionError('takes text', input)
}

/** Text that is no longer than the bound cannot be deeper. */
const isTooDeep = (text: string): boolean =>
  text.length > MAX_NESTING && findExcess(Buffer.from(text), NESTING_BOUNDS) !== undefined

const NESTING_BOUNDS: JsonBounds = { maxDepth: MAX_NESTING, maxValues: Infinity }
