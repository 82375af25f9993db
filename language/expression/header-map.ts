// Defines maps of HTTP headers, whose names are one whatever their case: they are kept in lower case. That a map is one
// can't be seen by documents, in JSON or by who enumerates it.

import { isMap, setOwn, type Value, type ValueMap } from './value.ts'

/** The mark is the prototype, which has no members: own ones alone are ever read. */
class HeaderMap {
  readonly [name: string]: Value
}
Object.setPrototypeOf(HeaderMap.prototype, null)

export const isHeaderMap = (value: unknown): boolean => value instanceof HeaderMap

/** To be filled with names in lower case. */
export const createHeaderMap = (): Record<string, Value> => new HeaderMap()

/** What a map that functions have made of other ones at load, in which case counts, is where headers stand. */
const madeAsHeaders = new WeakMap<ValueMap, ValueMap>()

export const rememberAsHeaders = (map: ValueMap, headers: ValueMap): void => {
  madeAsHeaders.set(map, headers)
}

/** Undefined: no function has made the map at load. */
export const rememberedAsHeaders = (map: ValueMap): ValueMap | undefined => madeAsHeaders.get(map)

/**
 * The headers that a map stands for: of several spellings of a name the last one counts.
 * @example toHeaderMap({ 'X-User': 'a', 'x-user': 'b' }) // { 'x-user': 'b' }
 */
export const toHeaderMap = (map: ValueMap): ValueMap => {
  if (isHeaderMap(map)) return map
  const known = madeAsHeaders.get(map)
  if (known !== undefined) return known
  const headers = createHeaderMap()
  for (const key of Object.keys(map)) setOwn(headers, key.toLowerCase(), map[key] ?? null)
  return headers
}

/** The key that `name` has in a map, if it is there: names of headers are found in any case. */
export const keyIn = (map: ValueMap, name: string): string =>
  isHeaderMap(map) ? name.toLowerCase() : name

/** A copy of the same kind. */
export const copyOfMap = (map: ValueMap): Record<string, Value> => {
  if (!isHeaderMap(map)) return { ...map }
  const copy = createHeaderMap()
  for (const name of Object.keys(map)) setOwn(copy, name, map[name] ?? null)
  return copy
}

/** An empty map of the same kind. */
export const emptyLike = (map: ValueMap): Record<string, Value> =>
  isHeaderMap(map) ? createHeaderMap() : {}

/** The value as a header map, if it is a map at all. */
export const asHeaderMap = (value: Value): Value => (isMap(value) ? toHeaderMap(value) : value)
