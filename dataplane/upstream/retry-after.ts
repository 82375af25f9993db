// Reads from the head of an upstream's response how long the upstream asks clients to wait (RFC 9110 §10.2.3). It
// needs no clock: a date counts from the response's own `Date`.

import { valuesOf } from './headers.ts'

/** Longer times mean never. */
const LONGEST_MS = 2 ** 31 - 1

/**
 * @param raw flat list name, value, name, value
 * @returns milliseconds, 0 or more; undefined if there is no such header, or several that differ, or an invalid one
 * @example
 * retryAfterMs(['Retry-After', '2']) // 2000
 */
export const retryAfterMs = (raw: readonly (string | Buffer)[]): number | undefined => {
  const [text, another] = trimmedOf(raw, 'retry-after')
  if (text === undefined || another !== undefined) return undefined
  if (/^\d{1,9}$/.test(text)) return Math.min(Number(text) * 1000, LONGEST_MS)
  const [date, otherDate] = trimmedOf(raw, 'date')
  const [at, from] = [readDate(text), readDate(otherDate === undefined ? date : undefined)]
  if (at === undefined || from === undefined) return undefined
  return Math.min(Math.max(at - from, 0), LONGEST_MS)
}

/** The only form of HTTP dates that may be sent. */
const IMF_FIXDATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

const readDate = (text: string | undefined): number | undefined => {
  if (text === undefined || !IMF_FIXDATE.test(text)) return undefined
  const timeMs = Date.parse(text)
  return Number.isNaN(timeMs) ? undefined : timeMs
}

const trimmedOf = (raw: readonly (string | Buffer)[], name: string): readonly string[] =>
  valuesOf(raw, name).map((value) => value.trim())
