// Reads single values of a response of a data plane, which may be of another type, too long or unknown to this version.

import { isList, isMap, type Value, type ValueMap } from '../../../language/expression/value.ts'

export const MAX_NAME_LENGTH = 256

/** Compared and kept, shown at most to those who run the operator. */
export const isName = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_NAME_LENGTH

export const isCount = (value: Value | undefined): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0

export const isMemberOf = <Member extends string>(
  members: Readonly<Record<Member, true>>,
  value: Value | undefined,
): value is Member => typeof value === 'string' && Object.hasOwn(members, value)

export const textOr = (value: Value | undefined, otherwise: string): string =>
  typeof value === 'string' ? value : otherwise

export const textOrNull = (value: Value | undefined): string | null =>
  typeof value === 'string' ? value : null

export const numberOr = (value: Value | undefined, otherwise: number): number =>
  isCount(value) ? value : otherwise

/** The maps in a list of `entry`, `most` at most; none where there is no such list. */
export const mapsIn = (entry: ValueMap, member: string, most: number): readonly ValueMap[] => {
  const list = entry[member]
  return list !== undefined && isList(list) && list.length > 0
    ? list.filter(isMap).slice(0, most)
    : NONE
}

const NONE: readonly ValueMap[] = []
