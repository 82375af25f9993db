// Puts the JSON Schemas of an operation into its OpenAPI description, where references within a schema lead to the schema
// among the components.

import { childPointer } from '../../base/json-pointer.ts'
import type { CompiledSchemas, SchemaEntry } from '../compile/compiled.ts'
import { ownValue } from '../expression/lookup.ts'
import { listAt, mapAt } from '../expression/members.ts'
import { isList, isMap, setOwn, type Value, type ValueMap } from '../expression/value.ts'
import { resolveReference } from '../json-schema/reference.ts'

/** The schemas of an operation as OpenAPI has them. */
export interface DescribedSchemas {
  readonly body: Value | undefined
  /** Parameters that a schema declares, by name, with whether they are required. */
  readonly parametersOf: (
    entry: Exclude<SchemaEntry, 'body'>,
  ) => ReadonlyMap<string, { readonly schema: Value; readonly isRequired: boolean }>
  /** What is said of a member of `action.result`; undefined: nothing. */
  readonly resultAt: (keys: readonly string[]) => Value | undefined
  /** `components.schemas`: those that have references within them. */
  readonly components: ValueMap
}

/** @param operationId begins the names of components */
export const describeSchemas = (
  schemas: CompiledSchemas = {},
  operationId: string,
): DescribedSchemas => {
  const components: Record<string, Value> = {}
  const placed = (entry: SchemaEntry | 'result'): Value | undefined => {
    const schema = schemas[entry]
    if (schema === undefined || !hasReference(schema)) return schema
    const name = `${operationId}_${entry}`
    components[name] ??= withoutRootReference(
      withReferences(schema, `#/components/schemas/${name}`),
    )
    return components[name]
  }
  const whole = placed('body')
  const name = `${operationId}_body`
  const body = components[name] === undefined ? whole : { $ref: `#/components/schemas/${name}` }
  const parametersOf: DescribedSchemas['parametersOf'] = (entry) => {
    const schema = placed(entry)
    if (schema === undefined || !isMap(schema)) return new Map()
    const required = listAt(schema, 'required')
    return new Map(
      Object.entries(mapAt(schema, 'properties')).map(([name, property]) => [
        name,
        { schema: toMap(property), isRequired: required.includes(name) },
      ]),
    )
  }
  const resultAt: DescribedSchemas['resultAt'] = (keys) => {
    const { result = true } = schemas
    const pointer = pointerOfMember(result, keys)
    if (pointer === undefined || schemas.result === undefined) return undefined
    const found = resolveReference(result, pointer) ?? true
    return hasReference(found)
      ? { $ref: `#/components/schemas/${operationId}_result${pointer.slice(1)}` }
      : toMap(found)
  }
  for (const entry of ['query_params', 'bindings', 'headers', 'result'] as const) placed(entry)
  return { body, parametersOf, resultAt, components }
}

/** Where the schema of a member of members stands: `#/properties/body`. */
const pointerOfMember = (root: Value, keys: readonly string[]): string | undefined => {
  let pointer = '#'
  for (const key of keys) {
    let schema = resolveReference(root, pointer)
    // No schema leads to itself by references alone: it was checked.
    for (let to = ownValue(schema, '$ref'); typeof to === 'string'; to = ownValue(schema, '$ref')) {
      pointer = to
      schema = resolveReference(root, pointer)
    }
    if (ownValue(ownValue(schema, 'properties'), key) === undefined) return undefined
    pointer = childPointer(`${pointer}/properties`, key.replaceAll('%', '%25'))
  }
  return pointer
}

/** Some readers of OpenAPI take a schema with a reference for nothing but the reference, and lose its `$defs`. */
const withoutRootReference = (schema: Value): Value => {
  if (!isMap(schema) || !Object.hasOwn(schema, '$ref')) return schema
  const { $ref = '', ...rest } = schema
  return { ...rest, allOf: [...listAt(rest, 'allOf'), { $ref }] }
}

/** The same for some that know no `true` and `false`. */
const toMap = (schema: Value): Value =>
  typeof schema === 'boolean' ? (schema ? {} : { not: {} }) : schema

/** What stands under these is data. */
const DATA: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples'])
/** Their members are schemas by name. */
const BY_NAME: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  '$defs',
])

const hasReference = (schema: Value): boolean =>
  JSON.stringify(schema) !== JSON.stringify(withReferences(schema, '#/components/schemas/_'))

/** `#/$defs/a` leads to the same schema from the place where it stands now. */
const withReferences = (schema: Value, base: string): Value => {
  if (isList(schema)) return schema.map((each) => withReferences(each, base))
  if (!isMap(schema)) return schema
  return mapEntries(schema, (name, value) => {
    if (name === '$ref' && typeof value === 'string') return `${base}${value.slice(1)}`
    if (DATA.has(name)) return value
    return BY_NAME.has(name) && isMap(value)
      ? mapEntries(value, (_, each) => withReferences(each, base))
      : withReferences(value, base)
  })
}

const mapEntries = (map: ValueMap, change: (name: string, value: Value) => Value): ValueMap => {
  const changed: Record<string, Value> = {}
  for (const [name, value] of Object.entries(map)) setOwn(changed, name, change(name, value))
  return changed
}
