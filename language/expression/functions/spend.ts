// Charges what templates and functions produce, and the work that they are, in the one place that knows what things cost.
// A value that is only passed on (a reference) costs nothing and never comes here.

import type { Host } from './apply.ts'
import { ExpressionError, FunctionError } from '../errors.ts'

/** Below this, the size of a text is its length in UTF-16 units: cheaper, and off by a few bytes at most. */
const EXACT_FROM = 1024
const ELEMENT_BYTES = 16

export const bytesOfText = (text: string): number =>
  text.length < EXACT_FROM ? text.length : Buffer.byteLength(text)

/** A new container costs its places; its elements are shared. */
export const bytesOfPlaces = (count: number): number => count * ELEMENT_BYTES

/**
 * @throws FunctionError when the budget is used up
 */
export const spend = (host: Host, bytes: number): void => {
  host.budget -= bytes
  if (host.budget < 0) throw new FunctionError(`produces too much: ${LIMITS}`)
}

/** For one request: some 50 ms. A unit is 1.5 ns, what it takes to write one character of a text as JSON. */
export const WORK = 2 ** 25
/** For one document. It may be a small one, which is compiled in the main thread, with large values from Secrets. */
export const WORK_AT_LOAD = 2 ** 24

/**
 * Units of work, as V8 takes them, measured at sizes of 10 to 400,000. Of a map with many keys each key costs much more:
 * it is a hash table then, and listing its keys sorts them.
 */
export const UNITS = {
  /** Calling a function at all. */
  call: 64,
  /** A value that is walked to be written. */
  value: 8,
  /** A list or map, as maps may have a shape of their own. */
  container: 64,
  /** A name and value of a form. */
  pair: 160,
  /** An element of a list that is compared or copied. */
  element: 8,
  /** A character that is percent-encoded. */
  encodedCharacter: 4,
  /** A character of a number, or of base64 text, that is read. */
  parsedCharacter: 4,
  /** A value of JSON text. */
  parsedValue: 24,
  /** A list or map of JSON text, besides. */
  parsedContainer: 128,
  /** A key of JSON text that is written with an escape, besides. */
  escapedKey: 512,
} as const

const FEW_KEYS = 128
const MANY_KEYS = 1024

export const hasManyKeys = (count: number): boolean => count > MANY_KEYS
/** Up to so many, V8 copies a map as a whole. */
export const hasFewKeys = (count: number): boolean => count <= FEW_KEYS

/** To list the keys of a map. */
export const unitsOfKeys = (count: number): number => count * (hasManyKeys(count) ? 160 : 8)
/** To make a map of so many keys. */
export const unitsOfCopy = (count: number): number => count * (hasFewKeys(count) ? 32 : 200)
/** To write a map whose keys were listed, besides its characters and values. */
export const unitsOfWrittenKeys = (count: number): number => (hasManyKeys(count) ? count * 240 : 0)

/**
 * @throws ExpressionError when there was too much work for one request or document
 */
export const spendWork = (host: Host, units: number): void => {
  host.work = (host.work ?? WORK) - units
  if (host.work < 0) throw new ExpressionError(TOO_MUCH_WORK)
}

/** Either of the two is used up. */
export const isSpent = ({ budget, work = 0 }: Host): boolean => budget < 0 || work < 0

/**
 * Charges a call. Where one expression that spends too much is left out, such as that of a header, the next one ends with
 * this.
 * @throws FunctionError, ExpressionError when there is nothing left
 */
export const spendCall = (host: Host): void => {
  spend(host, 0)
  spendWork(host, UNITS.call)
}

const TOO_MUCH_WORK =
  'this is too much work: expressions of one request may take as much as writing 32 MiB of text (those of a document at load 16 MiB), where each key of a large map that is listed, written or copied counts as 160 to 240 characters'

export const LIMITS = 'templates and functions may produce 1 MiB at load, 8 MiB per request'
