// Renders a value as JSON text or as plain text (the template rule of behaviour §1).

import { ExpressionError } from './errors.ts'
import type { Host } from './functions/apply.ts'
import { spendWork, UNITS, unitsOfWrittenKeys } from './functions/spend.ts'
import { keysOf } from './keys.ts'
import { SizeBudget } from './size-budget.ts'
import { isList, type Value, type ValueMap } from './value.ts'

/**
 * Compact JSON; bytes are base64 text.
 * @param host is charged for the work
 * @throws ExpressionError for a value that is too large, nested too deeply, or too much work
 * @example toJson({ a: [1, null] }) // '{"a":[1,null]}'
 */
export const toJson = (value: Value, host: Host = unbound()): string => {
  if (typeof value === 'string') return jsonOfText(value, host)
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'null'
  if (typeof value === 'boolean') return value ? 'true' : 'false'
  return value === null ? 'null' : jsonOfContainer(value, host)
}

/** The budget of one value that is written for no request. */
const unbound = (): Host => ({ budget: 0 })

/**
 * Text verbatim, numbers in their shortest decimal form, `true`, `false`, `null`, bytes as base64, maps
 * and lists as compact JSON.
 */
export const toText = (value: Value, host?: Host): string => {
  if (typeof value === 'string') return value
  if (value instanceof Uint8Array) {
    if (host !== undefined) spendWork(host, value.length)
    return base64Of(value)
  }
  if (typeof value === 'number') return decimalText(value)
  return typeof value === 'object' ? toJson(value, host) : String(value)
}

/** The shortest digits that give the number again, without an exponent: as the field writes ids, times and amounts. */
const decimalText = (number: number): string => {
  const text = String(number)
  if (!text.includes('e')) return text
  const [mantissa = '', exponent] = text.split('e')
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.')
  const point = whole.length + Number(exponent)
  const digits = whole + fraction
  const sign = number < 0 ? '-' : ''
  return point <= 0 ? `${sign}0.${'0'.repeat(-point)}${digits}` : sign + digits.padEnd(point, '0')
}

export const base64Of = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')

/** V8 14 ends the process, past any catch, where JSON.stringify meets a text of 2^28 characters. */
const MAX_TEXT = 2 ** 27

const jsonOfText = (text: string, host: Host): string => {
  if (text.length > MAX_TEXT) throw new ExpressionError(TOO_LARGE)
  const units = unitsOfText(text)
  spendWork(host, units)
  const json = JSON.stringify(text)
  // What it has escaped.
  spendWork(host, Math.max(0, json.length - units))
  return json
}

const LONG_TEXT = 256
/** What JSON writes with six characters: in binary data, and hardly in texts. */
const BINARY = /[^\P{Cc}\t\n\f\r\u007f-\u009f]/u

/** Half of a surrogate pair, which V8 writes as six characters, one by one. */
const BROKEN_CHARACTER = 24

const unitsOfText = (text: string): number => {
  if (!text.isWellFormed()) return BROKEN_CHARACTER * text.length
  return text.length > LONG_TEXT && BINARY.test(text) ? 6 * text.length : text.length
}

export const TOO_LARGE = 'a value is too large or nested too deeply to be written as JSON'

const jsonOfContainer = (value: Value, host: Host): string => {
  const size = new SizeBudget()
  return asTooLarge(() => {
    const hasBytes = holdsBytes(value, { size, host })
    const json = JSON.stringify(hasBytes ? withoutBytes(value) : value)
    // What it has escaped.
    spendWork(host, Math.max(0, json.length - size.taken))
    return json
  })
}

/**
 * Charges what it is to write a value, in whatever form. It walks to the end, as nothing is written of a value that is too
 * large.
 * @returns whether there are bytes in it
 * @throws ExpressionError
 */
export const chargeWriting = (value: Value, host: Host): boolean =>
  asTooLarge(() => holdsBytes(value, { size: new SizeBudget(), host }))

const asTooLarge = <T>(write: () => T): T => {
  try {
    return write()
  } catch (cause) {
    throw cause instanceof ExpressionError ? cause : new ExpressionError(TOO_LARGE, { cause })
  }
}

interface Writing {
  readonly size: SizeBudget
  readonly host: Host
}

const holdsBytes = (value: Value, writing: Writing): boolean => {
  const { size, host } = writing
  if (!size.take(lengthOf(value))) throw new RangeError(TOO_LARGE)
  if (typeof value !== 'object' || value === null) {
    spendWork(host, UNITS.value + (typeof value === 'string' ? unitsOfText(value) : 0))
    return false
  }
  spendWork(host, UNITS.container + (value instanceof Uint8Array ? value.length : 0))
  if (value instanceof Uint8Array) return true
  return isList(value) ? listHoldsBytes(value, writing) : mapHoldsBytes(value, writing)
}

const listHoldsBytes = (list: readonly Value[], writing: Writing): boolean => {
  let hasBytes = false
  for (const item of list) if (holdsBytes(item, writing)) hasBytes = true
  return hasBytes
}

const mapHoldsBytes = (map: ValueMap, writing: Writing): boolean => {
  const { size, host } = writing
  const keys = keysOf(map, host)
  spendWork(host, unitsOfWrittenKeys(keys.length))
  let hasBytes = false
  for (const key of keys) {
    if (!size.take(key.length)) throw new RangeError(TOO_LARGE)
    spendWork(host, key.length)
    if (holdsBytes(map[key] ?? null, writing)) hasBytes = true
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
