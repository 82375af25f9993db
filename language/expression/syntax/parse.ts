// Parses a string of a document into its syntax, or finds the first error with its offset. Knows no roots and no
// functions. Never throws, and takes time in proportion to the length.

import type { ArgumentAst, Ast, BracketsAst, CallAst, TagAst } from './ast.ts'
import {
  CHARACTER,
  codeAt,
  type Cursor,
  endOfPipe,
  failAt,
  isBlank,
  isDouble,
  peek,
  readRun,
  type Remark,
  remarkOnce,
  remarkOnOperator,
  skipBlanks,
} from './cursor.ts'

export type Parsed =
  | {
      readonly ok: true
      readonly ast: Ast
      /** What of it is read otherwise than it looks. */
      readonly remark?: Remark | undefined
    }
  | { readonly ok: false; readonly offset: number; readonly message: string }

/** A string without `{{` is a literal. */
export const isExpression = (source: string): boolean => source.includes('{{')

/**
 * @example parse('{{request.body.a |> head}}')
 * @example parse('n {{request.') // { ok: false, offset: 2, message: "there is no '}}' for the '{{'" }
 */
export const parse = (source: string): Parsed => {
  if (!isExpression(source)) return { ok: true, ast: { kind: 'literal', text: source } }
  const isQuoted = source.startsWith('"') && source.endsWith('"')
  const cursor: Cursor = {
    source,
    end: isQuoted ? source.length - 1 : source.length,
    at: isQuoted ? 1 : 0,
    problem: undefined,
    remark: undefined,
  }
  const parts = readParts(cursor)
  if (cursor.problem !== undefined) return { ok: false, ...cursor.problem }
  const single = isQuoted ? undefined : singleTag(parts)
  const ast = single ?? ({ kind: 'text', parts } as const)
  return cursor.remark === undefined ? { ok: true, ast } : { ok: true, ast, remark: cursor.remark }
}

/** Deeper nesting of tags is rejected, because reading them recurses. */
const MAX_NESTING = 64

const readParts = (cursor: Cursor): (string | TagAst)[] => {
  const parts: (string | TagAst)[] = []
  while (cursor.at < cursor.end) {
    const opening = cursor.source.indexOf('{{', cursor.at)
    const until = opening === -1 ? cursor.end : opening
    if (until > cursor.at) parts.push(cursor.source.slice(cursor.at, until))
    cursor.at = until
    if (opening === -1) break
    const tag = readTag(cursor, 1)
    if (tag === null) break
    parts.push(tag)
  }
  return parts
}

/** The tag, when there is nothing but blanks around it. */
const singleTag = (parts: readonly (string | TagAst)[]): TagAst | undefined => {
  let single: TagAst | undefined
  for (const part of parts) {
    if (typeof part !== 'string') {
      if (single !== undefined) return undefined
      single = part
    } else if (!isAllBlank(part)) return undefined
  }
  return single
}

const isAllBlank = (text: string): boolean => {
  for (let index = 0; index < text.length; index++) {
    if (!isBlank(text.charCodeAt(index))) return false
  }
  return true
}

const readTag = (cursor: Cursor, nesting: number): TagAst | null => {
  const offset = cursor.at
  if (nesting > MAX_NESTING) {
    return failAt(cursor, offset, `tags nest more than ${MAX_NESTING} levels deep`)
  }
  cursor.at += 2
  if (isDouble(cursor, skipTo(cursor), CHARACTER.closeBrace)) {
    return failAt(cursor, offset, 'the tag is empty')
  }
  const path = readPath(cursor, offset)
  const calls = path && readCalls(cursor, nesting)
  if (path === null || calls === null) return null
  if (!isDouble(cursor, cursor.at, CHARACTER.closeBrace)) {
    return failAt(cursor, offset, "there is no '}}' for the '{{'")
  }
  cursor.at += 2
  const [root = '', ...keys] = path
  const source = cursor.source.slice(offset, cursor.at)
  return { kind: 'tag', source, offset, root, keys, calls }
}

const skipTo = (cursor: Cursor): number => {
  skipBlanks(cursor)
  return cursor.at
}

const isPoint = (code: number): boolean => code === CHARACTER.point

