// Turns the parameters of an OpenAPI operation into schemas of bindings, query parameters and headers. A schema of a text
// that is read in another way here is left out, as it would refuse what the description allows.

import { childPointer } from '../../base/json-pointer.ts'
import { listAt, memberAt, textAt } from '../../language/expression/members.ts'
import { ownValue } from '../../language/expression/lookup.ts'
import { isList, setOwn, type Value, type ValueMap } from '../../language/expression/value.ts'
import { KEYWORDS } from '../../language/json-schema/keywords.ts'
import { convertSchema, type Loose } from './convert-schema.ts'
import { type Description, type Drop, follow, type Placed, simplify } from './description.ts'

const ENTRIES = { path: 'bindings', query: 'query_params', header: 'headers' } as const
type Entry = (typeof ENTRIES)[keyof typeof ENTRIES]

export interface Parameter extends Placed<ValueMap> {
  readonly entry: Entry
  /** As it is named in the schema. */
  readonly name: string
  readonly isRequired: boolean
}

/** Those are described elsewhere (specification of OpenAPI, Parameter Object). */
const IGNORED_HEADERS: ReadonlySet<string> = new Set(['accept', 'content-type', 'authorization'])

/**
 * Those of a path and an operation together: the latter replaces the former of the same name and place.
 * @param bindings name of a parameter of the path → name of its binding
 */
export const parametersOf = (
  description: Description,
  holders: readonly Placed<ValueMap>[],
  bindings: ReadonlyMap<string, string>,
  drop: Drop,
): readonly Parameter[] => {
  const found = new Map<string, Parameter>()
  for (const placed of writtenParameters(description, holders, drop)) {
    const parameter = readParameter(placed, bindings, drop)
    if (parameter !== undefined) found.set(`${parameter.entry} ${parameter.name}`, parameter)
  }
  return [...found.values()]
}

/** Parameters as they are written, those of the operation last. */
export const writtenParameters = (
  description: Description,
  holders: readonly Placed<ValueMap>[],
  drop: Drop,
): readonly Placed<ValueMap>[] =>
  holders.flatMap(({ value, pointer }) =>
    listAt(value, 'parameters').flatMap((each, at) => {
      const place = childPointer(childPointer(pointer, 'parameters'), at)
      const placed = follow(description, { value: each, pointer: place })
      if (placed === undefined) drop(place, 'there is no parameter in this file at this reference')
      return placed ?? []
    }),
  )

const readParameter = (
  placed: Placed<ValueMap>,
  bindings: ReadonlyMap<string, string>,
  drop: Drop,
): Parameter | undefined => {
  const { value, pointer } = placed
  const place = textAt(value, 'in')
  if (place === 'body' || place === 'formData') return undefined
  if (place !== 'path' && place !== 'query' && place !== 'header') {
    drop(pointer, 'only parameters of path, query and headers are checked')
    return undefined
  }
  const written = textAt(value, 'name')
  const name = { path: bindings.get(written), query: written, header: written.toLowerCase() }[place]
  if (name === undefined) drop(pointer, 'the path has no such parameter')
  if (name === undefined || (place === 'header' && IGNORED_HEADERS.has(name))) return undefined
  const isRequired = place !== 'path' && ownValue(value, 'required') === true
  return { ...placed, entry: ENTRIES[place], name, isRequired }
}

/** `schema` of the operation, without `body` and `result`. */
export const parameterSchemas = (
  description: Description,
  parameters: readonly Parameter[],
  drop: Drop,
): ValueMap => {
  const schemas: Loose = {}
  for (const entry of Object.values(ENTRIES)) {
    const own = parameters.filter((parameter) => parameter.entry === entry)
    const typed = own.flatMap((parameter) => {
      const schema = schemaOf(description, parameter, drop)
      return schema === undefined ? [] : [{ name: parameter.name, schema }]
    })
    const required = own.filter(({ isRequired }) => isRequired).map(({ name }) => name)
    if (typed.length === 0 && required.length === 0) continue
    const schema = convertSchema(
      {
        description,
        unsent: 'readOnly',
        pointer: own[0]?.pointer ?? '',
        build: (convert) => {
          const properties: Loose = {}
          for (const {
            name,
            schema: { value, pointer },
          } of typed)
            setOwn<Value>(properties, name, convert(value, pointer))
          return {
            ...(typed.length > 0 && { properties }),
            ...(required.length > 0 && { required }),
          }
        },
      },
      drop,
    )
    if (schema !== undefined) schemas[entry] = schema
  }
  return schemas
}

/** Undefined: any text may be there. */
const schemaOf = (
  description: Description,
  parameter: Parameter,
  drop: Drop,
): Placed | undefined => {
  const { value, pointer } = parameter
  const given: Placed =
    description.dialect === '2.0'
      ? { value: keywordsOf(value), pointer }
      : { value: memberAt(value, 'schema') ?? true, pointer: childPointer(pointer, 'schema') }
  if (memberAt(value, 'content') !== undefined) {
    drop(childPointer(pointer, 'content'), 'a parameter with a media type is not decoded')
    return undefined
  }
  if (given.value === true) return undefined
  const plain = simplify(description, given)
  const reason = misfit(description, plain.value, parameter)
  if (reason === undefined) return plain
  drop(given.pointer, reason)
  return undefined
}

const COMBINING = ['allOf', 'anyOf', 'oneOf', 'not', 'if']

const misfit = (
  description: Description,
  schema: Value,
  { value, entry }: Parameter,
): string | undefined => {
  const types = typesOf(schema)
  if (ownValue(value, 'allowEmptyValue') === true) return 'it may be empty'
  if (types.length === 0 || COMBINING.some((name) => ownValue(schema, name) !== undefined))
    return 'it does not say by one type what the text stands for'
  if (types.includes('object')) return 'a map is not read from a parameter'
  if (entry === 'headers' && types.some((type) => type !== 'string'))
    return 'headers are texts here'
  return types.includes('array') ? misfitOfList(description, schema, { value, entry }) : undefined
}

const misfitOfList = (
  description: Description,
  schema: Value,
  { value, entry }: Pick<Parameter, 'value' | 'entry'>,
): string | undefined => {
  if (entry !== 'query_params' || !isRepeated(description, value))
    return 'a list is read from repeated query parameters alone'
  const items = follow(description, { value: ownValue(schema, 'items') ?? null, pointer: '' })
  const types = typesOf(items?.value ?? {})
  return types.length === 0 || types.includes('array') || types.includes('object')
    ? 'the elements are no plain values'
    : undefined
}

const isRepeated = ({ dialect }: Description, parameter: ValueMap): boolean => {
  if (dialect === '2.0') return textAt(parameter, 'collectionFormat') === 'multi'
  const style = textAt(parameter, 'style')
  return (style === '' || style === 'form') && ownValue(parameter, 'explode') !== false
}

const typesOf = (schema: Value): readonly Value[] => {
  const type = ownValue(schema, 'type') ?? []
  return (isList(type) ? type : [type]).filter((each) => each !== 'null')
}

/** In 2.0 the keywords stand in the parameter itself, where `required` is of the parameter. */
const keywordsOf = (parameter: ValueMap): ValueMap => {
  const schema: Loose = {}
  for (const [name, each] of Object.entries(parameter))
    if (name !== 'required' && (Object.hasOwn(KEYWORDS, name) || name === 'default'))
      setOwn<Value>(schema, name, each)
  return schema
}
