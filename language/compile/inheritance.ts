// Defines what a key is that operations inherit: the levels that it may stand at, its schema, and how the nearest level
// that sets it is found (§2.9).

import { childPointer } from '../../base/json-pointer.ts'
import type { Keys, KeySchema } from '../schema/document-notation.ts'
import type { FoldedMap, Placed } from './folded.ts'
import type { Scope } from './scope.ts'

/** Nearest first. `defaults` of a path, a version and the API come after them, for every key. */
const LEVELS = ['action', 'operation', 'path'] as const
export type KeyLevel = (typeof LEVELS)[number]

export interface InheritedKey {
  readonly on: readonly KeyLevel[]
  readonly schema: KeySchema
}

export type InheritedKeys = Readonly<Record<string, InheritedKey>>

/** Objects that may set a key of an operation. */
export type Levels = Readonly<Partial<Record<KeyLevel, FoldedMap | undefined>>>

/** The nearest setting of any of the names, which are spellings of one key. */
export type Find = (...names: readonly string[]) => Placed | undefined

/** Most levels set none of the keys, and need not be searched for each of them. */
export const finderOf = (keys: InheritedKeys, levels: Levels, scope: Scope): Find => {
  const setting = LEVELS.flatMap((level) => {
    const map = levels[level]
    return map?.keys.some((name) => Object.hasOwn(keys, name)) === true ? [{ level, map }] : []
  })
  return (...names) => {
    for (const { level, map } of setting)
      for (const name of names) {
        const template = keys[name]?.on.includes(level) === true ? map.get(name) : undefined
        if (template !== undefined) return { template, pointer: childPointer(map.pointer, name) }
      }
    for (const name of names) {
      const placed = scope.default(name)
      if (placed !== undefined) return placed
    }
    return undefined
  }
}

/** Those that may stand at a level, for its schema. */
export const keysOn = (level: KeyLevel, keys: InheritedKeys): Keys =>
  Object.fromEntries(
    Object.entries(keys).flatMap(([name, { on, schema }]) =>
      on.includes(level) ? [[name, schema] as const] : [],
    ),
  )
