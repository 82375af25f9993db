// Implements the functions on maps, which give a value or a changed copy. The maps given are never changed, and
// `__proto__` is a key like any other.

import type { Apply, Host, VerifyArguments } from './apply.ts'
import { kindOf, FunctionError, showKey } from '../errors.ts'
import { bytesOfPlaces, hasFewKeys, spend, spendWork, UNITS, unitsOfCopy } from './spend.ts'
import { copyOfMap, emptyLike, isHeaderMap, keyIn, toHeaderMap } from '../header-map.ts'
import { chargeCopy, keysOf, MapBuilder } from '../keys.ts'
import { createTable, isList, isMap, setOwn, type Value, type ValueMap } from '../value.ts'

export const sizeOf: Apply = (input, _args, host) => keysOf(mapFrom(input), host).length

export const getFrom: Apply = (input, [key, otherwise], host) => {
  const map = mapFrom(input)
  const text = keyFrom(key)
  // A text becomes a key by a hash of all of it.
  spendWork(host, text.length)
  const name = keyIn(map, text)
  const found = Object.hasOwn(map, name) ? map[name] : otherwise
  if (found !== undefined) return found
  throw new FunctionError(`finds no key ${showKey(keyFrom(key))} and has no default`)
}

export const putInto: Apply = (input, [key, value], host) => {
  const map = mapFrom(input)
  const text = keyFrom(key)
  spendWork(host, text.length)
  const copy = startCopy(map, 1, host)
  copy.set(keyIn(map, text), value ?? null)
  return finish(copy, host)
}

/** The right side wins: `merge(M)` = `merge(_, M)`; the caller has put the piped map in its place. */
export const merged: Apply = (input, [first, second], host) => {
  mapFrom(input)
  const [left, winner] = sides(
    sideFrom(second === undefined ? input : first),
    sideFrom(second ?? first),
    host,
  )
  const keys = keysOf(winner, host)
  const copy = startCopy(left, keys.length, host)
  for (const key of keys) copy.set(key, winner[key] ?? null)
  return finish(copy, host)
}

export const keysKept: Apply = (input, [keys], host) => {
  const map = mapFrom(input)
  const names = namesFrom(map, keys, host)
  return chosen(map, (key) => names.has(key), host)
}

export const keysDropped: Apply = (input, [keys], host) => {
  const map = mapFrom(input)
  const names = namesFrom(map, keys, host)
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
  const all = keysOf(map, host)
  spendWork(host, all.length * UNITS.element)
  const keys = all.filter(isChosen)
  spendWork(host, unitsOfCopy(keys.length))
  spend(host, bytesOfPlaces(keys.length))
  const copy = new MapBuilder(emptyFor(map, keys.length))
  for (const key of keys) copy.set(key, map[key] ?? null)
  return copy.done()
}

/** A copy that `added` keys more will be set in. */
const startCopy = (map: ValueMap, added: number, host: Host): MapBuilder => {
  const keys = keysOf(map, host)
  spendWork(host, unitsOfCopy(keys.length + added))
  if (hasFewKeys(keys.length)) return new MapBuilder(copyOfMap(map), keys)
  const copy = emptyFor(map, keys.length)
  for (const key of keys) setOwn(copy, key, map[key] ?? null)
  return new MapBuilder(copy, keys)
}

/** An empty map of the same kind that `count` keys will be set in. */
const emptyFor = (map: ValueMap, count: number): Record<string, Value> =>
  isHeaderMap(map) || hasFewKeys(count) ? emptyLike(map) : createTable()

const finish = (copy: MapBuilder, host: Host): ValueMap => {
  spend(host, bytesOfPlaces(copy.size))
  return copy.done()
}

/** What is merged with headers are headers. */
const sides = (left: ValueMap, right: ValueMap, host: Host): readonly [ValueMap, ValueMap] => {
  if (!isHeaderMap(left) && !isHeaderMap(right)) return [left, right]
  for (const side of [left, right]) if (!isHeaderMap(side)) chargeCopy(side, host)
  return [toHeaderMap(left), toHeaderMap(right)]
}

const namesFrom = (map: ValueMap, keys: Value | undefined, host: Host): ReadonlySet<string> => {
  const names = keysFrom(keys)
  for (const name of names) spendWork(host, UNITS.container + name.length)
  return new Set(names.map((key) => keyIn(map, key)))
}

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
