// Charges the output of templates and functions to their budget, in the one place that knows what things cost. A value
// that is only passed on (a reference) costs nothing and never comes here.

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

export const LIMITS = 'templates and functions may produce 1 MiB at load, 8 MiB per request'
