// Looks a path of keys up in a value. Own keys only: no prototype member, no list index. Names of
// headers are found in any case.

import { isHeaderMap } from './header-map.ts'
import { kindOf, showKey } from './errors.ts'
import { isList, isMap, type Value, type ValueMap } from './value.ts'

/**
 * Undefined: there is no such key, or the path goes on past a value that is not a map.
 * @example lookup({ a: { b: 1 } }, ['a', 'b']) // 1
 */
export const lookup = (value: Value, keys: readonly string[]): Value | undefined => {
  let current: Value | undefined = value
  for (const key of keys) {
    current = ownValue(current, key)
    if (current === undefined) return undefined
  }
  return current
}

/**
 * One step of `lookup`; a value that is not a map has no keys. `members.ts` reads by type instead, and treats null as
 * absent.
 */
export const ownValue = (value: unknown, key: string): Value | undefined => {
  if (!isMap(value)) return undefined
  if (Object.hasOwn(value, key)) return value[key]
  return isHeaderMap(value) ? headerIn(value, key) : undefined
}

/** Apart from the fast path: names are mostly written in lower case. */
const headerIn = (headers: ValueMap, name: string): Value | undefined => {
  const key = name.toLowerCase()
  return Object.hasOwn(headers, key) ? headers[key] : undefined
}

/**
 * Why `lookup` found nothing; `name` is what the document calls the value.
 * @example explainMissing({}, ['body', 'x'], 'request') // "there is no key 'body' in request"
 */
export const explainMissing = (value: Value, keys: readonly string[], name: string): string => {
  let current: Value = value
  let place = name
  for (const key of keys) {
    const next = ownValue(current, key)
    if (next === undefined) return explainStep(current, key, place)
    current = next
    place = `${place}.${key}`
  }
  return `there is nothing at ${place}`
}

/** Why `ownValue` found nothing. */
export const explainStep = (value: Value, key: string, place: string): string =>
  isMap(value)
    ? `there is no key ${showKey(key)} in ${place}`
    : `${place} is ${kindOf(value)}, not a map, so it has no key ${showKey(key)}${hintFor(value)}`

const hintFor = (value: Value): string =>
  isList(value) ? ' (lists are read with head, last and nth)' : ''
