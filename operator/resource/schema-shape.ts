// Turns the schema of a realm record into the shape of the same in a resource: names in camelCase, secrets by
// reference, no text empty. Patterns, counts and largest values are left to the schema, which validates the record.

import {
  type LeafSchema,
  mapValues,
  type ObjectSchema,
  type ValueSchema,
} from '../../language/schema/realm-notation.ts'
import type { ObjectShape, Shape } from './shape.ts'

/**
 * @example objectShape({ type: 'object', properties: { call_timeout: TIMEOUT } }).fields // { callTimeout: … }
 */
export const objectShape = ({ properties, required = [] }: ObjectSchema): ObjectShape => ({
  type: 'object',
  fields: Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [
      camelCase(name),
      {
        shape: shapeOf(property),
        description: property['x-explain'] ?? property.description,
        ...(required.includes(name) && { required: true }),
      },
    ]),
  ),
})

const shapeOf = (schema: ValueSchema): Shape => {
  if ('x-sensitivity' in schema) return leafShape(schema)
  if ('items' in schema) return { type: 'list', of: shapeOf(schema.items) }
  if ('properties' in schema) return objectShape(schema)
  return { type: 'map', of: shapeOf(mapValues(schema)) }
}

const leafShape = (schema: LeafSchema): Shape => {
  const sensitivity = schema['x-sensitivity']
  if (sensitivity === 'secret' || sensitivity === 'hash') {
    return { type: 'secret', inline: sensitivity === 'hash' }
  }
  const { type, enum: oneOf, minimum, maxLength } = schema
  const rules = schema['x-kubernetes-validations']
  const ruled = rules === undefined ? {} : { rules }
  if (type === 'boolean') return { type, ...ruled }
  if (type === 'integer') return { type, ...ruled, ...(minimum !== undefined && { minimum }) }
  if (type === 'object') return { type: 'open', ...ruled }
  return {
    type: 'string',
    ...ruled,
    ...(oneOf !== undefined && { oneOf }),
    ...(maxLength !== undefined && { maxLength }),
  }
}

/** @example camelCase('key_sha256') // 'keySha256' */
const camelCase = (name: string): string =>
  name.replaceAll(/_[a-z]/g, (letter) => letter.slice(1).toUpperCase())

/** @example snakeCase('keySha256') // 'key_sha256' */
export const snakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
