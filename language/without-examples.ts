// Leaves the examples of operations out of a document, as gateways do not read them.

import { METHODS } from './document.ts'
import { isList, isMap, type Value, type ValueMap } from './expression/value.ts'

/** The same object where there are none. */
export const withoutExamples = (document: ValueMap): ValueMap =>
  changed(document, 'versions', (versions) => eachOf(versions, withoutThoseOfVersion))

const withoutThoseOfVersion = (version: Value): Value =>
  isMap(version) ? changed(version, 'paths', (paths) => eachOf(paths, withoutThoseOfPath)) : version

const withoutThoseOfPath = (path: Value): Value =>
  isMap(path)
    ? METHODS.reduce<ValueMap>((left, method) => changed(left, method, withoutOwn), path)
    : path

const withoutOwn = (operation: Value): Value => {
  if (!isMap(operation) || !Object.hasOwn(operation, 'examples')) return operation
  return Object.fromEntries(Object.entries(operation).filter(([name]) => name !== 'examples'))
}

const changed = (map: ValueMap, name: string, change: (value: Value) => Value): ValueMap => {
  const before = Object.hasOwn(map, name) ? map[name] : undefined
  const after = before === undefined ? undefined : change(before)
  return after === before || after === undefined
    ? map
    : Object.fromEntries(
        Object.entries(map).map(([key, value]) => [key, key === name ? after : value]),
      )
}

const eachOf = (values: Value, change: (value: Value) => Value): Value => {
  if (isList(values)) {
    const after = values.map(change)
    return after.some((value, index) => value !== values[index]) ? after : values
  }
  if (!isMap(values)) return values
  const entries = Object.entries(values).map(([name, value]) => [name, change(value)] as const)
  return entries.some(([name, value]) => value !== values[name])
    ? Object.fromEntries(entries)
    : values
}
