// Parses JSON text from outside. V8 keeps the keys of maps that it has parsed, and takes a key that is written with an
// escape for one of those if its text begins alike (nodejs/node#63785): `{"id":1,"ad\u006din":2}` is read as `ad\u0` once
// anybody has sent `{"id":[],"ad\\u0":0}`. So it never gets a key with an escape to read.

import { randomUUID } from 'node:crypto'

/**
 * The value that JSON text stands for (RFC 8259), as `JSON.parse` should give it.
 * @param onEscapedKeys called with how many keys have an escape, each of which takes up to a microsecond more; it may throw
 * @throws SyntaxError as `JSON.parse`
 * @example parseJson('{"\\u00fcber": 1}') // { über: 1 }
 */
export const parseJson = (text: string, onEscapedKeys?: (count: number) => void): unknown => {
  if (!text.includes('\\')) return JSON.parse(text)
  const keys = escapedKeys(text)
  if (keys.length === 0) return JSON.parse(text)
  onEscapedKeys?.(keys.length)
  const placeholders = new Placeholders()
  let plain = ''
  let end = 0
  for (const { from, to } of keys) {
    plain += text.slice(end, from) + placeholders.write(JSON.parse(text.slice(from, to)) as string)
    end = to
  }
  return placeholders.parse(plain + text.slice(end))
}

interface KeyPlace {
  /** Where its opening quote is. */
  readonly from: number
  /** Behind its closing quote. */
  readonly to: number
}

/** Keys with a backslash. In text that is no JSON they may be any places; replacing them mends none of its faults. */
const escapedKeys = (text: string): readonly KeyPlace[] => {
  const keys: KeyPlace[] = []
  let backslash = text.indexOf('\\')
  for (let from = text.indexOf('"'); from !== -1 && backslash !== -1;) {
    let to = text.indexOf('"', from + 1) + 1
    if (to === 0) break
    if (backslash < to) {
      to = endOfString(text, Math.max(from + 1, backslash))
      if (backslash > from && isKey(text, to)) keys.push({ from, to })
      backslash = text.indexOf('\\', to)
    }
    from = text.indexOf('"', to)
  }
  return keys
}

/** Behind the closing quote, or the end of the text. */
const endOfString = (text: string, start: number): number => {
  let at = start
  for (; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === QUOTE) return at + 1
    if (unit === BACKSLASH) at++
  }
  return text.length
}

const isKey = (text: string, behind: number): boolean => {
  let at = behind
  while (BLANKS.has(text.charCodeAt(at))) at++
  return text.charCodeAt(at) === COLON
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d])

/** Quotes, backslashes and control characters can't be written without an escape. */
// eslint-disable-next-line no-control-regex -- these are what JSON can't have as they are
const NEEDS_ESCAPE = /["\\\u0000-\u001f]/

/** Other keys for those that can't be written without an escape. Nobody who writes the text can know them. */
class Placeholders {
  readonly #prefix = randomUUID()
  readonly #numbers = new Map<string, number>()
  readonly #keys: string[] = []

  write(key: string): string {
    if (!NEEDS_ESCAPE.test(key)) return `"${key}"`
    const number = this.#numbers.get(key) ?? this.#keys.push(key) - 1
    this.#numbers.set(key, number)
    return `"${this.#prefix}${number}"`
  }

  parse(text: string): unknown {
    const value: unknown = JSON.parse(text)
    return this.#keys.length === 0 ? value : this.#restore(value)
  }

  /** In place, but for maps with placeholders. As deep as the text: code that bounds depth does so before or after. */
  #restore(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value
    const container = value as Record<string, unknown>
    const keys = Object.keys(container)
    for (const key of keys) {
      const before = container[key]
      const after = this.#restore(before)
      if (after !== before) define(container, key, after)
    }
    if (!keys.some((key) => this.#isPlaceholder(key))) return container
    const restored = {}
    for (const key of keys) define(restored, this.#nameOf(key), container[key])
    return restored
  }

  #isPlaceholder(key: string): boolean {
    return key.length > this.#prefix.length && key.startsWith(this.#prefix)
  }

  #nameOf(key: string): string {
    if (!this.#isPlaceholder(key)) return key
    return this.#keys[Number(key.slice(this.#prefix.length))] ?? key
  }
}

const define = (map: Record<string, unknown>, key: string, value: unknown): void => {
  if (key !== '__proto__') map[key] = value
  else
    Object.defineProperty(map, key, { value, writable: true, enumerable: true, configurable: true })
}
