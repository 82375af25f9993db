// Converts a value to one that a format can carry: it returns the same object wherever nothing has to change, which is
// nearly always. It never changes the value that it is given.

import { setOwn, type Value, type ValueMap } from '../../../../language/expression/value.ts'
import { MessageError } from '../../protocol/message-error.ts'
import { MAX_DEPTH } from './serializer.ts'

/** Converts for a format bytes, numbers that are no 32-bit integers, and texts beginning with U+0000. */
export type Leaf = (value: Uint8Array | number | string) => unknown

/**
 * Rejects what no router survives: a lone surrogate gets no response, or ends the session.
 * @throws MessageError `unencodable`, also for what is no `Value`, and for what is nested too deeply
 */
export const portable = (value: Value, leaf: Leaf, depth = 0): unknown => {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) throw new MessageError('unencodable', 'a text has a lone surrogate')
    return value.charCodeAt(0) === 0 ? leaf(value) : value
  }
  if (typeof value === 'number') return (value | 0) === value ? value : leaf(value)
  if (typeof value === 'object') return value === null ? null : portableObject(value, leaf, depth)
  if (typeof value === 'boolean') return value
  throw new MessageError('unencodable', `no serializer can carry a value of type ${typeof value}`)
}

const portableObject = (
  value: Uint8Array | readonly Value[] | ValueMap,
  leaf: Leaf,
  depth: number,
): unknown => {
  if (depth >= MAX_DEPTH)
    throw new MessageError('unencodable', `it is nested more than ${MAX_DEPTH} deep`)
  if (Array.isArray(value)) return portableList(value as readonly Value[], leaf, depth)
  if (value instanceof Uint8Array) return leaf(value)
  return portableMap(value as ValueMap, leaf, depth)
}

const portableList = (list: readonly Value[], leaf: Leaf, depth: number): unknown => {
  let copy: unknown[] | undefined
  for (let index = 0; index < list.length; index++) {
    const before = list[index] as Value
    const after = portable(before, leaf, depth + 1)
    if (after === before) continue
    copy ??= [...list]
    copy[index] = after
  }
  return copy ?? list
}

const portableMap = (map: ValueMap, leaf: Leaf, depth: number): unknown => {
  let copy: Record<string, Value> | undefined
  for (const key in map) {
    if (!key.isWellFormed())
      throw new MessageError('unencodable', 'the key of a map has a lone surrogate')
    const before = map[key] as Value
    const after = portable(before, leaf, depth + 1)
    if (after === before) continue
    copy ??= { ...map }
    setOwn(copy, key, after as Value)
  }
  return copy ?? map
}
