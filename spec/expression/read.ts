// A read of the context in, a closure that finds the value out. The hot path: specialised by the number
// of keys, own keys only, an explanation built on failure alone.

import { ExpressionError, showSource } from './errors.ts'
import { explainMissing, lookup, ownValue } from './lookup.ts'
import { sourceOf } from './source.ts'
import type { ReadTemplate, Root } from './template.ts'
import type { Value, ValueMap } from './value.ts'

/** The roots a template may read; without status codes there are none. */
export interface Roots {
  readonly request: ValueMap
  readonly action: ValueMap
  readonly security: ValueMap
  readonly status_codes?: ValueMap
}

/** @throws ExpressionError naming the key that is missing */
export const reader = (template: ReadTemplate): ((context: Roots) => Value) => {
  const { root, keys } = template
  const [first, second, third] = keys
  if (first === undefined) return topOf(root)
  if (second === undefined) return oneKey(template, first)
  if (third === undefined) return twoKeys(template, first, second)
  return keys.length === 3 ? threeKeys(template, first, second, third) : manyKeys(template)
}

const oneKey = (template: ReadTemplate, first: string): ((context: Roots) => Value) => {
  const top = topOf(template.root)
  return (context) => {
    const map = top(context)
    return (Object.hasOwn(map, first) ? map[first] : undefined) ?? nullOrMissing(template, context)
  }
}

const twoKeys = (
  template: ReadTemplate,
  first: string,
  second: string,
): ((context: Roots) => Value) => {
  const top = topOf(template.root)
  return (context) => {
    const map = top(context)
    const inner = Object.hasOwn(map, first) ? map[first] : undefined
    return ownValue(inner, second) ?? nullOrMissing(template, context)
  }
}

const threeKeys = (
  template: ReadTemplate,
  ...[first, second, third]: [string, string, string]
): ((context: Roots) => Value) => {
  const top = topOf(template.root)
  return (context) => {
    const map = top(context)
    const inner = ownValue(Object.hasOwn(map, first) ? map[first] : undefined, second)
    return ownValue(inner, third) ?? nullOrMissing(template, context)
  }
}

const manyKeys = (template: ReadTemplate): ((context: Roots) => Value) => {
  const top = topOf(template.root)
  return (context) => {
    let value: Value | undefined = top(context)
    for (const key of template.keys) value = ownValue(value, key)
    return value ?? nullOrMissing(template, context)
  }
}

const TOPS = {
  request: (context) => context.request,
  action: (context) => context.action,
  security: (context) => context.security,
  status_codes: (context) => context.status_codes ?? {},
} as const satisfies Record<Root, (context: Roots) => ValueMap>

/** By name, so that each access has one shape and one key. */
const topOf = (root: Root): ((context: Roots) => ValueMap) => TOPS[root]

/** The slow end of every read: a null that is there is a value, anything else is a fault. */
const nullOrMissing = (template: ReadTemplate, context: Roots): Value => {
  const { root, keys } = template
  const top = topOf(root)(context)
  const value = lookup(top, keys)
  if (value !== undefined) return value
  const reason = explainMissing(top, keys, root)
  throw new ExpressionError(`${showSource(sourceOf(template))}: ${reason}`)
}
