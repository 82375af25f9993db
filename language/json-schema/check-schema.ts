// Checks a JSON Schema of a document when it is loaded: strictly, and within bounds, so that validating by it later can
// neither fail nor take long.

import { didYouMean } from '../../base/nearest-name.ts'
import { kindOf } from '../expression/errors.ts'
import { ownValue } from '../expression/lookup.ts'
import { isList, isMap, type Value, type ValueMap } from '../expression/value.ts'
import { isWithin } from '../measure.ts'
import { FORMATS } from './formats.ts'
import {
  FURTHER_KEYWORDS,
  IN_PLACE,
  KEYWORDS,
  type KeywordShape,
  NEEDED,
  TYPES,
} from './keywords.ts'
import { compilePattern } from './linear-pattern.ts'
import { resolveReference } from './reference.ts'

const MAX_BYTES = 256 * 1024
const MAX_SCHEMAS = 1000
const MAX_STATES = 5000
const MAX_PROBLEMS = 20

export interface SchemaProblem {
  readonly code: 'invalid_value' | 'invalid_datatype' | 'too_expensive'
  readonly keys: readonly (string | number)[]
  readonly message: string
}

/**
 * At most 20 problems; none: `compileValidator` takes it.
 * @example checkSchema({ typ: 'object' }) // [{ code: 'invalid_value', keys: ['typ'], message: "… did you mean 'type'?" }]
 */
export const checkSchema = (schema: Value): readonly SchemaProblem[] => {
  if (!isWithin(schema, MAX_BYTES))
    return [
      {
        code: 'too_expensive',
        keys: [],
        message: `a schema has at most ${MAX_BYTES} bytes as JSON`,
      },
    ]
  const check = new SchemaCheck(schema)
  check.schema(schema, [])
  check.references()
  return check.problems
}

type Keys = SchemaProblem['keys']

const SHAPES: Readonly<Record<string, KeywordShape>> = { ...KEYWORDS, ...FURTHER_KEYWORDS }

const UNSUPPORTED: ReadonlyMap<string, string> = new Map([
  ...['$id', '$anchor', '$dynamicRef', '$dynamicAnchor', '$vocabulary'].map(
    (name) =>
      [name, `${name} is not supported: refer by a pointer, as in $ref: '#/$defs/name'`] as const,
  ),
  ['$data', '$data is not supported: a schema never depends on the value that it checks'],
  ['definitions', "write '$defs'"],
  ['dependencies', "write 'dependentRequired' or 'dependentSchemas'"],
  ['additionalItems', "write 'items' beside 'prefixItems'"],
  ['nullable', "write a list of types, as in type: [string, 'null']"],
])

const DIALECT = /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/

class SchemaCheck {
  readonly problems: SchemaProblem[] = []
  readonly #root: Value
  readonly #places = new Set<Value>()
  readonly #references: { readonly from: Value; readonly to: string; readonly keys: Keys }[] = []
  /** Schema → those that look at the same value. */
  readonly #inPlace = new Map<Value, Value[]>()
  #count = 0
  #states = 0

  constructor(root: Value) {
    this.#root = root
  }

