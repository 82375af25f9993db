// Finds properties that nothing reads, so that a misspelt name does not pass silently, and those that restrict, which no
// gateway may ignore. The table of keys is the only list of names; free-form maps are not searched.

import { findMisspelt } from '../../base/nearest-name.ts'
import { childPointer } from '../../base/json-pointer.ts'
import { ownValue } from '../expression/lookup.ts'
import { mapAt, memberAt } from '../expression/members.ts'
import { isMap, type ValueMap } from '../expression/value.ts'
import type { Problem, Warning } from '../problem.ts'
import { RESTRICTS } from '../schema/document-notation.ts'
import { DOCUMENT_SCHEMA } from './document-schema.ts'
import { RESTRICTING_KEYS } from './restricting-keys.ts'
import { hintFor } from './name-hints.ts'

export const MAX_WARNINGS = 1000

/** What a schema says about names, its references and branches resolved. */
interface Shape {
  /** Names known here, by what each holds. Empty: a free-form map. */
  readonly properties: ReadonlyMap<string, Shape>
  /** Further names that `type` brings along. */
  readonly byType: ReadonlyMap<string, Shape>
  /** What elements of a list, or entries of a map with free names, hold. */
  readonly entries: Shape | undefined
  readonly restricts: boolean
}

type Member = readonly [name: string, value: unknown]

/** What a walk over a document meets. */
interface Visitor {
  readonly known?: (name: string, shape: Shape) => void
  readonly unknown?: (pointer: string, member: Member, hint: () => string) => void
  /** A text stands where an object might, which an expression gives. */
  readonly given?: () => void
}

export interface UnknownProperties {
  /** Names that are close to those of keys that restrict: the author believes that something is protected. */
  readonly problems: readonly Problem[]
  readonly warnings: readonly Warning[]
}

/**
 * The unknown properties of a document, at every level but those where names are free (`meta`,
 * `variables`, `info`, `options`, `headers`, bodies, …). At most 1000 of each.
 * @example unknownProperties({ …, hots: 'a' }).warnings // [{ code: 'UnknownProperty', path: '/hots', … }]
 */
export const unknownProperties = (document: unknown): UnknownProperties => {
  const problems: Problem[] = []
  const warnings: Warning[] = []
  const unknown = (path: string, member: Member, hintOf: () => string): void => {
    const problem = misspeltRestriction(path, member)
    if (problem !== undefined) {
      if (problems.length < MAX_WARNINGS) problems.push(problem)
    } else if (warnings.length < MAX_WARNINGS) {
      const message = `There is no property '${shortened(member[0])}' here: it has no effect${hintOf()}`
      warnings.push({ code: 'UnknownProperty', path, message })
    }
  }
  visit(document, '', DOCUMENT, { unknown })
  return { problems, warnings }
}

export type GivenPart = 'defaults' | 'operation' | 'optionsOperation'

/** Looks at a part that an expression gives, of which nothing but its restrictions is known to matter. Pointers begin there. */
export const misspeltRestrictions = (part: GivenPart, value: unknown): readonly Problem[] => {
  const problems: Problem[] = []
  const unknown = (path: string, member: Member): void => {
    const problem = misspeltRestriction(path, member)
    if (problem !== undefined && problems.length < MAX_WARNINGS) problems.push(problem)
  }
  visit(value, '', shapeOf(DEFINITIONS[part]), { unknown })
  return problems
}

const misspeltRestriction = (path: string, [key, value]: Member): Problem | undefined => {
  const restriction = restrictionLike(key)
  // What is active is served, as without it (§2.2); `$schema` is for editors.
  if (restriction === undefined || key === '$schema') return undefined
  if (key === 'is_active' && value === true) return undefined
  return { code: 'invalid_value', path, message: describeRestriction(shortened(key), restriction) }
}

const shortened = (key: string): string =>
  key.length <= 60 ? key : `${key.slice(0, 60).toWellFormed()}…`

/** The name of a key that restricts, of which another name may be a misspelling; itself where it is one. */
const restrictionLike = (name: string): string | undefined =>
  RESTRICTING_KEYS.has(name) ? name : restrictionMeant(name)

const restrictionMeant = findMisspelt(RESTRICTING_KEYS.keys())

