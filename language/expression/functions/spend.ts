// Charges what templates and functions produce, and what functions read to the end, in the one place that knows what
// things cost. A value that is only passed on (a reference) costs nothing and never comes here.

import type { Host } from './apply.ts'
import { FunctionError } from '../errors.ts'

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

/**
 * For one request: 0.2 to 2 s. A document may call functions 100,000 times for one request, and each may walk a value of
 * 25 MB: that would take hours, whatever little they produce.
 */
const READABLE = 2 ** 26
/** For one document. It may be a small one, which is compiled in the main thread, with large values from Secrets. */
export const READABLE_AT_LOAD = 2 ** 24

/** V8 lists the keys of a large map at some 300 ns each, those of a small one at 10. */
const LARGE_MAP_KEYS = 1024

export const unitsOfKeys = (count: number): number => count * (count > LARGE_MAP_KEYS ? 32 : 2)

export const unitsOfElements = (count: number): number => count * 4

/**
 * Charges what a function reads to the end: a unit is a character.
 * @throws FunctionError when too much was read
 */
export const spendReading = (host: Host, units: number): void => {
  host.readable = (host.readable ?? READABLE) - units
  if (host.readable < 0) throw new FunctionError(`reads too much: ${READING_LIMIT}`)
}

/** Either of the two is used up. */
export const isSpent = ({ budget, readable = 0 }: Host): boolean => budget < 0 || readable < 0

/**
 * Where one expression that spends too much is left out, such as that of a header, the next one begins with this.
 * @throws FunctionError when there is nothing left
 */
export const refuseSpent = (host: Host): void => {
  spend(host, 0)
  spendReading(host, 0)
}

const READING_LIMIT =
  'functions may read 16 MiB of text at load and 64 MiB per request (an element of a list counts as 4 bytes, a key of a large map as 32)'

export const LIMITS = 'templates and functions may produce 1 MiB at load, 8 MiB per request'
