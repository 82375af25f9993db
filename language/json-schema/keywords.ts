// Lists the keywords of JSON Schema 2020-12 that documents may use, with what each holds.

export type KeywordShape =
  | 'schema'
  | 'schemas'
  | 'schemasByName'
  | 'schemasByPattern'
  | 'types'
  | 'texts'
  | 'textsByName'
  | 'values'
  | 'value'
  | 'count'
  | 'number'
  | 'positive'
  | 'boolean'
  | 'text'
  | 'pattern'
  | 'format'
  | 'reference'
  | 'dialect'

/** In the order in which they are checked: those that ask what the others have looked at come last. */
export const KEYWORDS = {
  type: 'types',
  enum: 'values',
  const: 'value',
  multipleOf: 'positive',
  maximum: 'number',
  exclusiveMaximum: 'number',
  minimum: 'number',
  exclusiveMinimum: 'number',
  maxLength: 'count',
  minLength: 'count',
  pattern: 'pattern',
  format: 'format',
  maxItems: 'count',
  minItems: 'count',
  uniqueItems: 'boolean',
  maxProperties: 'count',
  minProperties: 'count',
  required: 'texts',
  dependentRequired: 'textsByName',
  $ref: 'reference',
  allOf: 'schemas',
  anyOf: 'schemas',
  oneOf: 'schemas',
  not: 'schema',
  if: 'schema',
  dependentSchemas: 'schemasByName',
  propertyNames: 'schema',
  properties: 'schemasByName',
  patternProperties: 'schemasByPattern',
  additionalProperties: 'schema',
  prefixItems: 'schemas',
  items: 'schema',
  contains: 'schema',
  unevaluatedProperties: 'schema',
  unevaluatedItems: 'schema',
} as const satisfies Readonly<Record<string, KeywordShape>>

export type Keyword = keyof typeof KEYWORDS

/** Those that another keyword reads, or nothing does. */
export const FURTHER_KEYWORDS: Readonly<Record<string, KeywordShape>> = {
  then: 'schema',
  else: 'schema',
  minContains: 'count',
  maxContains: 'count',
  $defs: 'schemasByName',
  $schema: 'dialect',
  $comment: 'text',
  title: 'text',
  description: 'text',
  default: 'value',
  examples: 'values',
  deprecated: 'boolean',
  readOnly: 'boolean',
  writeOnly: 'boolean',
}

/** A keyword does nothing without the other one. */
export const NEEDED: Readonly<Record<string, string>> = {
  then: 'if',
  else: 'if',
  minContains: 'contains',
  maxContains: 'contains',
}

/** Keywords whose schemas look at the same value, not at a part of it. */
export const IN_PLACE: ReadonlySet<string> = new Set([
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentSchemas',
])

export const TYPES = ['null', 'boolean', 'integer', 'number', 'string', 'array', 'object'] as const
