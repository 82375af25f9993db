// A template or value in, how large it is once written out, what is shared counted each time. References
// to references grow like powers; this is how that is seen without ever writing it out.

import { childrenOf } from './children.ts'
import type { PipeArgument, Template } from './template.ts'
import { isList, type Value } from './value.ts'

export interface Size {
  /** Values in it; a text counts one more for each 64 characters. */
  readonly weight: number
  /** Levels of maps and lists. */
  readonly depth: number
}

/** Values that a template expands to. */
export const weightOf = (template: Template): number => sizeOf(template).weight

/** Measured once per template or container: what is shared is never walked again. */
const known = new WeakMap<object, Size>()

const LEAF: Size = { weight: 1, depth: 0 }

export const sizeOf = (template: PipeArgument): Size => {
  if (template.kind === 'constant') return sizeOfValue(template.value)
  if (template.kind === 'read' || template.kind === 'piped') return LEAF
  return remember(template, () => around(childrenOf(template).map(sizeOf)))
}

const sizeOfValue = (value: Value): Size => {
  if (typeof value === 'string') return { weight: 1 + (value.length >> 6), depth: 0 }
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return LEAF
  return remember(value, () =>
    around((isList(value) ? value : Object.values(value)).map(sizeOfValue)),
  )
}

const remember = (key: object, measure: () => Size): Size => {
  const before = known.get(key)
  if (before !== undefined) return before
  const size = measure()
  known.set(key, size)
  return size
}

const around = (sizes: readonly Size[]): Size => {
  let weight = 1
  let depth = 0
  for (const size of sizes) {
    weight += size.weight
    depth = Math.max(depth, size.depth)
  }
  return { weight, depth: depth + 1 }
}
