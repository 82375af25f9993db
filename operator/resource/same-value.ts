// Two JSON values in, whether they say the same out: also of what an API server takes and no comparison can walk.

import { isDeepStrictEqual } from 'node:util'

/** What is nested deeper than the stack allows counts as another: it will be validated, and refused for its depth. */
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
