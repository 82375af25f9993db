// Implements the functions on texts: lower, trim, replace, split, join, strip_prefix. No locale and no patterns;
// what a result takes is charged before it is built.

import type { Apply, Host, VerifyArguments } from './apply.ts'
import { FunctionError, kindOf } from '../errors.ts'
import { toText } from '../render.ts'
import { bytesOfPlaces, bytesOfText, spend, spendWork, UNITS } from './spend.ts'
import { isList, type Value } from '../value.ts'

/** V8 prepares 250 characters of a pattern: with a longer one a search may take as long as text times pattern. */
const MAX_PATTERN = 250
const MAX_PIECES = 100_000
/** Measured on Node 26: 90 ns at most to cut at a place and join again. */
const PLACE_UNITS = 64

/** A character becomes two at most, so that the work bounds what is built before its bytes are known. */
export const lowered: Apply = (input, _args, host) => {
  const text = textFrom(input)
  spendWork(host, text.length * UNITS.value)
  const result = text.toLowerCase()
  spend(host, bytesOfText(result))
  return result
}

/** Without what Unicode calls White_Space: U+0085 too, and not U+FEFF, other than in JavaScript's `trim`. */
export const trimmed: Apply = (input, _args, host) => {
  const text = textFrom(input)
  let [start, end] = [0, text.length]
  while (start < end && isBlank(text, start)) start++
  while (end > start && isBlank(text, end - 1)) end--
  spendWork(host, (text.length - (end - start)) * UNITS.value)
  return partOf(text, start, end, host)
}

export const prefixStripped: Apply = (input, [prefix], host) => {
  const text = textFrom(input)
  const start = argumentFrom(prefix)
  spendWork(host, start.length)
  return text.startsWith(start) ? partOf(text, start.length, text.length, host) : text
}

export const replaced: Apply = (input, args, host) => {
  const text = textFrom(input)
  const [from, to] = [patternFrom(args[0]), argumentFrom(args[1])]
  const count = countOf(text, from, host)
  if (count === 0) return text
  spend(host, bytesOfText(text) + count * (Buffer.byteLength(to) - Buffer.byteLength(from)))
  // Five times as fast as `replaceAll` with many places, and `$` has no meaning.
  return text.split(from).join(to)
}

export const pieces: Apply = (input, [separator], host) => {
  const text = textFrom(input)
  const pattern = patternFrom(separator)
  const count = 1 + countOf(text, pattern, host)
  if (count > MAX_PIECES)
    throw new FunctionError(`takes text of at most ${MAX_PIECES} pieces, this has ${count}`)
  spend(host, bytesOfPlaces(count) + bytesOfText(text))
  return text.split(pattern)
}

export const joined: Apply = (input, args, host) => {
  if (!isList(input)) throw new FunctionError('takes a list', input)
  const separator = argumentFrom(args[0])
  spendWork(host, input.length * (UNITS.element + UNITS.value + separator.length))
  spend(host, Math.max(0, input.length - 1) * Buffer.byteLength(separator))
  const texts = input.map((element) => {
    const text = elementText(element)
    spendWork(host, text.length)
    spend(host, bytesOfText(text))
    return text
  })
  return texts.join(separator)
}

export const verifyPattern: VerifyArguments = ([pattern, replacement]) => {
  if (pattern !== undefined) patternFrom(pattern)
  if (replacement !== undefined) argumentFrom(replacement)
}

const countOf = (text: string, pattern: string, host: Host): number => {
  spendWork(host, text.length * UNITS.element)
  let count = 0
  for (let at = text.indexOf(pattern); at >= 0; at = text.indexOf(pattern, at + pattern.length))
    count++
  spendWork(host, count * PLACE_UNITS)
  return count
}

const partOf = (text: string, start: number, end: number, host: Host): string => {
  if (end - start === text.length) return text
  const part = text.slice(start, end)
  spend(host, bytesOfText(part))
  return part
}

const isBlank = (text: string, at: number): boolean => BLANKS.has(text.charAt(at))

/** Unicode's White_Space: none is beyond the Basic Multilingual Plane. */
const BLANKS: ReadonlySet<string> = new Set(
  '\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000',
)

const textFrom = (input: Value): string => {
  if (typeof input === 'string') return input
  throw new FunctionError('takes text', input)
}

const argumentFrom = (argument: Value | undefined): string => {
  if (typeof argument === 'string') return argument
  throw new FunctionError(`takes text as argument, not ${kindOf(argument ?? null)}`)
}

const patternFrom = (argument: Value | undefined): string => {
  const pattern = argumentFrom(argument)
  if (pattern === '') throw new FunctionError('finds no empty text: say what to look for')
  if (pattern.length <= MAX_PATTERN) return pattern
  throw new FunctionError(`looks for at most ${MAX_PATTERN} characters, not ${pattern.length}`)
}

const elementText = (element: Value): string => {
  if (typeof element === 'string') return element
  if (typeof element === 'number' || typeof element === 'boolean') return toText(element)
  throw new FunctionError('takes texts, numbers and booleans in its list', element)
}
