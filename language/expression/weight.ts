// Computes how large a template or value is once written out, where shared parts count each time. References to
// references grow like powers; this detects it without writing them out.

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

/** A shared part is not walked again, unless that is quicker than to look it up: three times, up to here. */
const known = new WeakMap<object, Size>()
const REMEMBERED_FROM = 64

const LEAF: Size = { weight: 1, depth: 0 }

export const sizeOf = (template: PipeArgument): Size => {
  if (template.kind === 'constant') return sizeOfValue(template.value)
  if (template.kind === 'read' || template.kind === 'piped') return LEAF
  return known.get(template) ?? remember(template, sizeWith(childrenOf(template), sizeOf))
}

const sizeOfValue = (value: Value): Size => {
  if (typeof value === 'string') {
    return value.length < 64 ? LEAF : { weight: 1 + (value.length >> 6), depth: 0 }
  }
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return LEAF
  return (
    known.get(value) ??
    remember(value, sizeWith(isList(value) ? value : Object.values(value), sizeOfValue))
  )
}

const remember = (key: object, size: Size): Size => {
  if (size.weight >= REMEMBERED_FROM) known.set(key, size)
  return size
}

const sizeWith = <T>(children: readonly T[], sizeOfChild: (child: T) => Size): Size => {
  let weight = 1
  let depth = 0
  for (const child of children) {
    const size = sizeOfChild(child)
    weight += size.weight
    depth = Math.max(depth, size.depth)
  }
  return { weight, depth: depth + 1 }
}