const describeRestriction = (name: string, restriction: string): string => {
  const places = RESTRICTING_KEYS.get(restriction) ?? []
  const where = places.join(', ').replace(/, ([^,]*)$/, ' or $1')
  return name === restriction
    ? `'${name}' belongs to ${where}: here it would restrict nothing`
    : `There is no property '${name}' here; did you mean '${restriction}'? It restricts, so a misspelling is an error; it belongs to ${where}`
}

/**
 * The names of the keys of a document that restrict, sorted. All that there are where an expression gives an object, since
 * its keys may be made of a text or a Secret.
 * @example restrictingKeysOf({ …, security: { type: 'basic' } }) // ['security']
 */
export const restrictingKeysOf = (document: unknown): readonly string[] => {
  const found = new Set<string>()
  visit(document, '', DOCUMENT, {
    known: (name, { restricts }) => {
      if (restricts) found.add(name)
    },
    given: () => {
      for (const name of RESTRICTING_KEYS.keys()) found.add(name)
    },
  })
  // `variables.security` of the API is a default.
  if (memberAt(mapAt(asMap(document), 'variables'), 'security') !== undefined) found.add('security')
  return [...found].sort()
}

const asMap = (value: unknown): ValueMap => (isMap(value) ? value : {})

const visit = (value: unknown, pointer: string, shape: Shape, visitor: Visitor): void => {
  if (Array.isArray(value)) visitEntries(value.entries(), pointer, shape.entries, visitor)
  else if (typeof value === 'string' && !isFree(shape)) visitor.given?.()
  else if (!isMap(value)) return
  else if (isFree(shape)) visitEntries(Object.entries(value), pointer, shape.entries, visitor)
  else visitProperties(value, pointer, shape, visitor)
}

const visitEntries = (
  entries: Iterable<readonly [string | number, unknown]>,
  pointer: string,
  shape: Shape | undefined,
  visitor: Visitor,
): void => {
  if (shape === undefined || isLeaf(shape)) return
  for (const [key, value] of entries) visit(value, childPointer(pointer, key), shape, visitor)
}

const visitProperties = (map: ValueMap, pointer: string, shape: Shape, visitor: Visitor): void => {
  const type = ownValue(map, 'type')
  const typed = typeof type === 'string' ? shape.byType.get(type) : undefined
  // If the type is unknown or missing, which is an error, the properties can't be checked.
  const isOfUnknownType = shape.byType.size > 0 && typed === undefined
  for (const [key, value] of Object.entries(map)) {
    const child = typed?.properties.get(key) ?? shape.properties.get(key)
    if (child !== undefined) {
      visitor.known?.(key, child)
      if (!isLeaf(child)) visit(value, childPointer(pointer, key), child, visitor)
    } else if (!isOfUnknownType || !isOfAnyType(shape, key))
      visitor.unknown?.(childPointer(pointer, key), [key, value], () => hint(key, shape, typed))
  }
}

const hint = (key: string, shape: Shape, typed: Shape | undefined): string =>
  hintFor(key, namesOf(shape, typed)) || hintOfType(shape, key)

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
  return { properties, byType, entries, restricts: asMap(schema)[RESTRICTS] === true }
}

/** A schema with all the schemas for the same value: its reference, and those that apply under a condition. */
const partsOf = (schema: unknown): readonly ValueMap[] => {
  if (!isMap(schema)) return []
  const reference = schema['$ref']
  const target = typeof reference === 'string' ? definition(reference) : undefined
  return [schema, ...partsOf(target), ...partsOf(schema['then']), ...partsOf(schema['else'])]
}

/** `allOf: [{ if: { properties: { type: { const } } }, then }]`: what each type brings along. */
const typeBranches = (schema: ValueMap): readonly (readonly [string, unknown])[] => {
  const branches: readonly unknown[] = Array.isArray(schema['allOf']) ? schema['allOf'] : []
  return branches.filter(isMap).flatMap((branch) => {
    const type = mapAt(mapAt(mapAt(branch, 'if'), 'properties'), 'type')['const']
    return typeof type === 'string' ? [[type, branch['then']] as const] : []
  })
}

const DEFINITIONS: Readonly<Record<string, unknown>> = DOCUMENT_SCHEMA.$defs

const definition = (reference: string): unknown => DEFINITIONS[reference.slice('#/$defs/'.length)]

const DOCUMENT = shapeOf(DOCUMENT_SCHEMA)
