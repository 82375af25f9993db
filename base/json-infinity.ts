// Finds numbers of JSON text that are too large for a double, which `JSON.parse` turns into Infinity: written again they
// would become null.

/** A double ends at 1.8e308: what has fewer digits, and an exponent of one digit at most, is below. */
const LEAST_DIGITS = 200
const EXPONENT = /[0-9.]e\+?[0-9]{2}/i

/**
 * Walks the value only where the text may have such a number, which is hardly ever.
 * @param value what `text` was parsed to; its nesting is bounded
 * @example holdsInfinity('[1e400]', JSON.parse('[1e400]')) // true
 */
export const holdsInfinity = (text: string, value: unknown): boolean =>
  (EXPONENT.test(text) || hasLongNumber(text)) && isInfinite(value)

const isInfinite = (value: unknown): boolean => {
  if (typeof value === 'number') return !Number.isFinite(value)
  return typeof value === 'object' && value !== null && Object.values(value).some(isInfinite)
}

/** A run of so many digits covers a multiple of their number, and only there is it counted. */
const hasLongNumber = (text: string): boolean => {
  for (let at = LEAST_DIGITS; at < text.length; at += LEAST_DIGITS)
    if (countDigitsAt(text, at) >= LEAST_DIGITS) return true
  return false
}

const countDigitsAt = (text: string, at: number): number => {
  let from = at
  let to = at
  while (to - from < LEAST_DIGITS && isDigit(text, from - 1)) from--
  while (to - from < LEAST_DIGITS && isDigit(text, to)) to++
  return to - from
}

const isDigit = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at)
  return code >= 0x30 && code <= 0x39
}
