import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Value } from '../../../language/expression/value.ts'
import { checkSchema } from '../../../language/json-schema/check-schema.ts'
import { compileValidator } from '../../../language/json-schema/compile-validator.ts'

const errorsOf = (schema: Value, value: Value): unknown => {
  expect(checkSchema(schema)).toEqual([])
  return compileValidator(schema)(value)
}

describe('a validator', () => {
  it.each<[string, Value, Value, unknown]>([
    ['takes what has the type', { type: 'integer' }, 1.0, []],
    [
      'names place and keyword',
      { properties: { a: { type: 'integer' } } },
      { a: 'secret' },
      [{ pointer: '/a', keyword: 'type' }],
    ],
    [
      'names the member that is missing',
      { required: ['a', 'b'] },
      { b: 1 },
      [{ pointer: '', keyword: 'required', property: 'a' }],
    ],
    [
      'names all errors',
      { properties: { a: { minimum: 2 }, b: { maxLength: 1 } }, additionalProperties: false },
      { a: 1, b: 'bb', c: 1 },
      [
        { pointer: '/a', keyword: 'minimum' },
        { pointer: '/b', keyword: 'maxLength' },
        { pointer: '', keyword: 'additionalProperties', property: 'c' },
      ],
    ],
    [
      'escapes names in pointers',
      { properties: { 'a/b~': { const: 1 } } },
      { 'a/b~': 2 },
      [{ pointer: '/a~1b~0', keyword: 'const' }],
    ],
    [
      'finds members of the prototype missing',
      { required: ['constructor', '__proto__'] },
      {},
      [
        { pointer: '', keyword: 'required', property: 'constructor' },
        { pointer: '', keyword: 'required', property: '__proto__' },
      ],
    ],
    [
      'follows references to itself',
      { properties: { next: { $ref: '#' } }, required: ['id'] },
      { id: 1, next: { id: 2, next: {} } },
      [{ pointer: '/next/next', keyword: 'required', property: 'id' }],
    ],
    [
      'reports one error for alternatives',
      { anyOf: [{ type: 'string' }, { type: 'null' }] },
      1,
      [{ pointer: '', keyword: 'anyOf' }],
    ],
    [
      'knows bytes for no type of JSON',
      { type: ['string', 'object', 'array'] },
      new Uint8Array(1),
      [{ pointer: '', keyword: 'type' }],
    ],
    ['reports that nothing is valid', false, 1, [{ pointer: '', keyword: 'false' }]],
    [
      'finds equal values whatever the order of members',
      { uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      [{ pointer: '', keyword: 'uniqueItems' }],
    ],
    [
      'cuts long names',
      { properties: { x: true }, additionalProperties: false },
      { ['n'.repeat(200)]: 1 },
      [{ pointer: '', keyword: 'additionalProperties', property: `${'n'.repeat(99)}…` }],
    ],
  ])('%s', (_title, schema, value, expected) => {
    expect(errorsOf(schema, value)).toEqual(expected)
  })

  it('reports at most 100 errors', () => {
    const value = Array.from({ length: 5000 }, () => 'x')
    expect(errorsOf({ items: { type: 'number' } }, value)).toHaveLength(100)
  })

  const nested = (depth: number): Value => {
    let value: Value = {}
    for (let left = depth; left > 0; left--) value = { a: value }
    return value
  }

  it.each<[string, Value, Value]>([
    [
      'twice as many for each level',
      { properties: { a: { allOf: [{ $ref: '#' }, { $ref: '#' }] } } },
      nested(400),
    ],
    [
      'twice as many in alternatives',
      { properties: { a: { oneOf: [{ $ref: '#' }, { $ref: '#' }] } } },
      nested(400),
    ],
    [
      'values times schemas',
      { items: { allOf: Array.from({ length: 900 }, () => ({ minimum: 0 })) } },
      Array.from({ length: 100_000 }, () => 1),
    ],
    ['a pattern for a long text', { pattern: '(a*)*b' }, 'a'.repeat(1_000_000)],
    [
      'members of one schema after the other',
      { patternProperties: { '(x+x+)+y': true } },
      Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`${'x'.repeat(1000)}${at}`, 1])),
    ],
    [
      'items compared as text',
      { uniqueItems: true },
      Array.from({ length: 600_000 }, (_, at) => [at]),
    ],
  ])('ends where it would take too long: %s', (_title, schema, value) => {
    expect(errorsOf(schema, value)).toBe('too_expensive')
  })
})

