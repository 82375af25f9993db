// Compares two JSON values. Such as are nested too deep to be compared count as different.

import { isDeepStrictEqual } from 'node:util'

/** What is nested deeper than the stack allows counts as different: validating it will reject it for its depth. */
export const isSameValue = (left: unknown, right: unknown): boolean => {
  try {
    return isDeepStrictEqual(left, right)
  } catch (error) {
    if (isStackOverflow(error)) return false
    throw error
  }
}

const isStackOverflow = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'name' in error && error.name === 'RangeError'
