// Shares equal texts: the names of members that thousands of operations have in common stand in memory once, and so in
// the processor's cache. Bounded: texts come from documents.

const TEXTS = 4096
const LONGEST = 64

/** @returns the same text, the one that was given first as far as it is known */
export const createTextShare = (): ((text: string) => string) => {
  const known = new Map<string, string>()
  return (text) => {
    if (text.length > LONGEST) return text
    const before = known.get(text)
    if (before !== undefined) return before
    if (known.size < TEXTS) known.set(text, text)
    return text
  }
}
