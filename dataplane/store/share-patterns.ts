// Shares the patterns of equal paths among documents: a thousand tenants with the same API hold them once.

import { createSeenBefore } from '../../base/seen-before.ts'
import type { PathPattern } from '../../language/routes/path-pattern.ts'

export interface PathShape {
  /** As written. */
  readonly template: string
  readonly patterns: readonly PathPattern[]
}

/** Paths come from documents. */
const SHAPES = 16_384
const LONGEST = 256

/**
 * Shares from the second use on: a path that only one document has is not kept here.
 * @returns a function that gives an equal shape, and from then on the same for equal ones
 */
export const createPatternShare = (): ((shape: PathShape) => PathShape) => {
  const known = new Map<string, PathShape>()
  const wasSeen = createSeenBefore()
  return ({ template, patterns }) => {
    const before = known.get(template)
    if (before !== undefined && isSame(before.patterns, patterns)) return before
    const shape = { template, patterns: patterns.map(trim) }
    if (template.length <= LONGEST && known.size < SHAPES && wasSeen(template))
      known.set(template, shape)
    return shape
  }
}

/** Lists that grew element by element have room for 17: copies have what they need. Measured: 4 KB a document. */
const trim = ({ segments, bindings, tail, optional }: PathPattern): PathPattern => ({
  segments: segments.slice(),
  bindings: bindings.slice(),
  tail,
  optional,
})

const isSame = (a: readonly PathPattern[], b: readonly PathPattern[]): boolean =>
  a.length === b.length && a.every((pattern, index) => isSamePattern(pattern, b[index]))

const isSamePattern = (a: PathPattern, b: PathPattern | undefined): boolean =>
  a === b ||
  (a.tail === b?.tail &&
    a.optional === b.optional &&
    isSameList(a.segments, b.segments) &&
    isSameList(a.bindings, b.bindings))

const isSameList = (a: readonly (string | null)[], b: readonly (string | null)[]): boolean =>
  a.length === b.length && a.every((item, index) => item === b[index])
