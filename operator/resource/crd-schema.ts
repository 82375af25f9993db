// Turns the schema of a resource into the structural OpenAPI schema that an API server accepts for it. Adds nothing but
// what the server wants to have said.

import type { Value, ValueMap } from '../../language/expression/value.ts'
import { type ResourceSchema, SECRET_REFERENCE } from './resource-schema.ts'

/**
 * @example structuralSchema({ ...TEXTS, description: 'Hosts.' }) // { description: 'Hosts.', type: 'array', … }
 */
export const structuralSchema = (schema: ResourceSchema): ValueMap => {
  const whole: Readonly<Record<string, Value | undefined>> = {
    // Data of interfaces; JSON all the same.
    ...(schema as unknown as ValueMap),
    ...replaced(schema),
  }
  return Object.fromEntries(
    KEYWORDS.flatMap((keyword) => {
      const value = whole[keyword]
      return value === undefined ? [] : [[keyword, value] as const]
    }),
  )
}

/** All that an API server knows, in the order in which a definition shows it. */
const KEYWORDS = [
  'description',
  'default',
  'type',
  'enum',
  'format',
  'minimum',
  'minLength',
  'maxLength',
  'maxItems',
  'maxProperties',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
  'x-kubernetes-preserve-unknown-fields',
  'required',
  'properties',
  'items',
  'additionalProperties',
  'x-kubernetes-validations',
] as const

const replaced = (schema: ResourceSchema): ValueMap => {
  // A structural schema can't say "a text or a map": the guard rejects what is neither.
  if ('x-sensitivity' in schema)
    return schema['x-sensitivity'] === 'hash'
      ? { 'x-kubernetes-preserve-unknown-fields': true }
      : structuralSchema(SECRET_REFERENCE)
  // Nor a text or a list: a gateway rejects what is neither.
  if ('x-texts' in schema) return { 'x-kubernetes-preserve-unknown-fields': true }
  if (schema.type === 'integer') return { format: 'int64' }
  if (schema.type === 'array')
    return {
      'x-kubernetes-list-type': 'x-kubernetes-list-map-keys' in schema ? 'map' : 'atomic',
      items: structuralSchema(schema.items),
    }
  if ('additionalProperties' in schema)
    return { additionalProperties: structuralSchema(schema.additionalProperties) }
  if ('properties' in schema)
    return {
      properties: Object.fromEntries(
        Object.entries(schema.properties).map(([name, each]) => [name, structuralSchema(each)]),
      ),
    }
  return {}
}
