// Reads, orders and matches segments in which bindings stand beside text: `:id.json`, `:a,:b`. Matching looks at a
// segment once from left to right and never goes back.

/** The texts around its bindings, in order, one more than there are bindings: `:id.json` is `['', '.json']`. */
export type MixedSegment = readonly string[]

/** A segment of a pattern: its text, `null` for any one segment, or text around bindings. */
export type PathStep = string | null | MixedSegment

/** Together, of one segment: what a request pays for looking for them is bounded by it. */
export const MAX_TEXT = 100

export interface SplitSegment {
  /** As written. */
  readonly texts: readonly string[]
  readonly names: readonly string[]
}

/**
 * Splits a segment at its bindings. A colon begins one at the start of the segment and behind a character that is no letter,
 * digit or `_`: `documents:search` and what follows the name in `:id:cancel` are text.
 * @example splitAtBindings(':id:cancel') // { texts: ['', ':cancel'], names: ['id'] }
 */
export const splitAtBindings = (raw: string): SplitSegment => {
  const texts: string[] = []
  const names: string[] = []
  let start = 0
  let at = raw.indexOf(':')
  while (at !== -1) {
    const name = beginsBinding(raw, start, at) ? nameAt(raw, at + 1) : undefined
    if (name !== undefined) {
      texts.push(raw.slice(start, at))
      names.push(name)
      start = at + 1 + name.length
    }
    at = raw.indexOf(':', Math.max(at + 1, start))
  }
  return { texts: [...texts, raw.slice(start)], names }
}

const beginsBinding = (raw: string, start: number, at: number): boolean =>
  at === start ? at === 0 : !/[\p{L}\p{N}_]$/u.test(lastCharacter(raw.slice(start, at).slice(-12)))

/** Also of one that is percent-encoded, in up to four bytes. */
const lastCharacter = (text: string): string => {
  for (const length of [3, 6, 9, 12]) {
    const escapes = text.slice(-length)
    if (!/^(?:%[\da-f]{2})+$/i.test(escapes)) break
    try {
      return decodeURIComponent(escapes)
    } catch {
      // The character has more bytes.
    }
  }
  return text
}

/** `-` at its end is text: `:from-:to` has two bindings. */
const nameAt = (raw: string, from: number): string | undefined => {
  const name = /\w+(?:-\w+)*/y
  name.lastIndex = from
  return name.exec(raw)?.[0]
}

/**
 * The texts that the bindings capture, none of them empty; undefined: the segment does not match. Where several splits are
 * possible, the earlier binding captures as little as it can.
 * @example captureMixed(['', '.', ''], 'a.tar.gz') // ['a', 'tar.gz']
 */
export const captureMixed = (
  texts: MixedSegment,
  segment: string,
): readonly string[] | undefined => {
  const last = texts.length - 1
  const begin = texts[0] ?? ''
  const end = texts[last] ?? ''
  if (!segment.startsWith(begin) || !segment.endsWith(end)) return undefined
  const captures: string[] = []
  const to = segment.length - end.length
  let from = begin.length
  for (let index = 1; index < last; index++) {
    const text = texts[index] ?? ''
    const found = segment.indexOf(text, from + 1)
    if (found === -1) return undefined
    captures.push(segment.slice(from, found))
    from = found + text.length
  }
  if (from >= to) return undefined
  captures.push(segment.slice(from, to))
  return captures
}

/**
 * Negative when `a` is tried first: more text, then more of it at the beginning, then at the end. Of those that are equal in
 * all this, each matches segments that the other matches, so that `mixedKey` makes them a conflict.
 */
export const compareMixed = (a: MixedSegment, b: MixedSegment): number =>
  lengthOf(b) - lengthOf(a) ||
  (b[0] ?? '').length - (a[0] ?? '').length ||
  (b.at(-1) ?? '').length - (a.at(-1) ?? '').length ||
  compareText(a.join('\0'), b.join('\0'))

/** The same for those of which none is more specific, each `?` a character of text between bindings. */
export const mixedKey = (texts: MixedSegment, write: (text: string) => string): string => {
  const between = lengthOf(texts.slice(1, -1))
  const middle = between === 0 ? '' : `${'?'.repeat(between)}:`
  return `${write(texts[0] ?? '')}:${middle}${write(texts.at(-1) ?? '')}`
}

export const lengthOf = (texts: readonly string[]): number =>
  texts.reduce((length, text) => length + text.length, 0)

const compareText = (a: string, b: string): number => {
  if (a === b) return 0
  return a < b ? -1 : 1
}
