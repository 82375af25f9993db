// Counts what JSON text stands for before it is parsed, in chunks as they arrive: a byte or two of text are up to a
// hundred of memory. Does not check whether it is JSON: other text is counted too, in some way.

/** What has been counted of a text so far. Marks within its strings do not count. */
export interface JsonMarks {
  /** Lists and maps. */
  readonly containers: number
  readonly commas: number
  readonly colons: number
  /** Depth of the containers that are open now; below 0 where more were closed than opened. */
  readonly depth: number
  readonly deepest: number
  /** Where the next chunk begins; `escaped`: in a string, with a character that a backslash escapes. */
  readonly next: 'outside' | 'string' | 'escaped'
}

export const NO_MARKS: JsonMarks = {
  containers: 0,
  commas: 0,
  colons: 0,
  depth: 0,
  deepest: 0,
  next: 'outside',
}

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c

/** `[` and `{`, `]` and `}`: the two of a pair differ in one bit. */
const BRACE_BIT = 0x20
const OPENS = 0x5b | BRACE_BIT
const CLOSES = 0x5d | BRACE_BIT

/**
 * One or two nanoseconds per byte, whatever the text is, and far less in long strings.
 * @example countMarks(countMarks(NO_MARKS, Buffer.from('[[1,')), Buffer.from('2]]')).deepest // 2
 */
export const countMarks = (before: JsonMarks, chunk: Uint8Array): JsonMarks => {
  let { containers, commas, colons, depth, deepest } = before
  const { length } = chunk
  let at = before.next === 'outside' ? 0 : endOfString(chunk, before.next === 'escaped' ? 1 : 0)
  for (; at < length; at++) {
    const byte = chunk[at] ?? 0
    if (byte === QUOTE) at = endOfString(chunk, at + 1) - 1
    else if (byte === COMMA) commas += 1
    else if (byte === COLON) colons += 1
    else if ((byte | BRACE_BIT) === OPENS) {
      containers += 1
      depth += 1
      if (depth > deepest) deepest = depth
    } else if ((byte | BRACE_BIT) === CLOSES) depth -= 1
  }
  return { containers, commas, colons, depth, deepest, next: nextOf(at - length) }
}

/** By the number of bytes by which `endOfString` is behind the chunk. */
const nextOf = (behind: number): JsonMarks['next'] =>
  behind === 0 ? 'outside' : behind === 1 ? 'string' : 'escaped'

/**
 * Up to this length a loop is faster than a search for the quote; measured: a search takes 30 ns, a byte of the loop
 * one.
 */
const LOOP_BYTES = 16

/** Behind the closing quote; where there is none, one byte behind the chunk, or two if the byte behind it is escaped. */
const endOfString = (chunk: Uint8Array, start: number): number => {
  const { length } = chunk
  let at = start
  // Doubles after each search that found only an escaped quote: where there are many, searching does not pay.
  for (let loopBytes = LOOP_BYTES; at < length; loopBytes *= 2) {
    const end = Math.min(at + loopBytes, length)
    for (; at < end; at++) {
      const byte = chunk[at]
      if (byte === QUOTE) return at + 1
      if (byte === BACKSLASH) at++
    }
    if (at >= length) break
    const quote = chunk.indexOf(QUOTE, at)
    at = behindEscapes(chunk, at, quote === -1 ? length : quote)
  }
  return at + 1
}

/** `to`, or one more where the byte there is escaped: by an odd number of backslashes. */
const behindEscapes = (chunk: Uint8Array, from: number, to: number): number => {
  let first = to
  while (first > from && chunk[first - 1] === BACKSLASH) first -= 1
  return to + ((to - first) % 2)
}

/** Bytes that are counted in one step, so that excess is found before the end is read. */
const STEP_BYTES = 64 * 1024

/** Gives what has been counted after each 64 KiB, and at the end. */
export function* countInSteps(json: Uint8Array): Generator<JsonMarks, void> {
  let marks = NO_MARKS
  for (let at = 0; at < json.length; at += STEP_BYTES) {
    marks = countMarks(marks, json.subarray(at, at + STEP_BYTES))
    yield marks
  }
}

export interface JsonBounds {
  readonly maxDepth: number
  readonly maxValues: number
}

/**
 * JSON that parses has no more values than this counts: each container, and each comma, brings one more.
 * @example findExcess(Buffer.from('[[1]]'), { maxDepth: 1, maxValues: 9 }) // 'depth'
 */
export const findExcess = (
  json: Uint8Array,
  { maxDepth, maxValues }: JsonBounds,
): keyof typeof EXCESS | undefined => {
  for (const { containers, commas, deepest } of countInSteps(json)) {
    if (deepest > maxDepth) return 'depth'
    if (1 + containers + commas > maxValues) return 'values'
  }
  return undefined
}

/** The end of a message, by what there is too much of. */
export const EXCESS = {
  depth: 'is nested too deeply',
  values: 'holds too many values',
} as const
