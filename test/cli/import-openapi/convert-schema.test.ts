// Tests which JSON Schemas stand for schemas of OpenAPI, and that leaving something out never refuses more.

import { expect, it } from '@jest/globals'
import { convertSchema } from '../../../cli/import-openapi/convert-schema.ts'
import type { Dialect } from '../../../cli/import-openapi/description.ts'
import type { Value, ValueMap } from '../../../language/expression/value.ts'
import { checkSchema } from '../../../language/json-schema/check-schema.ts'

const convert = (schema: Value, dialect: Dialect = '3.0', schemas: ValueMap = {}) => {
  const dropped: string[] = []
  const description = { root: { components: { schemas } }, dialect, budget: { bytes: 10_000 } }
  const converted = convertSchema(
    { description, unsent: 'readOnly', pointer: '', build: (convert) => convert(schema, '') },
    (pointer) => dropped.push(pointer),
  )
  return { converted, dropped: [...new Set(dropped)] }
}

const BAD = { type: 'string', pattern: '(?=a)' }
const LOOSE = { type: 'string' }

it.each<[string, Value, Value, Dialect?]>([
  ['nullable', { type: 'string', nullable: true }, { type: ['string', 'null'] }],
  ['x-nullable', { type: 'string', 'x-nullable': true }, { type: ['string', 'null'] }, '2.0'],
  [
    'nullable with enum',
    { type: 'string', enum: ['a'], nullable: true },
    { type: ['string', 'null'], enum: ['a', null] },
  ],
  [
    'nullable without a type',
    { nullable: true, allOf: [{ minLength: 1 }] },
    { anyOf: [{ allOf: [{ minLength: 1 }] }, { type: 'null' }] },
  ],
  ['excluded bounds', { minimum: 1, exclusiveMinimum: true }, { exclusiveMinimum: 1 }],
  ['bounds not excluded', { maximum: 1, exclusiveMaximum: false }, { maximum: 1 }],
  ['bounds of 2020-12', { exclusiveMinimum: 1 }, { exclusiveMinimum: 1 }, '3.1'],
  ['an example', { example: 1 }, { examples: [1] }],
  ['null types', { type: ['string', 'null'] }, { type: ['string', 'null'] }, '3.1'],
  [
    'what is read-only and required',
    { required: ['id', 'a'], properties: { id: { readOnly: true }, a: {} } },
    { required: ['a'], properties: { id: { readOnly: true }, a: {} } },
  ],
  ['a property named like a keyword', { properties: { not: {} } }, { properties: { not: {} } }],
])('%s is kept whole', (_, schema, converted, dialect = '3.0') => {
  expect(convert(schema, dialect)).toEqual({ converted, dropped: [] })
})

it.each<[string, Value, Value | undefined, readonly string[]]>([
  ['formats of numbers', { type: 'integer', format: 'int32' }, { type: 'integer' }, ['/format']],
  ['discriminators', { discriminator: { propertyName: 'a' } }, {}, ['/discriminator']],
  ['xml', { properties: { a: { xml: {} } } }, { properties: { a: {} } }, ['/properties/a/xml']],
  ['files', { type: 'file' }, {}, ['']],
  ['expressions', { enum: ['{{x}}'] }, {}, ['/enum']],
  ['references outside', { $ref: 'other.yaml#/A' }, {}, ['/$ref']],
  ['references to nothing', { $ref: '#/components/schemas/None' }, {}, ['/$ref']],
  ['patterns that look ahead', BAD, LOOSE, ['/pattern']],
  ['what is no schema', { items: 'text' }, { items: {} }, ['/items']],
  ['what is no number', { maxLength: 'x', minLength: 1 }, { minLength: 1 }, ['']],
  ['schemas of another form', { properties: ['a'] }, undefined, ['']],
  ['all that depends by not', { not: BAD }, {}, ['/not/pattern', '/not']],
  [
    'all that depends by if',
    { if: BAD, then: {}, else: false },
    {},
    ['/if/pattern', '/if', '/then', '/else'],
  ],
  [
    'contains',
    { contains: BAD, maxContains: 1 },
    {},
    ['/contains/pattern', '/contains', '/maxContains'],
  ],
  ['one of', { oneOf: [BAD, LOOSE] }, { anyOf: [LOOSE, LOOSE] }, ['/oneOf/0/pattern', '/oneOf']],
  [
    'names by pattern, and the refusal of others',
    { patternProperties: { '(?=a)': {} }, additionalProperties: false },
    { patternProperties: {} },
    ['/patternProperties/(?=a)'],
  ],
  [
    'double negation',
    { not: { properties: { a: { not: BAD } } } },
    {},
    ['/not/properties/a/not/pattern', '/not'],
  ],
])('%s are left out and listed', (_, schema, converted, dropped) => {
  expect(convert(schema)).toEqual({ converted, dropped })
})

it('what is referred to stands in $defs, also where it refers to itself', () => {
  const Node = { properties: { next: { $ref: '#/components/schemas/Node' } } }
  const { converted, dropped } = convert({ $ref: '#/components/schemas/Node' }, '3.0', { Node })
  const own = { $ref: '#/$defs/Node' }
  expect({ converted, dropped }).toEqual({
    converted: { ...own, $defs: { Node: { properties: { next: own } } } },
    dropped: [],
  })
  expect(checkSchema(converted ?? true)).toEqual([])
})

it('a schema that is nothing but a reference to itself allows anything', () => {
  const schemas = { A: { $ref: '#/components/schemas/B' }, B: { $ref: '#/components/schemas/A' } }
  const { converted, dropped } = convert({ $ref: '#/components/schemas/A' }, '3.0', schemas)
  expect(checkSchema(converted ?? true)).toEqual([])
  expect(dropped).not.toEqual([])
})

it('what is left out of a definition loosens those that use it', () => {
  const schemas = { Bad: BAD }
  const { converted } = convert({ not: { $ref: '#/components/schemas/Bad' } }, '3.0', schemas)
  expect(converted).toEqual({})
})

it.each<[Dialect, Value]>([
  ['3.0', { $ref: '#/components/schemas/A' }],
  ['3.1', { $ref: '#/components/schemas/A', minLength: 1 }],
])('in %s keywords beside a reference count as the version says', (dialect, expected) => {
  const schema = { $ref: '#/components/schemas/A', minLength: 1 }
  const { converted } = convert(schema, dialect, { A: {} })
  expect(converted).toEqual({
    ...(expected as ValueMap),
    $ref: '#/$defs/A',
    $defs: { A: {} },
  })
})

it('a schema that stands for too many is left out as a whole', () => {
  const properties = Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`p${at}`, {}]))
  expect(convert({ properties })).toEqual({ converted: undefined, dropped: [''] })
})
