// Implements the functions on maps, which give a value or a changed copy. The maps given are never changed, and
// `__proto__` is a key like any other.

import type { Apply, Host, VerifyArguments } from './apply.ts'
import { kindOf, FunctionError, showKey } from '../errors.ts'
import { bytesOfPlaces, spend, spendReading, unitsOfKeys } from './spend.ts'
import { copyOfMap, emptyLike, isHeaderMap, keyIn, toHeaderMap } from '../header-map.ts'
import { isList, isMap, setOwn, type Value, type ValueMap } from '../value.ts'

export const sizeOf: Apply = (input, _args, host) => keysOf(mapFrom(input), host).length

export const getFrom: Apply = (input, [key, otherwise]) => {
  const map = mapFrom(input)
  const name = keyIn(map, keyFrom(key))
  const found = Object.hasOwn(map, name) ? map[name] : otherwise
  if (found !== undefined) return found
  throw new FunctionError(`finds no key ${showKey(keyFrom(key))} and has no default`)
}

export const putInto: Apply = (input, [key, value], host) => {
  const map = mapFrom(input)
  const copy = copyOfMap(map)
  setOwn(copy, keyIn(map, keyFrom(key)), value ?? null)
  spend(host, bytesOfPlaces(Object.keys(copy).length))
  return copy
}

/** The right side wins: `merge(M)` = `merge(_, M)`; the caller has put the piped map in its place. */
export const merged: Apply = (input, [first, second], host) => {
  mapFrom(input)
  const [left, winner] = sides(
    sideFrom(second === undefined ? input : first),
    sideFrom(second ?? first),
  )
  const copy = copyOfMap(left)
  for (const key of Object.keys(winner)) setOwn(copy, key, winner[key] ?? null)
  spend(host, bytesOfPlaces(Object.keys(copy).length))
  return copy
}

export const keysKept: Apply = (input, [keys], host) => {
  const map = mapFrom(input)
  const names = namesFrom(map, keys)
  return chosen(map, (key) => names.has(key), host)
}

export const keysDropped: Apply = (input, [keys], host) => {
  const map = mapFrom(input)
  const names = namesFrom(map, keys)
  return chosen(map, (key) => !names.has(key), host)
}

export const verifyKey: VerifyArguments = ([key]) => {
  if (key !== undefined) keyFrom(key)
}

export const verifyKeys: VerifyArguments = ([keys]) => {
  if (keys !== undefined) keysFrom(keys)
}

export const verifyMaps: VerifyArguments = (sides) => {
  for (const side of sides) {
    if (typeof side === 'string')
      throw new FunctionError(
        'takes maps, not text: name one in a tag, as in merge({{variables.more}})',
      )
    if (side !== undefined) sideFrom(side)
  }
}

const chosen = (map: ValueMap, isChosen: (key: string) => boolean, host: Host): ValueMap => {
  const keys = keysOf(map, host).filter(isChosen)
  spend(host, bytesOfPlaces(keys.length))
  const copy = emptyLike(map)
  for (const key of keys) setOwn(copy, key, map[key] ?? null)
  return copy
}

const keysOf = (map: ValueMap, host: Host): readonly string[] => {
  const keys = Object.keys(map)
  spendReading(host, unitsOfKeys(keys.length))
  return keys
}

/** What is merged with headers are headers. */
const sides = (left: ValueMap, right: ValueMap): readonly [ValueMap, ValueMap] =>
  isHeaderMap(left) || isHeaderMap(right) ? [toHeaderMap(left), toHeaderMap(right)] : [left, right]

const namesFrom = (map: ValueMap, keys: Value | undefined): ReadonlySet<string> =>
  new Set(keysFrom(keys).map((key) => keyIn(map, key)))

const mapFrom = (value: Value): ValueMap => {
  if (isMap(value)) return value
  throw new FunctionError('takes a map', value)
}

const sideFrom = (value: Value | undefined): ValueMap => {
  if (isMap(value)) return value
  throw new FunctionError(`takes maps, not ${kindOf(value ?? null)}`)
}

/** A number names the key it is written as: maps keyed by a status are common. */
const keyFrom = (value: Value | undefined): string => {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  throw new FunctionError(`takes a text as key, not ${kindOf(value ?? null)}`)
}

const keysFrom = (value: Value | undefined): readonly string[] => {
  if (isList(value)) return value.map(keyFrom)
  throw new FunctionError('takes keys in brackets')
}
