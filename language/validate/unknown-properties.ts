// Warns of properties that nothing reads, so that a misspelt name does not pass silently. The published schema is the
// only list of names; free-form maps are not searched.

import { childPointer } from '../../base/json-pointer.ts'
import { ownValue } from '../expression/lookup.ts'
import { mapAt } from '../expression/members.ts'
import { isMap, type ValueMap } from '../expression/value.ts'
import type { Warning } from '../problem.ts'
import { hintFor } from './name-hints.ts'
import apiSchema from '../schema/api-specification.schema.json' with { type: 'json' }

export const MAX_WARNINGS = 1000

/** What a schema says about names, its references and branches resolved. */
interface Shape {
  /** Names known here, by what each holds. Empty: a free-form map. */
  readonly properties: ReadonlyMap<string, Shape>
  /** Further names that `type` brings along. */
  readonly byType: ReadonlyMap<string, Shape>
  /** What elements of a list, or entries of a map with free names, hold. */
  readonly entries: Shape | undefined
}

/**
 * The unknown properties of a document, at every level but those where names are free (`meta`,
 * `variables`, `info`, `options`, `headers`, bodies, …). At most 1000.
 * @example unknownProperties({ …, hots: 'a' }) // [{ code: 'UnknownProperty', path: '/hots', … }]
 */
export const unknownProperties = (document: unknown): readonly Warning[] => {
  const warnings: Warning[] = []
  visit(document, '', DOCUMENT, warnings)
  return warnings
}

const visit = (value: unknown, pointer: string, shape: Shape, warnings: Warning[]): void => {
  if (Array.isArray(value)) visitEntries(value.entries(), pointer, shape.entries, warnings)
  else if (!isMap(value)) return
  else if (isFree(shape)) visitEntries(Object.entries(value), pointer, shape.entries, warnings)
  else visitProperties(value, pointer, shape, warnings)
}

const visitEntries = (
  entries: Iterable<readonly [string | number, unknown]>,
  pointer: string,
  shape: Shape | undefined,
  warnings: Warning[],
): void => {
  if (shape === undefined || isLeaf(shape)) return
  for (const [key, value] of entries) visit(value, childPointer(pointer, key), shape, warnings)
}

const visitProperties = (
  map: ValueMap,
  pointer: string,
  shape: Shape,
  warnings: Warning[],
): void => {
  const type = ownValue(map, 'type')
  const typed = typeof type === 'string' ? shape.byType.get(type) : undefined
  // If the type is unknown or missing, which is an error, the properties can't be checked.
  const isOfUnknownType = shape.byType.size > 0 && typed === undefined
  for (const [key, value] of Object.entries(map)) {
    const child = typed?.properties.get(key) ?? shape.properties.get(key)
    if (child === undefined && isOfUnknownType && isOfAnyType(shape, key)) continue
    if (child === undefined) {
      const hint = hintFor(key, namesOf(shape, typed)) || hintOfType(shape, key)
      warn(childPointer(pointer, key), key, hint, warnings)
    } else if (!isLeaf(child)) visit(value, childPointer(pointer, key), child, warnings)
  }
}

const isOfAnyType = ({ byType }: Shape, key: string): boolean =>
  [...byType.values()].some(({ properties }) => properties.has(key))

/** What is of no use here is of use in another type. */
const hintOfType = ({ byType }: Shape, key: string): string => {
  const types = [...byType].filter(([, { properties }]) => properties.has(key))
  return types.length === 0 ? '' : `; it belongs to type ${types.map(([type]) => type).join(', ')}`
}

const namesOf = (shape: Shape, typed: Shape | undefined): readonly string[] => [
  ...shape.properties.keys(),
  ...(typed?.properties.keys() ?? []),
]

const warn = (path: string, key: string, hint: string, warnings: Warning[]): void => {
  if (warnings.length >= MAX_WARNINGS) return
  const name = key.length <= 60 ? key : `${key.slice(0, 60).toWellFormed()}…`
  const message = `There is no property '${name}' here: it has no effect${hint}`
  warnings.push({ code: 'UnknownProperty', path, message })
}

const isFree = (shape: Shape): boolean => shape.properties.size === 0
const isLeaf = (shape: Shape): boolean => isFree(shape) && shape.entries === undefined

const shapeOf = (schema: unknown): Shape => {
  const properties = new Map<string, Shape>()
  const byType = new Map<string, Shape>()
  let entries: Shape | undefined
  for (const part of partsOf(schema)) {
    for (const [name, property] of Object.entries(mapAt(part, 'properties')))
      properties.set(name, shapeOf(property))
    for (const [type, branch] of typeBranches(part)) byType.set(type, shapeOf(branch))
    const element = part['additionalProperties'] ?? part['items']
    if (isMap(element)) entries = shapeOf(element)
  }
  return { properties, byType, entries }
}

/** A schema with all the schemas for the same value: its reference, and those that apply under a condition. */
const partsOf = (schema: unknown): readonly ValueMap[] => {
  if (!isMap(schema)) return []
  const reference = schema['$ref']
  const target = typeof reference === 'string' ? definition(reference) : undefined
  return [schema, ...partsOf(target), ...partsOf(schema['then'])]
}

/** `allOf: [{ if: { properties: { type: { const } } }, then }]`: what each type brings along. */
const typeBranches = (schema: ValueMap): readonly (readonly [string, unknown])[] => {
  const branches: readonly unknown[] = Array.isArray(schema['allOf']) ? schema['allOf'] : []
  return branches.filter(isMap).flatMap((branch) => {
    const type = mapAt(mapAt(mapAt(branch, 'if'), 'properties'), 'type')['const']
    return typeof type === 'string' ? [[type, branch['then']] as const] : []
  })
}

const definition = (reference: string): unknown =>
  mapAt(apiSchema as ValueMap, '$defs')[reference.slice('#/$defs/'.length)]

const DOCUMENT = shapeOf(apiSchema)