  schema(schema: Value, keys: Keys): void {
    if (typeof schema === 'boolean') return
    if (!isMap(schema)) {
      this.#report(
        'invalid_datatype',
        keys,
        `expected a JSON Schema (a map, true or false), got ${kindOf(schema)}`,
      )
      return
    }
    if (++this.#count === MAX_SCHEMAS + 1)
      this.#report('too_expensive', keys, `a schema has at most ${MAX_SCHEMAS} schemas in it`)
    if (this.#count > MAX_SCHEMAS || this.problems.length >= MAX_PROBLEMS) return
    this.#places.add(schema)
    for (const [name, value] of Object.entries(schema)) this.#keyword(schema, name, value, keys)
  }

  #keyword(schema: ValueMap, name: string, value: Value, keys: Keys): void {
    const shape = Object.hasOwn(SHAPES, name) ? SHAPES[name] : undefined
    const place = [...keys, name]
    if (shape === undefined) {
      this.#report(
        'invalid_value',
        place,
        `'${name.slice(0, 100)}' is no keyword of JSON Schema that is known here${hintFor(name, value, keys)}`,
      )
      return
    }
    const needed = NEEDED[name]
    if (needed !== undefined && !Object.hasOwn(schema, needed))
      this.#report('invalid_value', place, `'${name}' does nothing without '${needed}'`)
    if (IN_PLACE.has(name)) this.#addInPlace(schema, value)
    this.#shaped(shape, schema, value, place)
  }

  #shaped(shape: KeywordShape, schema: ValueMap, value: Value, keys: Keys): void {
    if (shape === 'schema') this.schema(value, keys)
    else if (shape === 'schemas') this.#schemas(value, keys)
    else if (shape === 'schemasByName' || shape === 'schemasByPattern')
      this.#schemasByName(shape, value, keys)
    else if (shape === 'reference') this.#reference(schema, value, keys)
    else if (shape === 'pattern' && typeof value === 'string') this.#pattern(value, keys)
    else {
      const expected = EXPECTED[shape](value)
      if (expected !== undefined) this.#expected(keys, expected, value)
    }
  }

  #schemas(value: Value, keys: Keys): void {
    if (!isList(value) || value.length === 0) this.#expected(keys, 'a list of schemas', value)
    else for (const [index, each] of value.entries()) this.schema(each, [...keys, index])
  }

  #schemasByName(shape: KeywordShape, value: Value, keys: Keys): void {
    if (!isMap(value)) {
      this.#expected(keys, 'a map of schemas', value)
      return
    }
    for (const [name, each] of Object.entries(value)) {
      if (shape === 'schemasByPattern') this.#pattern(name, [...keys, name])
      this.schema(each, [...keys, name])
    }
  }

  #pattern(source: string, keys: Keys): void {
    const pattern = compilePattern(source)
    if (typeof pattern === 'string') {
      this.#report('invalid_value', keys, pattern)
      return
    }
    const before = this.#states
    this.#states += pattern.states
    if (before <= MAX_STATES && this.#states > MAX_STATES)
      this.#report(
        'too_expensive',
        keys,
        `the patterns of a schema stand for at most ${MAX_STATES} characters together`,
      )
  }

  #reference(schema: ValueMap, value: Value, keys: Keys): void {
    if (typeof value !== 'string') this.#expected(keys, 'a reference', value)
    else if (value.startsWith('#')) this.#references.push({ from: schema, to: value, keys })
    else
      this.#report(
        'invalid_value',
        keys,
        "a reference stays within its schema, as in '#/$defs/name': nothing is fetched",
      )
  }

  #addInPlace(schema: Value, value: Value): void {
    const inner = isList(value) ? value : [value, ...(isMap(value) ? Object.values(value) : [])]
    const known = this.#inPlace.get(schema)
    if (known === undefined) this.#inPlace.set(schema, [...inner])
    else known.push(...inner)
  }

  /** Once all schemas are known: a reference leads to one of them, and none to itself without going deeper into the value. */
  references(): void {
    if (this.problems.length > 0) return
    for (const { from, to, keys } of this.#references) {
      const target = resolveReference(this.#root, to)
      if (target === undefined || (typeof target !== 'boolean' && !this.#places.has(target)))
        this.#report('invalid_value', keys, 'there is no schema at this reference')
      else this.#addInPlace(from, [target])
    }
    const left = new Set<Value>()
    for (const { from, keys } of this.#references)
      if (this.#isLoop(from, new Set(), left))
        this.#report('invalid_value', keys, 'this schema refers to itself for the same value')
  }

  #isLoop(schema: Value, above: Set<Value>, left: Set<Value>): boolean {
    if (above.has(schema)) return true
    if (!isMap(schema) || left.has(schema)) return false
    above.add(schema)
    const isLoop = (this.#inPlace.get(schema) ?? []).some((each) => this.#isLoop(each, above, left))
    above.delete(schema)
    left.add(schema)
    return isLoop
  }

  #expected(keys: Keys, what: string, value: Value): void {
    this.#report('invalid_datatype', keys, `expected ${what}, got ${kindOf(value)}`)
  }

  #report(code: SchemaProblem['code'], keys: Keys, message: string): void {
    if (this.problems.length < MAX_PROBLEMS) this.problems.push({ code, keys, message })
  }
}

const hintFor = (name: string, value: Value, keys: Keys): string => {
  const unsupported = UNSUPPORTED.get(name)
  if (unsupported !== undefined) return `: ${unsupported}`
  const isMember = keys.length === 0 && isMap(value)
  return `${didYouMean(name, Object.keys(SHAPES))}${isMember ? ' Names of members stand below properties' : ''}`
}

const areTexts = (value: Value): boolean =>
  isList(value) &&
  value.every((each) => typeof each === 'string') &&
  new Set(value).size === value.length

type PlainShape = Exclude<
  KeywordShape,
  'schema' | 'schemas' | 'schemasByName' | 'schemasByPattern' | 'reference'
>

/** What is expected where the value is something else. */
const EXPECTED = {
  types: (value) => {
    const types = isList(value) ? value : [value]
    const isKnown = (each: Value): boolean => TYPES.some((type) => type === each)
    return types.length > 0 && types.every(isKnown) && new Set(types).size === types.length
      ? undefined
      : `one or more of ${TYPES.join(', ')}`
  },
  texts: (value) => (areTexts(value) ? undefined : 'a list of different texts'),
  textsByName: (value) =>
    isMap(value) && Object.values(value).every(areTexts) ? undefined : 'a map of lists of texts',
  values: (value) => (isList(value) && value.length > 0 ? undefined : 'a list of values'),
  value: () => undefined,
  count: (value) =>
    typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
      ? undefined
      : 'a whole number, 0 or more',
  number: (value) => (typeof value === 'number' ? undefined : 'a number'),
  positive: (value) => (typeof value === 'number' && value > 0 ? undefined : 'a number above 0'),
  boolean: (value) => (typeof value === 'boolean' ? undefined : 'true or false'),
  pattern: () => 'a regular expression',
  text: (value) => (typeof value === 'string' ? undefined : 'a text'),
  format: (value) =>
    typeof value === 'string' && ownValue(FORMATS, value) !== undefined
      ? undefined
      : `one of the formats ${Object.keys(FORMATS).join(', ')}`,
  dialect: (value) =>
    typeof value === 'string' && DIALECT.test(value)
      ? undefined
      : 'https://json-schema.org/draft/2020-12/schema',
} as const satisfies Record<PlainShape, (value: Value) => string | undefined>
