// Builds the map of an upstream's response headers that a document reads, whether the body is passed through or read.

import { setOwn, type Value, type ValueMap } from '../language/expression/value.ts'

/** `action.result.headers`: repeated ones joined, `set-cookie` always a list. */
export const headerMap = (pairs: readonly (readonly [name: string, value: string])[]): ValueMap => {
  const map: Record<string, Value> = {}
  const cookies: string[] = []
  for (const [name, value] of pairs) {
    if (name === 'set-cookie') {
      cookies.push(value)
      map[name] = cookies
    } else {
      const before = Object.hasOwn(map, name) ? map[name] : undefined
      setOwn(map, name, typeof before === 'string' ? `${before}, ${value}` : value)
    }
  }
  return map
}
