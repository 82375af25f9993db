// Converts one value to another type: integer, float, string, boolean, abs.

import type { Apply, Host } from './apply.ts'
import { FunctionError } from '../errors.ts'
import { toText } from '../render.ts'
import { bytesOfText, spend, spendWork, UNITS } from './spend.ts'
import type { Value } from '../value.ts'

/** Truncates toward zero; never -0. */
export const integerOf: Apply = (input, _args, host) => Math.trunc(numberFrom(input, host)) + 0

export const floatOf: Apply = (input, _args, host) => numberFrom(input, host)

export const textOf: Apply = (input, _args, host) => {
  if (typeof input === 'string') return input
  const text = toText(input, host)
  spend(host, bytesOfText(text))
  return text
}

export const booleanOf: Apply = (input) => {
  if (input === true || input === 1 || input === 'true' || input === '1') return true
  if (input === false || input === 0 || input === 'false' || input === '0') return false
  throw new FunctionError('takes true, false, 1, 0 or one of these as text', input)
}

export const magnitudeOf: Apply = (input) => {
  if (typeof input === 'number') return Math.abs(input)
  throw new FunctionError('takes a number', input)
}

const numberFrom = (input: Value, host: Host): number => {
  if (typeof input === 'string') spendWork(host, input.length * UNITS.parsedCharacter)
  const number = typeof input === 'string' ? decimalOf(input) : input
  if (typeof number === 'number' && Number.isFinite(number)) return number
  throw new FunctionError('takes a number or decimal text', input)
}

/**
 * The number that a text of digits, with a sign and a decimal part at most, stands for.
 * @example decimalOf('-4.5') // -4.5; '1e3', ' 42 ', '.5' are undefined
 */
export const decimalOf = (text: string): number | undefined => {
  const sign = text.charCodeAt(0)
  const start = sign === MINUS || sign === PLUS ? 1 : 0
  const point = skipDigits(text, start)
  if (point === start) return undefined
  if (point === text.length) return Number(text)
  const isDecimal = text.charCodeAt(point) === POINT && point + 1 < text.length
  return isDecimal && skipDigits(text, point + 1) === text.length ? Number(text) : undefined
}

const PLUS = 0x2b
const MINUS = 0x2d
const POINT = 0x2e

const skipDigits = (text: string, from: number): number => {
  let index = from
  while (text.charCodeAt(index) >= 0x30 && text.charCodeAt(index) <= 0x39) index++
  return index
}
