// Finds where a character of a YAML text value is in the source, for all styles of scalars: plain, quoted or a block, folded
// or not. Gives no place if it is not certain.

import { Scalar } from 'yaml'

/**
 * Folding, indentation and chomping change only white space. So the n-th character of the value that is not white space
 * is the n-th such character of the source.
 * @param offset into the value, in UTF-16 code units
 * @returns the offset into the source; undefined: it is not certain
 */
export const locateCharacter = (
  source: string,
  { value, type, range }: Scalar,
  offset: number,
): number | undefined => {
  if (typeof value !== 'string' || range === undefined || range === null) return undefined
  const [start, end] = range
  const written = charactersOf(source.slice(start, end), type)
  let index = 0
  for (const character of written) {
    if (isBlank(character.text)) continue
    while (index < value.length && isBlank(value.charAt(index))) index++
    if (character.text !== value.charAt(index)) return undefined
    if (index >= offset) return start + character.offset
    index++
  }
  return undefined
}

interface Character {
  /** One UTF-16 code unit of the value. */
  readonly text: string
  /** The offset of what it is written as, in the source of the scalar. */
  readonly offset: number
}

const isBlank = (text: string): boolean => /\s/.test(text)

const charactersOf = (source: string, type: Scalar['type']): Iterable<Character> => {
  switch (type) {
    case Scalar.QUOTE_SINGLE:
      return inQuotes(source, singleQuoted)
    case Scalar.QUOTE_DOUBLE:
      return inQuotes(source, doubleQuoted)
    case Scalar.BLOCK_LITERAL:
    case Scalar.BLOCK_FOLDED:
      // Behind the line of the mark, which may hold a comment.
      return plain(source, source.indexOf('\n') + 1)
    case Scalar.PLAIN:
    case undefined:
      return plain(source, 0)
  }
}

function* plain(source: string, from: number): Iterable<Character> {
  for (let offset = from; offset < source.length; offset++)
    yield { text: source.charAt(offset), offset }
}

type ReadQuoted = (
  source: string,
  offset: number,
) => { readonly text: string; readonly length: number }

function* inQuotes(source: string, read: ReadQuoted): Iterable<Character> {
  let offset = 1
  while (offset < source.length - 1) {
    const { text, length } = read(source, offset)
    for (let unit = 0; unit < text.length; unit++) yield { text: text.charAt(unit), offset }
    offset += length
  }
}

const singleQuoted: ReadQuoted = (source, offset) => {
  const text = source.charAt(offset)
  return { text, length: text === "'" ? 2 : 1 }
}

const doubleQuoted: ReadQuoted = (source, offset) => {
  const text = source.charAt(offset)
  if (text !== '\\') return { text, length: 1 }
  const letter = source.charAt(offset + 1)
  const digits = HEX_DIGITS[letter]
  if (digits === undefined) return { text: ESCAPES[letter] ?? letter, length: 2 }
  const code = Number.parseInt(source.slice(offset + 2, offset + 2 + digits), 16)
  const isCode = code >= 0 && code <= 0x10ffff
  return { text: isCode ? String.fromCodePoint(code) : '', length: 2 + digits }
}

const HEX_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 }

/** Others stand for themselves, and what is white space is passed over. */
const ESCAPES: Readonly<Record<string, string>> = {
  '0': '\0',
  a: '\x07',
  b: '\b',
  e: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  N: '\x85',
  _: '\xa0',
  L: '\u2028',
  P: '\u2029',
}
