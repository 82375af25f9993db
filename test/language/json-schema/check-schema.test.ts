import { describe, expect, it } from '@jest/globals'
import type { Value } from '../../../language/expression/value.ts'
import { checkSchema } from '../../../language/json-schema/check-schema.ts'

const deep = (levels: number): Value => {
  let schema: Value = {}
  for (let left = levels; left > 0; left--) schema = { not: schema }
  return schema
}

const found = (schema: Value): string =>
  checkSchema(schema)
    .map(({ code, keys, message }) => `${code} /${keys.join('/')}: ${message}`)
    .join('\n')

describe('a schema is refused when it is loaded', () => {
  it.each<[string, Value, string]>([
    [
      'with a keyword that is misspelt',
      { requird: ['a'] },
      "invalid_value /requird: 'requird' is no keyword of JSON Schema that is known here; did you mean 'required'?",
    ],
    [
      'with members in place of keywords',
      { id: { type: 'integer' } },
      "invalid_value /id: 'id' is no keyword of JSON Schema that is known here; did you mean 'if'? Names of members stand below properties",
    ],
    ['with a keyword of an older draft', { definitions: {} }, "write '$defs'"],
    ['with a reference to elsewhere', { $ref: 'https://example.com/schema' }, 'nothing is fetched'],
    ['with a reference to a file', { $ref: 'file:///etc/passwd' }, 'nothing is fetched'],
    ['with a reference to nothing', { $ref: '#/$defs/a' }, 'there is no schema at this reference'],
    [
      'with a reference to what is no schema',
      { required: ['a'], $ref: '#/required' },
      'there is no schema at this reference',
    ],
    [
      'with a reference to a member of the prototype',
      { $ref: '#/constructor' },
      'there is no schema at this reference',
    ],
    ['with a reference to itself', { $ref: '#' }, 'refers to itself for the same value'],
    [
      'with a circle of references',
      { $defs: { a: { $ref: '#/$defs/b' }, b: { allOf: [{ $ref: '#/$defs/a' }] } } },
      'refers to itself for the same value',
    ],
    ['with $data', { const: 1, $data: '1/a' }, '$data is not supported'],
    ['with $data as a bound', { maximum: { $data: '1/a' } }, 'expected a number, got a map'],
    ['with $dynamicRef', { $dynamicRef: '#a' }, '$dynamicRef is not supported'],
    [
      'with another dialect',
      { $schema: 'http://json-schema.org/draft-07/schema#' },
      'expected https://json-schema.org/draft/2020-12/schema',
    ],
    [
      'with code for a name of a format',
      { format: '"+process.exit()+"' },
      'expected one of the formats',
    ],
    [
      'with a member of the prototype for a format',
      { format: 'constructor' },
      'expected one of the formats',
    ],
    [
      'with a member of the prototype for a keyword',
      { constructor: {} },
      "'constructor' is no keyword",
    ],
    ['with a pattern that is none', { pattern: '(' }, 'no regular expression'],
    ['with lookahead', { pattern: '^(?=a)' }, 'linear time'],
    ['with a back reference', { pattern: '(a)\\1' }, 'linear time'],
    [
      'with lookbehind in the name of a member',
      { patternProperties: { '(?<!a)b': true } },
      'linear time',
    ],
    ['with a pattern that is too large', { pattern: 'a{1,100000}' }, 'more than 2000'],
    [
      'with repetitions of repetitions',
      { pattern: '((a{1,100}){1,100}){1,100}' },
      'more than 2000',
    ],
    [
      'with many large patterns',
      { allOf: Array.from({ length: 9 }, () => ({ pattern: 'a{900}' })) },
      'too_expensive',
    ],
    ['with deep groups', { pattern: `${'('.repeat(500)}a${')'.repeat(500)}` }, 'nested more than'],
    [
      'with too many schemas',
      { anyOf: Array.from({ length: 1001 }, () => ({})) },
      'at most 1000 schemas',
    ],
    ['that is too deep', deep(2000), 'too_expensive'],
    ['that is too long', { enum: ['x'.repeat(1_000_000)] }, 'at most 262144 bytes'],
    [
      'with a type that is none',
      { type: ['string', 'text'] },
      'expected one or more of null, boolean',
    ],
    ['that is a text', 'object', 'expected a JSON Schema'],
    ['with then alone', { then: {} }, "'then' does nothing without 'if'"],
  ])('%s', (_title, schema, message) => {
    expect(found(schema)).toContain(message)
  })

  it('lists at most 20 problems', () => {
    const schema = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`keyword${at}`, 1]))
    expect(checkSchema(schema)).toHaveLength(20)
  })
})

describe('a schema is taken', () => {
  it.each<[string, Value]>([
    ['that is true', true],
    ['with references that go deeper into the value', { properties: { next: { $ref: '#' } } }],
    [
      'with annotations',
      { title: 'a', description: 'b', default: 1, examples: [1], deprecated: true },
    ],
    ['with all its patterns linear', { pattern: '^(?:[A-Z]{2,3}|\\d+)-(?<name>\\p{L}*)$' }],
  ])('%s', (_title, schema) => {
    expect(checkSchema(schema)).toEqual([])
  })
})
