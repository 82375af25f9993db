// Tells whether a text was seen before, in bounded memory: what is shared from its second use on costs nothing where
// there is only one.

import { hashText } from './hash-text.ts'

/** 64 KB. A text forgets the one before it that has the same place. */
const PLACES = 16_384

/**
 * It may forget: what it has not seen for long counts as new. In one of 2^30 cases it takes one text for another.
 * @example
 * const wasSeen = createSeenBefore()
 * wasSeen('a') // false
 * wasSeen('a') // true
 */
export const createSeenBefore = (): ((text: string) => boolean) => {
  const hashes = new Int32Array(PLACES)
  return (text) => {
    const hash = hashText(text, 0, text.length)
    const place = hash & (PLACES - 1)
    const isKnown = hashes[place] === hash
    hashes[place] = hash
    return isKnown
  }
}
