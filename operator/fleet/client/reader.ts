// Makes readers of what another program has sent, each from a table of its members: a value of another type, too long or
// unknown to this version is left out, has a default, or makes the whole invalid, as the table says. Members that the table
// lacks are left out.

import { isList, isMap, type ValueMap } from '../../../language/expression/value.ts'
import { plainText } from './plain-text.ts'

/** undefined: it is not what it ought to be. */
export type Read<T> = (value: unknown) => T | undefined

interface Optional<T> {
  readonly optional: Read<T>
  /** What is there must be valid. */
  readonly isStrict: boolean
}

type Fields<T> = string extends keyof T
  ? Readonly<Record<string, Read<unknown> | Optional<unknown>>>
  : {
      readonly [K in keyof T]-?: Partial<Pick<T, K>> extends Pick<T, K>
        ? Optional<Exclude<T[K], undefined>>
        : Read<T[K]>
    }

/**
 * Without a member that is not optional there is no map.
 * @example mapOf<FailingProvider>({ provider: readName, cause: oneOf(PROVIDER_CAUSES), found: optional(readDetail) })
 */
export const mapOf = <T extends object = ValueMap>(fields: Fields<NoInfer<T>>): Read<T> => {
  const rows = Object.entries<Read<unknown> | Optional<unknown>>(fields)
  return (value) => {
    if (!isMap(value)) return undefined
    const members: [string, unknown][] = []
    for (const [name, field] of rows) {
      const member = Object.hasOwn(value, name) ? value[name] : undefined
      const [read, isRequired] =
        typeof field === 'function' ? [field, true] : [field.optional, field.isStrict]
      const found = read(member)
      if (found !== undefined) members.push([name, found])
      else if (isRequired && (read === field || member !== undefined)) return undefined
    }
    return Object.fromEntries(members) as T
  }
}

/** A member that is left out where it is invalid. */
export const optional = <T>(read: Read<T>): Optional<T> => ({ optional: read, isStrict: false })

/** A member that may be absent, but not invalid. */
export const validIfPresent = <T>(read: Read<T>): Optional<T> => ({
  optional: read,
  isStrict: true,
})

export const orElse =
  <T, D>(read: Read<T>, otherwise: D) =>
  (value: unknown): T | D =>
    read(value) ?? otherwise

/** The first that can read it. */
export const anyOf =
  <T>(...reads: readonly Read<T>[]): Read<T> =>
  (value) => {
    for (const read of reads) {
      const found = read(value)
      if (found !== undefined) return found
    }
    return undefined
  }

/** Every element, or nothing. */
export const listOf =
  <T>(read: Read<T>): Read<readonly T[]> =>
  (value) => {
    const items = itemsIn(read, Infinity)(value)
    return isList(value) && items?.length === value.length ? items : undefined
  }

/** The first `most` elements that can be read. */
export const itemsIn =
  <T>(read: Read<T>, most: number): Read<readonly T[]> =>
  (value) => {
    if (!isList(value)) return undefined
    const items: T[] = []
    for (const each of value) {
      if (items.length === most) break
      const item = read(each)
      if (item !== undefined) items.push(item)
    }
    return items
  }

export const notEmpty =
  <T>(read: Read<readonly T[]>): Read<readonly T[]> =>
  (value) => {
    const list = read(value)
    return list === undefined || list.length === 0 ? undefined : list
  }

/** Every entry, or nothing. */
export const recordOf =
  <T>(read: Read<T>): Read<Readonly<Record<string, T>>> =>
  (value) => {
    const record = entriesIn(read, Infinity)(value)
    if (record === undefined || !isMap(value)) return undefined
    return Object.keys(record).length === Object.keys(value).length ? record : undefined
  }

/** The first `most` entries that can be read. */
export const entriesIn =
  <T>(read: Read<T>, most: number): Read<Readonly<Record<string, T>>> =>
  (value) => {
    if (!isMap(value)) return undefined
    const entries: [string, T][] = []
    for (const [key, each] of Object.entries(value)) {
      const entry = entries.length === most ? undefined : read(each)
      if (entry !== undefined) entries.push([key, entry])
    }
    // Own members all, also one that is called __proto__: `fromEntries` defines, it does not assign.
    return Object.fromEntries(entries)
  }

const MAX_NAME_LENGTH = 256

export const readText: Read<string> = (value) => (typeof value === 'string' ? value : undefined)

export const textOf =
  (mostLength: number): Read<string> =>
  (value) =>
    typeof value === 'string' && value.length <= mostLength ? value : undefined

/** Compared and kept, shown at most to those who run the operator. */
export const readName = textOf(MAX_NAME_LENGTH)

/** Safe to be shown; empty where it is no text. */
export const plain =
  (mostLength: number) =>
  (value: unknown): string =>
    plainText(readText(value) ?? '', mostLength)

export const matching =
  (pattern: RegExp): Read<string> =>
  (value) =>
    typeof value === 'string' && pattern.test(value) ? value : undefined

export const oneOf =
  <W extends string>(...words: readonly W[]): Read<W> =>
  (value) =>
    words.find((word) => word === value)

export const readNumber: Read<number> = (value) => (typeof value === 'number' ? value : undefined)

export const readCount: Read<number> = (value) =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined

export const readMap: Read<ValueMap> = (value) => (isMap(value) ? value : undefined)
