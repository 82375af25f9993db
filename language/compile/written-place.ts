// Finds where a value of an operation is written: in the operation itself, or in the variable that an expression there
// names, so that a warning points to the text that somebody has to change.

import { ownValue } from '../expression/lookup.ts'
import { parse } from '../expression/syntax/parse.ts'
import { isList, type Value } from '../expression/value.ts'
import { childPointer } from '../../base/json-pointer.ts'
import type { EntryPlace, Scope } from './scope.ts'

/** Variables may name each other, one after the other. */
const MAX_STEPS = 32

type Keys = readonly (string | number)[]

interface Start {
  readonly value: Value
  readonly pointer: string
  readonly scope: Pick<Scope, 'entry'>
  /** The entry that the value is, if it is one: a name in it is that of the level above. */
  readonly own?: EntryPlace
}

/**
 * The pointer of what is at `keys` below `start`: the nearest that is written out, behind references that are a
 * whole text (`{{variables.failure}}`).
 */
export const writtenPlace = (start: Start, keys: Keys): string => {
  let from = start
  let rest = keys
  let found = descend(from, rest)
  for (let step = 0; step < MAX_STEPS; step++) {
    const next = followReference(found, from)
    if (next === undefined) return found.pointer
    rest = [...next.keys, ...found.rest]
    from = next.start
    found = descend(from, rest)
  }
  return found.pointer
}

interface Found {
  readonly value: Value
  readonly pointer: string
  readonly rest: Keys
}

const descend = ({ value, pointer }: Start, keys: Keys): Found => {
  let found: Found = { value, pointer, rest: keys }
  for (const [index, key] of keys.entries()) {
    const inner: Value | undefined =
      isList(found.value) && typeof key === 'number'
        ? found.value[key]
        : ownValue(found.value, String(key))
    if (inner === undefined) break
    found = {
      value: inner,
      pointer: childPointer(found.pointer, key),
      rest: keys.slice(index + 1),
    }
  }
  return found
}

const followReference = (
  { value }: Found,
  { scope, own }: Start,
): { readonly start: Start; readonly keys: Keys } | undefined => {
  const reference = typeof value === 'string' ? readReference(value) : undefined
  if (reference === undefined) return undefined
  const { group, name, keys } = reference
  const isItself = own?.group === group && own.name === name
  const entry = isItself ? own.above : scope.entry(group, name)
  if (entry?.value === undefined) return undefined
  const { value: written, pointer } = entry
  return { start: { value: written, pointer, scope: entry.scope, own: entry }, keys }
}

interface Reference extends Pick<EntryPlace, 'group' | 'name'> {
  readonly keys: readonly string[]
}

/** Undefined: it is more than the name of a variable. */
const readReference = (text: string): Reference | undefined => {
  const parsed = parse(text)
  if (!parsed.ok || parsed.ast.kind !== 'tag' || parsed.ast.calls.length > 0) return undefined
  const { root, keys } = parsed.ast
  const [name, ...inner] = keys
  const isNamed = name !== undefined && (root === 'variables' || root === 'defaults')
  return isNamed ? { group: root, name, keys: inner } : undefined
}
