// Leaves the examples of operations out of a document, as gateways do not read them, but for what an OpenAPI description
// shows of them.

import { METHODS } from './document.ts'
import { isList, isMap, type Value, type ValueMap } from './expression/value.ts'

/** The same object where there are none. */
export const withoutExamples = (document: ValueMap): ValueMap =>
  changeOperations(document, () => withoutOwn)

/**
 * What gateways get: where a version publishes its description, bodies and statuses of examples stay, nothing of who calls
 * or what the action yields. The same object where there is nothing to leave out.
 */
export const withDescribedExamples = (document: ValueMap): ValueMap =>
  changeOperations(document, (version) =>
    PUBLISHING.some((key) => Object.hasOwn(version, key)) ? withDescribed : withoutOwn,
  )

/** Keys of a version whose description shows examples. */
const PUBLISHING = ['openapi', 'docs_page']

type Change = (operation: Value) => Value

const changeOperations = (document: ValueMap, changeOf: (version: ValueMap) => Change): ValueMap =>
  changed(document, 'versions', (versions) =>
    eachOf(versions, (version) =>
      isMap(version)
        ? changed(version, 'paths', (paths) =>
            eachOf(paths, (path) => changePath(path, changeOf(version))),
          )
        : version,
    ),
  )

const changePath = (path: Value, change: Change): Value =>
  isMap(path)
    ? METHODS.reduce<ValueMap>((left, method) => changed(left, method, change), path)
    : path

const withDescribed = (operation: Value): Value =>
  isMap(operation)
    ? changed(operation, 'examples', (examples) => eachOf(examples, describedPart))
    : operation

const describedPart = (example: Value): Value =>
  isMap(example)
    ? {
        ...picked(example, 'request', ['body']),
        ...picked(example, 'expect', ['status_code', 'body']),
      }
    : example

const picked = (example: ValueMap, name: string, members: readonly string[]): ValueMap => {
  const map = example[name]
  if (!Object.hasOwn(example, name) || map === undefined || !isMap(map)) return {}
  const entries = Object.entries(map).filter(([member]) => members.includes(member))
  return { [name]: Object.fromEntries(entries) }
}

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
