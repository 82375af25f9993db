// Reads from the headers of an answer how long its sender wants to be left alone (RFC 9110 §10.2.3). Pure: a date counts
// from the answer's own.

const SECONDS = /^\d{1,9}$/

/**
 * @param raw flat list: name, value, name, value
 * @returns milliseconds; undefined: it does not say, or not in a form that there is
 * @example readRetryAfter(['Retry-After', '2']) // 2000
 */
export const readRetryAfter = (raw: readonly (string | Buffer)[]): number | undefined => {
  const value = valueOf(raw, 'retry-after')
  if (value === undefined) return undefined
  if (SECONDS.test(value)) return Number(value) * 1000
  const ms = Date.parse(value) - Date.parse(valueOf(raw, 'date') ?? '')
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

const valueOf = (raw: readonly (string | Buffer)[], name: string): string | undefined => {
  for (let at = 0; at + 1 < raw.length; at += 2)
    if (String(raw[at]).toLowerCase() === name) return String(raw[at + 1]).trim()
  return undefined
}
