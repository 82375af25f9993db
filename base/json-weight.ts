// Counts what JSON text stands for before it is parsed, in chunks as they arrive: a byte or two of text are up to a
// hundred of memory. Does not check whether it is JSON: other text is counted too, in some way.

import { endOfString, firstOutside, nextChunk, type NextChunk, QUOTE } from './json-strings.ts'

/** What has been counted of a text so far. Marks within its strings do not count. */
export interface JsonMarks {
  /** Lists and maps. */
  readonly containers: number
  readonly commas: number
  readonly colons: number
  /** Depth of the containers that are open now; below 0 where more were closed than opened. */
  readonly depth: number
  readonly deepest: number
  readonly next: NextChunk
}

export const NO_MARKS: JsonMarks = {
  containers: 0,
  commas: 0,
  colons: 0,
  depth: 0,
  deepest: 0,
  next: 'outside',
}

const COMMA = 0x2c
const COLON = 0x3a

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
  let at = firstOutside(chunk, before.next)
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
  return { containers, commas, colons, depth, deepest, next: nextChunk(at - length) }
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
