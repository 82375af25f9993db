// Tells whether a text was seen before, in bounded memory: what is shared from its second use on costs nothing where
// there is only one.

import { hashText } from './hash-text.ts'

/** 64 KB. */
const PLACES = 16_384
/** So many places are looked at: a text that finds them taken replaces another. */
const PROBES = 8

/**
 * It may forget: what it has not seen for long counts as new. In one of 2^27 cases it takes one text for another.
 * @example
 * const wasSeen = createSeenBefore()
 * wasSeen('a') // false
 * wasSeen('a') // true
 */
export const createSeenBefore = (): ((text: string) => boolean) => {
  const hashes = new Int32Array(PLACES)
  let replaced = 0
  return (text) => {
    // 0 is a place that is free.
    const hash = hashText(text, 0, text.length) || 1
    for (let probe = 0; probe < PROBES; probe++) {
      const place = (hash + probe) & (PLACES - 1)
      if (hashes[place] === hash) return true
      if (hashes[place] !== 0) continue
      hashes[place] = hash
      return false
    }
    // In turn: of a fixed choice, texts that come in turns would replace each other for ever.
    replaced = (replaced + 1) % PROBES
    hashes[(hash + replaced) & (PLACES - 1)] = hash
    return false
  }
}
