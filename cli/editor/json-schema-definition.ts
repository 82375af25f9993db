// Builds the definition by which editors complete and check a JSON Schema within a document: the keywords that documents may
// use, with what each holds.

import { mapAt, textAt } from '../../language/expression/members.ts'
import { isMap, type ValueMap } from '../../language/expression/value.ts'
import { FORMATS } from '../../language/json-schema/formats.ts'
import {
  FURTHER_KEYWORDS,
  KEYWORDS,
  type KeywordShape,
  TYPES,
} from '../../language/json-schema/keywords.ts'
import { HOLDS_EXPRESSION, TEXT } from '../../language/schema/document-notation.ts'

export const JSON_SCHEMA = 'jsonSchema'

const SCHEMA = { $ref: `#/$defs/${JSON_SCHEMA}` }

/** Some type, or an expression that is known when the document is loaded. */
const orExpression = (type: string, more: ValueMap = {}): ValueMap => ({
  type: [type, 'string'],
  ...HOLDS_EXPRESSION,
  ...more,
})

const oneOf = (texts: readonly string[]): ValueMap => ({
  ...TEXT,
  anyOf: [{ enum: texts }, HOLDS_EXPRESSION],
})

const TEXTS = orExpression('array', { items: TEXT, uniqueItems: true })
const SCHEMAS = orExpression('array', { items: SCHEMA, minItems: 1 })
const BY_NAME = orExpression('object', { additionalProperties: SCHEMA })

const SHAPES = {
  schema: SCHEMA,
  schemas: SCHEMAS,
  schemasByName: BY_NAME,
  schemasByPattern: BY_NAME,
  types: { anyOf: [oneOf(TYPES), { type: 'array', items: oneOf(TYPES), minItems: 1 }] },
  texts: TEXTS,
  textsByName: orExpression('object', { additionalProperties: TEXTS }),
  values: orExpression('array', { minItems: 1 }),
  value: {},
  count: orExpression('integer', { minimum: 0 }),
  number: orExpression('number'),
  positive: orExpression('number', { exclusiveMinimum: 0 }),
  boolean: orExpression('boolean'),
  text: TEXT,
  pattern: TEXT,
  format: oneOf(Object.keys(FORMATS)),
  reference: { ...TEXT, pattern: '^#|\\{\\{' },
  dialect: TEXT,
} as const satisfies Record<KeywordShape, ValueMap>

/** A closed schema of schemas: a misspelt keyword is an error when the document is loaded, too. */
export const jsonSchemaDefinition = (): ValueMap => ({
  type: ['object', 'boolean', 'string'],
  ...HOLDS_EXPRESSION,
  description:
    'A JSON Schema (2020-12), or an expression that is known when the document is loaded.',
  properties: Object.fromEntries(
    Object.entries({ ...KEYWORDS, ...FURTHER_KEYWORDS }).map(([name, shape]) => [
      name,
      SHAPES[shape],
    ]),
  ),
  additionalProperties: false,
})

/** The definitions of documents with that one wherever a JSON Schema stands. */
export const withJsonSchemas = (definitions: ValueMap): ValueMap => {
  const schemas = mapAt(definitions, 'schemas')
  const entries = Object.entries(mapAt(schemas, 'properties')).map(
    ([name, entry]) =>
      [name, { ...SCHEMA, description: isMap(entry) ? textAt(entry, 'description') : '' }] as const,
  )
  return { ...definitions, schemas: { ...schemas, properties: Object.fromEntries(entries) } }
}
