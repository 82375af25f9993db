// Reads members of maps that came from outside and were not validated: only own members are seen, and one that is
// absent, null or of another type never throws.

import { isList, isMap, type Value, type ValueMap } from './value.ts'

declare const shape: unique symbol

/**
 * A map that ought to be a `T` and has not been checked: the type only says which names its members have, so that a
 * misspelt one does not compile.
 * @example (pod: Unvalidated<V1Pod>) => textAt(mapAt(pod, 'metadata'), 'name')
 */
export type Unvalidated<T> = ValueMap & { readonly [shape]?: T }

/** Nothing is known of its members: any name may be read. */
interface Unknown {
  readonly [name: string]: Unknown
}

type Name<T> = keyof T & string
type Member<T, K extends Name<T>> = NonNullable<T[K]>
type Item<List> = List extends readonly (infer Each)[] ? Each : Unknown

/** The member itself; undefined where it is absent or null, which the Kubernetes API treats alike. */
export const memberAt = <T = Unknown>(
  map: Unvalidated<T>,
  name: Name<NoInfer<T>>,
): Value | undefined => (Object.hasOwn(map, name) ? (map[name] ?? undefined) : undefined)

/** Empty where there is no map, so that reading on needs no further check. */
export const mapAt = <T = Unknown, K extends Name<T> = Name<T>>(
  map: Unvalidated<T>,
  name: K,
): Unvalidated<Member<T, K>> => {
  const member = memberAt(map, name)
  return isMap(member) ? member : {}
}

/** Empty where there is no list. */
export const listAt = <T = Unknown>(
  map: Unvalidated<T>,
  name: Name<NoInfer<T>>,
): readonly Value[] => {
  const member = memberAt(map, name)
  return isList(member) ? member : []
}

/** The maps in a list; other elements are left out. */
export const mapsAt = <T = Unknown, K extends Name<T> = Name<T>>(
  map: Unvalidated<T>,
  name: K,
): readonly Unvalidated<Item<Member<T, K>>>[] => listAt(map, name).filter(isMap)

/** Empty where there is no text. */
export const textAt = <T = Unknown>(map: Unvalidated<T>, name: Name<NoInfer<T>>): string => {
  const member = memberAt(map, name)
  return typeof member === 'string' ? member : ''
}

/** The members of a map that are texts, such as labels; the others are left out. */
export const textsAt = <T = Unknown>(
  map: Unvalidated<T>,
  name: Name<NoInfer<T>>,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(mapAt(map, name)).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  )

/** Undefined where there is no number. */
export const numberAt = <T = Unknown>(
  map: Unvalidated<T>,
  name: Name<NoInfer<T>>,
): number | undefined => {
  const member = memberAt(map, name)
  return typeof member === 'number' ? member : undefined
}
