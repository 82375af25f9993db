// Resolves the references within a JSON Schema: pointers of its own, and nothing else.

import { ownValue } from '../expression/lookup.ts'
import { isList, isMap, type Value } from '../expression/value.ts'

/**
 * What `#/…` stands for; undefined: it is none, or there is nothing.
 * @example resolveReference({ $defs: { a: true } }, '#/$defs/a') // true
 */
export const resolveReference = (root: Value, reference: string): Value | undefined => {
  if (reference === '#' || reference === '#/') return reference === '#' ? root : undefined
  if (!reference.startsWith('#/')) return undefined
  let value: Value | undefined = root
  for (const escaped of reference.slice(2).split('/')) {
    const name = unescape(escaped)
    if (name === undefined || value === undefined) return undefined
    if (isList(value)) value = /^\d{1,6}$/.test(name) ? value[Number(name)] : undefined
    else value = isMap(value) ? ownValue(value, name) : undefined
  }
  return value
}

const unescape = (escaped: string): string | undefined => {
  try {
    return decodeURIComponent(escaped).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return undefined
  }
}
