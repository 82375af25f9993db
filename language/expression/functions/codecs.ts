// Encodes and decodes base64 and JSON text. Strict, and bounded in size and depth.

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
  if (nestingOf(text) > MAX_NESTING) {
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

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPENING = new Set([0x5b, 0x7b])
const CLOSING = new Set([0x5d, 0x7d])

/** The most brackets open at once, those in strings aside. */
const nestingOf = (text: string): number => {
  let depth = 0
  let deepest = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === QUOTE) index = endOfString(text, index)
    else if (OPENING.has(code)) deepest = Math.max(deepest, ++depth)
    else if (CLOSING.has(code)) depth--
  }
  return deepest
}

const endOfString = (text: string, start: number): number => {
  let index = start + 1
  while (index < text.length && text.charCodeAt(index) !== QUOTE) {
    index += text.charCodeAt(index) === BACKSLASH ? 2 : 1
  }
  return index
}