/** Small schemas of which many values are valid and many are not. */
const { schema: SCHEMA } = fc.letrec<{ schema: Value }>((tie) => {
  const inner = tie('schema')
  const name = fc.constantFrom('a', 'b', 'c')
  const number = fc.integer({ min: -2, max: 3 })
  const count = fc.nat(3)
  const scalar = fc.oneof(number, name, fc.boolean(), fc.constant(null))
  const values = {
    type: fc.constantFrom('object', 'array', 'string', 'integer', 'number', 'null', 'boolean'),
    enum: fc.uniqueArray(scalar, { minLength: 1, maxLength: 4 }),
    minimum: number,
    exclusiveMaximum: number,
    multipleOf: fc.constantFrom(1, 2, 0.5),
    minLength: count,
    maxLength: count,
    pattern: fc.constantFrom('^a', 'b$', '^[ab]+$', '(a|b)c?', '^$', '.{2}', '[^a]'),
    minItems: count,
    maxItems: count,
    uniqueItems: fc.boolean(),
    required: fc.uniqueArray(name),
    minProperties: count,
    maxProperties: count,
    propertyNames: inner,
    properties: fc.dictionary(name, inner, { maxKeys: 3, noNullPrototype: true }),
    patternProperties: fc.dictionary(fc.constantFrom('^a', 'b', '[bc]'), inner, {
      maxKeys: 2,
      noNullPrototype: true,
    }),
    additionalProperties: inner,
    dependentSchemas: fc.dictionary(name, inner, { maxKeys: 2, noNullPrototype: true }),
    dependentRequired: fc.dictionary(name, fc.uniqueArray(name), {
      maxKeys: 2,
      noNullPrototype: true,
    }),
    prefixItems: fc.array(inner, { minLength: 1, maxLength: 2 }),
    items: inner,
    contains: inner,
    allOf: fc.array(inner, { minLength: 1, maxLength: 2 }),
    anyOf: fc.array(inner, { minLength: 1, maxLength: 2 }),
    oneOf: fc.array(inner, { minLength: 1, maxLength: 2 }),
    not: inner,
    unevaluatedProperties: inner,
    unevaluatedItems: inner,
  }
  // A few keywords each: of all at once ajv makes code for seconds.
  const keyword = fc.oneof(
    ...Object.entries<fc.Arbitrary<Value>>(values).map(([name, value]) =>
      value.map((each) => [name, each] as const),
    ),
  )
  const keywords = fc
    .array(keyword, { maxLength: 3 })
    .map((each): Value => Object.fromEntries(each))
  return {
    schema: fc.oneof(
      { depthSize: 'small', withCrossShrink: true, maxDepth: 3 },
      fc.boolean(),
      keywords,
    ),
  }
})

const VALUE = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<Value>(null, true, false, 0, 1, 2, -1, 0.5, '', 'a', 'b', 'ab', 'abc', 'c😀'),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', 'ab'), tie('value'), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
  ),
})).value

describe('validation', () => {
  it('takes the same values as ajv', () => {
    let valid = 0
    let invalid = 0
    fc.assert(
      fc.property(SCHEMA, fc.array(VALUE, { minLength: 3, maxLength: 6 }), (schema, values) => {
        fc.pre(checkSchema(schema).length === 0)
        const validate = compileValidator(schema)
        const reference = new Ajv2020({
          strict: false,
          meta: false,
          validateSchema: false,
          logger: false,
        }).compile(schema as object)
        for (const value of values) {
          const errors = validate(value)
          const isValid = reference(value)
          if (isValid) valid++
          else invalid++
          expect(errors.length === 0).toBe(isValid)
        }
      }),
      { numRuns: 400 },
    )
    expect(Math.min(valid, invalid)).toBeGreaterThan(100)
  })
})
