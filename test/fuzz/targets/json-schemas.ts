// JSON Schemas and values of anybody: a schema is refused or its check ends within its bound, with no error but those of the
// record, and whether a value is valid is what ajv says.

import { Ajv2020 } from 'ajv/dist/2020.js'
import { parseJson } from '../../../base/parse-json.ts'
import { isList, isMap, type Value } from '../../../language/expression/value.ts'
import { checkSchema } from '../../../language/json-schema/check-schema.ts'
import { compileValidator } from '../../../language/json-schema/compile-validator.ts'
import type { FuzzTarget } from '../fuzz.ts'
import { mutateBytes } from '../mutate.ts'

/** Of a text `[schema, value, …]`. */
const readCase = (input: Buffer): readonly Value[] | undefined => {
  try {
    const read = parseJson(input.toString()) as Value
    return isList(read) ? read : undefined
  } catch {
    return undefined
  }
}

/** ajv compiles code without a bound, and knows formats by another package. */
const isComparable = (schema: Value): boolean =>
  !/"(?:\$ref|format|multipleOf)"/.test(JSON.stringify(schema))

const validByAjv = (schema: Value): ((value: Value) => boolean) | undefined => {
  if (typeof schema !== 'boolean' && !isMap(schema)) return undefined
  const options = { strict: false, meta: false, validateSchema: false, logger: false } as const
  return new Ajv2020(options).compile(schema)
}

const check = (input: Buffer): string => {
  const [schema, ...values] = readCase(input) ?? []
  if (schema === undefined) return 'no case'
  const [problem] = checkSchema(schema)
  if (problem !== undefined) return `refused: ${problem.message.replace(/'[^']*'/g, 'X')}`
  const validate = compileValidator(schema)
  const reference = isComparable(schema) ? validByAjv(schema) : undefined
  const verdicts = values.map((value) => {
    const errors = validate(value)
    if (errors === 'too_expensive') return errors
    if (reference !== undefined && reference(value) !== (errors.length === 0))
      throw new Error(`ajv says otherwise of ${JSON.stringify(value)}`)
    for (const { pointer } of errors)
      if (pointer !== '' && !pointer.startsWith('/')) throw new Error('no pointer')
    return errors.length === 0 ? 'valid' : errors[0]?.keyword
  })
  return `checked: ${[...new Set(verdicts)].sort().join(' ')}`
}

const VALUES = [1, 'a', 'ab', [1, 'a', 1], { a: 1, b: { a: [] } }, null, true]

export const jsonSchemas: FuzzTarget = {
  name: 'json-schemas',
  seeds: [
    { type: 'object', properties: { a: { type: 'integer', minimum: 1 } }, required: ['b'] },
    { anyOf: [{ type: 'string', pattern: '^a(b|c)?$' }, { items: { enum: [1, 'a'] } }] },
    { patternProperties: { '^a': { not: { const: 2 } } }, additionalProperties: false },
    { allOf: [{ properties: { a: true } }], unevaluatedProperties: { type: 'object' } },
    { prefixItems: [{ const: 1 }], contains: { type: 'string' }, maxContains: 1 },
    { if: { required: ['a'] }, then: { minProperties: 2 }, else: { maxLength: 1 } },
    { $defs: { n: { properties: { b: { $ref: '#/$defs/n' } } } }, $ref: '#/$defs/n' },
    { dependentRequired: { a: ['b'] }, propertyNames: { maxLength: 1 }, uniqueItems: true },
  ].map((schema) => Buffer.from(JSON.stringify([schema, ...VALUES]))),
  mutate: (input, random, pool) =>
    mutateBytes(input, {
      random,
      pool,
      tokens: [
        '{"$ref":"#"}',
        '"$ref":"#/$defs/n",',
        '"items":',
        '"not":',
        '"unevaluatedItems":false,',
        '"type":"number",',
        '"pattern":"(a*)*b",',
        '"__proto__":',
        '"constructor":',
        '"oneOf":[{},{}],',
        'false',
        '[[]]',
        '{}',
        '-0',
        '1e300',
      ],
    }),
  open: () => ({ check }),
}
