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
export interface Find {
  (...names: readonly string[]): Placed | undefined
  /** The settings of every level, nearest first, for what is inherited entry by entry. */
  readonly all: (name: string) => readonly Placed[]
}

/** Most levels set none of the keys, and need not be searched for each of them. */
export const finderOf = (keys: InheritedKeys, levels: Levels, scope: Scope): Find => {
  const setting = LEVELS.flatMap((level) => {
    const map = levels[level]
    return map?.keys.some((name) => Object.hasOwn(keys, name)) === true ? [{ level, map }] : []
  })
  const at = ({ level, map }: (typeof setting)[number], name: string): Placed | undefined => {
    const template = keys[name]?.on.includes(level) === true ? map.get(name) : undefined
    return template && { template, pointer: childPointer(map.pointer, name) }
  }
  const find = (...names: readonly string[]): Placed | undefined => {
    for (const each of setting)
      for (const name of names) {
        const placed = at(each, name)
        if (placed !== undefined) return placed
      }
    for (const name of names) {
      const placed = scope.default(name)
      if (placed !== undefined) return placed
    }
    return undefined
  }
  const all: Find['all'] = (name) => [
    ...setting.flatMap((each) => at(each, name) ?? []),
    ...scope.defaults(name),
  ]
  return Object.assign(find, { all })
}

/** Those that may stand at a level, for its schema. */
export const keysOn = (level: KeyLevel, keys: InheritedKeys): Keys =>
  Object.fromEntries(
    Object.entries(keys).flatMap(([name, { on, schema }]) =>
      on.includes(level) ? [[name, schema] as const] : [],
    ),
  )
