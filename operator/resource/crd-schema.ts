// Turns a shape into the structural OpenAPI schema that an API server accepts for it. Adds nothing that the shape does
// not say.

import type { Value, ValueMap } from '../../language/expression/value.ts'
import {
  type Field,
  type ListShape,
  type ObjectShape,
  type OpenShape,
  SECRET_REFERENCE,
  type Shape,
  type StringShape,
} from './shape.ts'

/**
 * @example fieldSchema({shape: TEXT, description: 'For people.'})
 * // {description: 'For people.', type: 'string', minLength: 1}
 */
export const fieldSchema = (field: Field): ValueMap => ({
  description: field.description,
  ...(field.default !== undefined && { default: field.default }),
  ...shapeSchema(field.shape),
})

const shapeSchema = (shape: Shape): ValueMap => ({
  ...typeSchema(shape),
  ...(shape.rules !== undefined && {
    'x-kubernetes-validations': shape.rules.map((rule) => ({ ...rule })),
  }),
})

const typeSchema = (shape: Shape): ValueMap => {
  switch (shape.type) {
    case 'string':
      return stringSchema(shape)
    case 'integer':
      return {
        type: 'integer',
        format: 'int64',
        ...(shape.minimum !== undefined && { minimum: shape.minimum }),
      }
    case 'boolean':
      return { type: 'boolean' }
    case 'secret':
      // A structural schema can't say "a text or a map": the guard rejects what is neither.
      return shape.inline ? { [PRESERVE]: true } : objectSchema(SECRET_REFERENCE)
    case 'list':
      return listSchema(shape)
    case 'map':
      return {
        type: 'object',
        ...(shape.maxEntries !== undefined && { maxProperties: shape.maxEntries }),
        additionalProperties: shapeSchema(shape.of),
      }
    case 'object':
      return objectSchema(shape)
    case 'open':
      return openSchema(shape)
  }
}

const PRESERVE = 'x-kubernetes-preserve-unknown-fields'

const stringSchema = ({ oneOf, maxLength, mayBeEmpty, format }: StringShape): ValueMap => ({
  type: 'string',
  ...(oneOf !== undefined && { enum: [...oneOf] }),
  ...(format !== undefined && { format }),
  ...(mayBeEmpty !== true && oneOf === undefined && format === undefined && { minLength: 1 }),
  ...(maxLength !== undefined && { maxLength }),
})

const listSchema = ({ of, maxItems, keys }: ListShape): ValueMap => ({
  type: 'array',
  ...(maxItems !== undefined && { maxItems }),
  'x-kubernetes-list-type': keys === undefined ? 'atomic' : 'map',
  ...(keys !== undefined && { 'x-kubernetes-list-map-keys': [...keys] }),
  items: shapeSchema(of),
})

const objectSchema = ({ fields, isAtomic }: ObjectShape): ValueMap => {
  const required = Object.keys(fields).filter((name) => fields[name]?.required === true)
  return {
    type: 'object',
    ...(isAtomic === true && ATOMIC),
    ...(required.length > 0 && { required }),
    properties: properties(fields),
  }
}

const openSchema = ({ isAtomic, known }: OpenShape): ValueMap => ({
  type: 'object',
  ...(isAtomic === true && ATOMIC),
  [PRESERVE]: true,
  ...(known !== undefined && { properties: properties(known) }),
})

const ATOMIC = { 'x-kubernetes-map-type': 'atomic' }

const properties = (fields: Readonly<Record<string, Field>>): Record<string, Value> =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, fieldSchema(field)]))
