// Renders a value as JSON text or as plain text (the template rule of behaviour §1).

import { ExpressionError } from './errors.ts'
import { isList, type Value } from './value.ts'

/**
 * Compact JSON; bytes are base64 text.
 * @throws ExpressionError for a value that is nested too deeply to be written
 * @example toJson({ a: [1, null] }) // '{"a":[1,null]}'
 */
export const toJson = (value: Value): string => {
  if (typeof value === 'string') return jsonOfText(value)
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'null'
  if (typeof value === 'boolean') return value ? 'true' : 'false'
  return value === null ? 'null' : jsonOfContainer(value)
}

/**
 * Text verbatim, numbers in their shortest decimal form, `true`, `false`, `null`, bytes as base64, maps
 * and lists as compact JSON.
 */
export const toText = (value: Value): string => {
  if (typeof value === 'string') return value
  if (value instanceof Uint8Array) return base64Of(value)
  return typeof value === 'object' ? toJson(value) : String(value)
}

export const base64Of = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')

/** V8 14 ends the process, past any catch, where JSON.stringify meets a text of 2^28 characters. */
const MAX_TEXT = 2 ** 27

const jsonOfText = (text: string): string => {
  if (text.length > MAX_TEXT) throw new ExpressionError(TOO_LARGE)
  return JSON.stringify(text)
}

const TOO_LARGE = 'a value is too large or nested too deeply to be written as JSON'

const jsonOfContainer = (value: Value): string => {
  try {
    return JSON.stringify(holdsBytes(value) ? withoutBytes(value) : value)
  } catch (cause) {
    throw new ExpressionError(TOO_LARGE, { cause })
  }
}

const holdsBytes = (value: Value): boolean => {
  if (typeof value === 'string' && value.length > MAX_TEXT) throw new RangeError(TOO_LARGE)
  if (typeof value !== 'object' || value === null) return false
  if (value instanceof Uint8Array) return true
  return (isList(value) ? value : Object.values(value)).some(holdsBytes)
}

const withoutBytes = (value: Value): Value => {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Uint8Array) return base64Of(value)
  if (isList(value)) return value.map(withoutBytes)
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, withoutBytes(child)]))
}
