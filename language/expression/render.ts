// Renders a value as JSON text or as plain text (the template rule of behaviour §1).

import { ExpressionError } from './errors.ts'
import { SizeBudget } from './size-budget.ts'
import { isList, type Value, type ValueMap } from './value.ts'

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

export const TOO_LARGE = 'a value is too large or nested too deeply to be written as JSON'

const jsonOfContainer = (value: Value): string => {
  try {
    return JSON.stringify(holdsBytes(value, new SizeBudget()) ? withoutBytes(value) : value)
  } catch (cause) {
    throw new ExpressionError(TOO_LARGE, { cause })
  }
}

/** Walks to the end, as nothing is written of a value that is too large. @throws RangeError */
const holdsBytes = (value: Value, budget: SizeBudget): boolean => {
  if (!budget.take(lengthOf(value))) throw new RangeError(TOO_LARGE)
  if (typeof value !== 'object' || value === null) return false
  if (value instanceof Uint8Array) return true
  return isList(value) ? listHoldsBytes(value, budget) : mapHoldsBytes(value, budget)
}

const listHoldsBytes = (list: readonly Value[], budget: SizeBudget): boolean => {
  let hasBytes = false
  for (const item of list) if (holdsBytes(item, budget)) hasBytes = true
  return hasBytes
}

const mapHoldsBytes = (map: ValueMap, budget: SizeBudget): boolean => {
  let hasBytes = false
  for (const key of Object.keys(map)) {
    if (!budget.take(key.length)) throw new RangeError(TOO_LARGE)
    if (holdsBytes(map[key] ?? null, budget)) hasBytes = true
  }
  return hasBytes
}

/** At most what it is written to, without what is in it. */
const lengthOf = (value: Value): number => {
  if (typeof value === 'string') return value.length
  if (value instanceof Uint8Array) return Math.ceil(value.length / 3) * 4
  return typeof value === 'object' && value !== null ? 2 : 1
}

const withoutBytes = (value: Value): Value => {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Uint8Array) return base64Of(value)
  if (isList(value)) return value.map(withoutBytes)
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, withoutBytes(child)]))
}
