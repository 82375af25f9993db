// Moves along a string while it is parsed. Every character is visited a bounded number of times, so parsing takes time
// in proportion to length, whatever the text is.

export interface Cursor {
  readonly source: string
  readonly end: number
  at: number
  /** The first error wins; nothing that is read after it counts. */
  problem: { readonly offset: number; readonly message: string } | undefined
  remark: Remark | undefined
}

/** The first thing that is read otherwise than it looks, and where it stands. */
export interface Remark {
  readonly offset: number
  readonly message: string
}

export const CHARACTER = {
  quote: 0x27,
  open: 0x28,
  close: 0x29,
  comma: 0x2c,
  point: 0x2e,
  greater: 0x3e,
  openBracket: 0x5b,
  closeBracket: 0x5d,
  openBrace: 0x7b,
  bar: 0x7c,
  closeBrace: 0x7d,
} as const

/** Blank, tab, line feed, carriage return. */
export const isBlank = (code: number): boolean =>
  code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d

/** NaN at the end. */
export const codeAt = ({ source, end }: Cursor, at: number): number =>
  at < end ? source.charCodeAt(at) : NaN

export const skipBlanks = (cursor: Cursor): void => {
  while (isBlank(codeAt(cursor, cursor.at))) cursor.at++
}

/** The code of the next character that is no blank; the cursor stands on it. */
export const peek = (cursor: Cursor): number => {
  skipBlanks(cursor)
  return codeAt(cursor, cursor.at)
}

/** Records the error and returns null. */
export const failAt = (cursor: Cursor, offset: number, message: string): null => {
  cursor.problem ??= { offset, message }
  return null
}

/** Where a `|>` that begins here ends, blanks within it ignored; -1: there is none. */
export const endOfPipe = (cursor: Cursor, at: number): number => {
  if (codeAt(cursor, at) !== CHARACTER.bar) return -1
  let next = at + 1
  while (isBlank(codeAt(cursor, next))) next++
  return codeAt(cursor, next) === CHARACTER.greater ? next + 1 : -1
}

/** `{{` or `}}`. */
export const isDouble = (cursor: Cursor, at: number, code: number): boolean =>
  codeAt(cursor, at) === code && codeAt(cursor, at + 1) === code

/** Reads on to a character of `stops`, `|>`, `{{` or `}}`, and gives what was passed without its outer blanks. */
export const readRun = (cursor: Cursor, stops: (code: number) => boolean): string => {
  const { source } = cursor
  let text = ''
  const start = cursor.at
  let from = start
  /** Where blanks began that may turn out to be within the run. */
  let gap = -1
  let hasGap = false
  for (; cursor.at < cursor.end; cursor.at++) {
    const code = source.charCodeAt(cursor.at)
    if (isBlank(code)) {
      text += source.slice(from, cursor.at)
      from = cursor.at + 1
      if (gap === -1 && text !== '') gap = cursor.at
    } else if (stops(code) || isTagMark(cursor, code)) break
    else hasGap ||= gap !== -1
  }
  const run = text + source.slice(from, cursor.at)
  if (hasGap) remarkOnce(cursor, remarkOnGap(cursor, start, run))
  return run
}

/** The first remark stands. */
export const remarkOnce = (cursor: Cursor, remark: Remark | undefined): void => {
  cursor.remark ??= remark
}

/** @param start where the run begins, blanks before it included */
const remarkOnGap = (cursor: Cursor, start: number, run: string): Remark => {
  const passed = cursor.source.slice(start, cursor.at)
  const written = shorten(passed.trim())
  return (
    remarkOnOperator(cursor, start, run) ?? {
      offset: start + passed.length - passed.trimStart().length,
      message: `blanks are left out: '${written}' is read as '${shorten(run)}', so read a key that holds blanks with get('…'), and write a text in quotes`,
    }
  )
}

/** Explains an operator of other languages, such as arithmetic, or a pipe in another spelling. */
export const remarkOnOperator = (
  { source }: Cursor,
  start: number,
  run: string,
): Remark | undefined => {
  const found = OPERATORS.find(([mark]) => run.includes(mark))
  if (found === undefined) return undefined
  const [operator, reason] = found
  const message = `'${shorten(run)}' is read as one key: ${reason}`
  return { offset: source.indexOf(operator, start), message }
}

const OPERATORS = [
  ['|', 'a function is applied with |>, as in {{a.b |> string}}'],
  [
    '?',
    'there is no condition; look a value up in a map, as in {{variables.texts |> get({{a.b}}, DEFAULT)}}',
  ],
  ['+', 'there is no arithmetic, and texts are joined as in {{a.b}}{{a.c}}'],
] as const

const MAX_SHOWN = 40

const shorten = (text: string): string =>
  text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN).toWellFormed()}…`

const isTagMark = (cursor: Cursor, code: number): boolean => {
  if (code === CHARACTER.bar) return endOfPipe(cursor, cursor.at) !== -1
  return (
    (code === CHARACTER.openBrace || code === CHARACTER.closeBrace) &&
    codeAt(cursor, cursor.at + 1) === code
  )
}
