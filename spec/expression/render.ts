// A value in, its JSON text or its plain text out (the template rule of behaviour §1).

import { ExpressionError } from './errors.ts'
import { isList, type Value } from './value.ts'

/**
 * Compact JSON; bytes are base64 text.
 * @throws ExpressionError for a value that is nested too deeply to be written
 * @example toJson({ a: [1, null] }) // '{"a":[1,null]}'
 */
export const toJson = (value: Value): string => {
  if (typeof value === 'string') return jsonText(value)
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

const SHORT = 48

/**
 * A JSON string. Most texts are short and need no escape, and for them a look at each character is
 * cheaper than a call to JSON.stringify.
 */
export const jsonText = (text: string): string => {
  if (text.length > SHORT) return JSON.stringify(text)
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code < 0x20 || code === 0x22 || code === 0x5c || code >= 0xd800) return JSON.stringify(text)
  }
  return `"${text}"`
}

const jsonOfContainer = (value: Value): string => {
  try {
    return JSON.stringify(holdsBytes(value) ? withoutBytes(value) : value)
  } catch (cause) {
    throw new ExpressionError('a value is too large or nested too deeply to be written as JSON', {
      cause,
    })
  }
}

const holdsBytes = (value: Value): boolean => {
  if (typeof value !== 'object' || value === null) return false
  if (value instanceof Uint8Array) return true
  if (isList(value)) return value.some(holdsBytes)
  for (const key in value) if (holdsBytes(value[key] ?? null)) return true
  return false
}

const withoutBytes = (value: Value): Value => {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Uint8Array) return base64Of(value)
  if (isList(value)) return value.map(withoutBytes)
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, withoutBytes(child)]))
}