const readPath = (cursor: Cursor, tag: number): string[] | null => {
  const path: string[] = []
  for (;;) {
    const offset = cursor.at
    const key = readRun(cursor, isPoint)
    if (key === '') {
      return Number.isNaN(codeAt(cursor, cursor.at))
        ? failAt(cursor, tag, "there is no '}}' for the '{{'")
        : failAt(cursor, offset, 'a key is missing in the path')
    }
    remarkOnce(cursor, remarkOnOperator(cursor, offset, key))
    path.push(key)
    if (codeAt(cursor, cursor.at) !== CHARACTER.point) return path
    cursor.at++
  }
}

const isOpen = (code: number): boolean => code === CHARACTER.open

const readCalls = (cursor: Cursor, nesting: number): CallAst[] | null => {
  const calls: CallAst[] = []
  for (;;) {
    skipBlanks(cursor)
    const next = endOfPipe(cursor, cursor.at)
    if (next === -1) return calls
    cursor.at = next
    skipBlanks(cursor)
    const offset = cursor.at
    const name = readRun(cursor, isOpen)
    if (name === '') return failAt(cursor, offset, "a function is missing after '|>'")
    const args = codeAt(cursor, cursor.at) === CHARACTER.open ? readArguments(cursor, nesting) : []
    if (args === null) return null
    calls.push({ name, offset, args })
  }
}

const readArguments = (cursor: Cursor, nesting: number): ArgumentAst[] | null => {
  const opening = cursor.at++
  return readItems(cursor, { opening, closing: CHARACTER.close, mark: ')' }, (isStop) =>
    codeAt(cursor, cursor.at) === CHARACTER.openBracket
      ? readBrackets(cursor, nesting)
      : readArgument(cursor, nesting, isStop),
  )
}

const readBrackets = (cursor: Cursor, nesting: number): BracketsAst | null => {
  const opening = cursor.at++
  const closing = { opening, closing: CHARACTER.closeBracket, mark: ']' }
  const items = readItems(cursor, closing, (isStop) => readArgument(cursor, nesting, isStop))
  return items && { kind: 'brackets', items }
}

interface Enclosure {
  readonly opening: number
  readonly closing: number
  readonly mark: string
}

type IsStop = (code: number) => boolean

/** Reads the items between commas up to the closing mark, which is passed; an empty list has no item. */
const readItems = <Item>(
  cursor: Cursor,
  { opening, closing, mark }: Enclosure,
  readItem: (isStop: IsStop) => Item | null,
): Item[] | null => {
  const items: Item[] = []
  const isStop = closing === CHARACTER.close ? endsArgument : endsItem
  if (peek(cursor) === closing) {
    cursor.at++
    return items
  }
  for (;;) {
    skipBlanks(cursor)
    const item = readItem(isStop)
    if (item === null) return null
    items.push(item)
    const code = peek(cursor)
    if (code !== CHARACTER.comma && code !== closing) return failEnclosure(cursor, opening, mark)
    cursor.at++
    if (code === closing) return items
  }
}

const endsArgument: IsStop = (code) => code === CHARACTER.comma || code === CHARACTER.close

const endsItem: IsStop = (code) => code === CHARACTER.comma || code === CHARACTER.closeBracket

const failEnclosure = (cursor: Cursor, opening: number, mark: string): null =>
  cursor.at >= cursor.end || isDouble(cursor, cursor.at, CHARACTER.closeBrace)
    ? failAt(cursor, opening, `there is no '${mark}' for this one`)
    : failAt(cursor, cursor.at, `expected ',' or '${mark}' after an argument`)

const readArgument = (
  cursor: Cursor,
  nesting: number,
  isStop: IsStop,
): Exclude<ArgumentAst, BracketsAst> | null => {
  const offset = cursor.at
  if (codeAt(cursor, offset) === CHARACTER.quote) return readQuoted(cursor)
  if (isDouble(cursor, offset, CHARACTER.openBrace)) return readTag(cursor, nesting + 1)
  const text = readRun(cursor, isStop)
  return text === ''
    ? failAt(cursor, offset, "an argument is missing ('' is the empty text)")
    : { kind: 'word', text }
}

const readQuoted = (cursor: Cursor): (ArgumentAst & { kind: 'quoted' }) | null => {
  const start = cursor.at + 1
  const closing = cursor.source.indexOf("'", start)
  if (closing === -1 || closing >= cursor.end) {
    return failAt(cursor, cursor.at, "there is no closing ' for this one")
  }
  cursor.at = closing + 1
  return { kind: 'quoted', text: cursor.source.slice(start, closing) }
}
