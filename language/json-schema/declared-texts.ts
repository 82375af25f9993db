// Makes values of the texts that clients send in the place of numbers, booleans and lists, by the types that a JSON Schema
// declares for them. What no type fits stays a text, which validating then refuses.

import { oncePer } from '../../base/once.ts'
import { ownValue } from '../expression/lookup.ts'
import { isList, isMap, setOwn, type Value, type ValueMap } from '../expression/value.ts'
import { resolveReference } from './reference.ts'

/** What is declared of one member. */
interface Declared {
  readonly types: readonly Value[]
  /** The schema of the items of a list. */
  readonly itemTypes: readonly Value[]
}

export interface ReadTexts {
  readonly values: ValueMap
  /** Declared names that came more than once, and are no lists. */
  readonly repeated: readonly string[]
}

/**
 * @param pairs in the order in which they came; of a name that is not declared the last one counts
 * @param isTyped false: everything stays a text, but for lists
 * @example readTexts({ properties: { id: { type: 'integer' } } }, [['id', '1.0']]) // { values: { id: 1 }, repeated: [] }
 */
export const readTexts = (
  schema: Value,
  pairs: Iterable<readonly [string, string]>,
  isTyped = true,
): ReadTexts => {
  const declared = isMap(schema) ? declaredIn(schema) : NOTHING
  const values: Record<string, Value> = {}
  const lists = new Map<string, Value[]>()
  const repeated = new Set<string>()
  const read = isTyped ? readText : (text: string): Value => text
  for (const [name, text] of pairs) {
    const { types, itemTypes } = declared.get(name) ?? UNDECLARED
    const list = lists.get(name)
    if (list !== undefined) list.push(read(text, itemTypes))
    else if (types.includes('array')) {
      const items = [read(text, itemTypes)]
      lists.set(name, items)
      setOwn(values, name, items)
    } else {
      if (declared.has(name) && Object.hasOwn(values, name)) repeated.add(name)
      setOwn(values, name, read(text, types))
    }
  }
  return { values, repeated: [...repeated] }
}

/** A number as JSON has it: no blanks, `+`, leading zeros or hexadecimal digits. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

const readText = (text: string, types: readonly Value[]): Value => {
  if (types.length === 0 || types.includes('string')) return text
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true'
  if (!(types.includes('number') || types.includes('integer')) || !NUMBER.test(text)) return text
  const number = Number(text)
  // What has no exact value here is not passed on as another one.
  const isExact =
    Number.isFinite(number) && !(Number.isInteger(number) && !Number.isSafeInteger(number))
  return isExact ? number : text
}

const UNDECLARED: Declared = { types: [], itemTypes: [] }
const NOTHING: ReadonlyMap<string, Declared> = new Map()

const declaredIn = oncePer((schema: ValueMap): ReadonlyMap<string, Declared> => {
  const declared = new Map<string, Declared>()
  for (const part of partsOf(schema, schema)) {
    const properties = ownValue(part, 'properties')
    for (const [name, member] of Object.entries(isMap(properties) ? properties : {})) {
      const parts = partsOf(member, schema)
      const items = parts.flatMap((each) => partsOf(ownValue(each, 'items') ?? true, schema))
      const known = declared.get(name) ?? UNDECLARED
      declared.set(name, {
        types: [...known.types, ...typesOf(parts)],
        itemTypes: [...known.itemTypes, ...typesOf(items)],
      })
    }
  }
  return declared
})

/** A schema, and those that are for the same value by `$ref` and `allOf`: none leads back to itself, as it was checked. */
const partsOf = (schema: Value, root: Value, known = new Set<Value>()): readonly ValueMap[] => {
  if (!isMap(schema) || known.has(schema)) return []
  known.add(schema)
  const reference = ownValue(schema, '$ref')
  const target = typeof reference === 'string' ? resolveReference(root, reference) : undefined
  const all = ownValue(schema, 'allOf')
  const further = [target ?? true, ...(isList(all) ? all : [])]
  return [schema, ...further.flatMap((each) => partsOf(each, root, known))]
}

const typesOf = (schemas: readonly ValueMap[]): readonly Value[] =>
  schemas.flatMap((schema) => {
    const type = ownValue(schema, 'type') ?? []
    return isList(type) ? type : [type]
  })
