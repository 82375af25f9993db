// Makes the document of a case: as given, varied by JSON pointers, and grown where a generator stands for something
// big.

import { pointerKeys } from '../../../base/json-pointer.ts'
import type { LoadSpec } from './case-file.ts'
import { isList, isMap, onlyKey, type Json, type JsonMap } from './json.ts'
import { CaseError } from './placeholders.ts'

/** A document as given, or a named one of the file with values set and removed. */
export const documentOf = (spec: LoadSpec, documents: JsonMap): Json => {
  if (spec.document !== undefined) return spec.document
  const name = spec.from ?? ''
  if (!Object.hasOwn(documents, name))
    throw new CaseError(`no document named '${name}' in this file`)
  const removed = (spec.remove ?? []).reduce<Json>(
    (document, pointer) => change(document, pointerKeys(pointer), undefined),
    documents[name] ?? null,
  )
  return Object.entries(spec.set ?? {}).reduce<Json>(
    (document, [pointer, value]) => change(document, pointerKeys(pointer), value),
    removed,
  )
}

/** The value at a JSON pointer; undefined if there is none. */
export const valueAt = (root: Json, pointer: string): Json | undefined =>
  pointerKeys(pointer).reduce<Json | undefined>((at, key) => {
    if (isList(at)) return at[Number(key)]
    return isMap(at) && Object.hasOwn(at, key) ? at[key] : undefined
  }, root)

/**
 * Replaces the generators of a value: `{"@times": [text, n, before, after]}` a long text,
 * `{"@nest": [key, n, inner]}` deep maps (lists without a key), `{"@paths": [n, path]}` many paths.
 */
export const grow = (value: Json): Json => {
  if (isList(value)) return value.map(grow)
  if (!isMap(value)) return value
  const key = onlyKey(value)
  if (key !== undefined && Object.hasOwn(GENERATORS, key)) return generate(key, value[key] ?? null)
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, grow(member)]))
}

const GENERATORS: Readonly<Record<string, (args: readonly Json[]) => Json>> = {
  '@times': ([text, times, before = '', after = '']) =>
    `${textOf(before)}${textOf(text).repeat(Number(times))}${textOf(after)}`,
  '@nest': ([key, times, inner = null]) => {
    let nested = inner
    for (let i = 0; i < Number(times); i += 1) nested = key ? { [textOf(key)]: nested } : [nested]
    return nested
  },
  '@paths': ([times, path = null]) =>
    Object.fromEntries(Array.from({ length: Number(times) }, (_, i) => [`/p${i}`, path])),
}

const generate = (key: string, args: Json): Json => {
  const generator = GENERATORS[key]
  if (generator === undefined || !isList(args)) throw new CaseError(`${key} takes a list`)
  return generator(args)
}

const textOf = (value: Json | undefined): string => {
  if (typeof value !== 'string') throw new CaseError('a generator takes a text')
  return value
}

/** A copy of `root` with the member at `keys` set, or removed where `value` is undefined. */
const change = (root: Json, keys: readonly string[], value: Json | undefined): Json => {
  const [key, ...rest] = keys
  if (key === undefined) return value ?? null
  if (isList(root)) return changeItem(root, key, rest, value)
  if (!isMap(root))
    throw new CaseError(`a pointer goes on at '${key}' past something that is no map`)
  if (rest.length > 0) {
    if (!Object.hasOwn(root, key))
      throw new CaseError(`a pointer goes through '${key}', which is missing`)
    return { ...root, [key]: change(root[key] ?? null, rest, value) }
  }
  if (value !== undefined) return { ...root, [key]: value }
  if (!Object.hasOwn(root, key)) throw new CaseError(`there is no '${key}' to remove`)
  return Object.fromEntries(Object.entries(root).filter(([name]) => name !== key))
}

const changeItem = (
  list: readonly Json[],
  key: string,
  rest: readonly string[],
  value: Json | undefined,
): Json => {
  if (key === '-' && value !== undefined) return [...list, value]
  const index = Number(key)
  if (!(index in list)) throw new CaseError(`there is no item '${key}' in a list`)
  if (rest.length > 0) return list.with(index, change(list[index] ?? null, rest, value))
  return value === undefined ? list.toSpliced(index, 1) : list.with(index, value)
}
