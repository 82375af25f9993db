// Shares what is made of equal templates, however many operations have them: thousands write the same texts of the
// same reads, and what is shared stays in the processor's cache. Bounded: templates come from documents.

import type { Template } from './template.ts'

const LIMIT = 4096
const LONGEST = 512

/** @param make must depend on the template alone */
export const memoTemplates = <T>(make: (template: Template) => T): ((template: Template) => T) => {
  const known = new Map<string, T>()
  return (template) => {
    if (!isOfTexts(template)) return make(template)
    const key = JSON.stringify(template)
    const before = known.get(key)
    if (before !== undefined) return before
    const made = make(template)
    if (known.size < LIMIT && key.length <= LONGEST) known.set(key, made)
    return made
  }
}

/** Its JSON is that of no other template: that of bytes, or of minus zero, may be. */
const isOfTexts = (template: Template): boolean => {
  if (template.kind === 'text')
    return template.parts.every((part) => typeof part === 'string' || part.kind === 'read')
  return (
    template.kind === 'pipe' &&
    template.input.kind === 'read' &&
    template.calls.every(({ args }) =>
      args.every((arg) => arg.kind === 'constant' && typeof arg.value === 'string'),
    )
  )
}
