// Shares one closure among equal reads, however many operations have them: `request.method` is read by thousands, and
// shared closures stay in the processor's cache. Bounded: keys come from documents.

import type { ReadTemplate } from './template.ts'

const LIMIT = 4096

/** @param make must depend on root and keys alone */
export const memoReads = <T>(
  make: (template: ReadTemplate) => T,
): ((template: ReadTemplate) => T) => {
  const known = new Map<string, T>()
  return (template) => {
    const key = `${template.root}\n${template.keys.join('\n')}`
    const before = known.get(key)
    if (before !== undefined) return before
    const made = make(template)
    // Keys that hold a line break could collide with others: they are rare and not worth a better key.
    if (known.size < LIMIT && !template.keys.some((part) => part.includes('\n')))
      known.set(key, made)
    return made
  }
}
