// Reads `versions`, which is a map by name or an array (behaviour §2), as named versions with their pointers.

import { childPointer } from '../base/json-pointer.ts'
import { ownValue } from './expression/lookup.ts'
import { isMap, setOwn, type Value, type ValueMap } from './expression/value.ts'

export interface NamedVersion {
  readonly name: string
  readonly pointer: string
  readonly value: unknown
}

/** Versions in document order. Equal names are kept, for the caller to report. */
export const namedVersions = (versions: unknown): readonly NamedVersion[] => {
  if (Array.isArray(versions))
    return versions.map((value: unknown, index) => ({
      name: nameOf(value, index),
      pointer: childPointer('/versions', index),
      value,
    }))
  if (!isMap(versions)) return []
  return Object.entries(versions).map(([name, value]) => ({
    name,
    pointer: childPointer('/versions', name),
    value,
  }))
}

/** The document as it is read back: `versions` a map by name, all else as submitted. */
export const withVersionMap = (document: ValueMap): ValueMap => {
  if (!Array.isArray(document['versions'])) return document
  const versions: Record<string, Value> = {}
  for (const { name, value } of namedVersions(document['versions']))
    setOwn(versions, name, value as Value)
  return { ...document, versions }
}

/** An array element's name: its `name`, its `version`, its `base_path` without `/`, `[`, `]`, its index. */
const nameOf = (value: unknown, index: number): string => {
  if (!isMap(value)) return String(index)
  for (const key of ['name', 'version']) {
    const name = ownValue(value, key)
    if (typeof name === 'string' && name !== '') return name
  }
  const base = ownValue(value, 'base_path')
  const name = typeof base === 'string' ? base.replaceAll(/[/[\]]/g, '') : ''
  return name === '' ? String(index) : name
}
