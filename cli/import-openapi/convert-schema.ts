// Turns schemas of OpenAPI into JSON Schemas that documents take. What they refer to is copied to `$defs`; what cannot be
// kept is left out, so that nothing is refused that the description allows.

import { childPointer } from '../../base/json-pointer.ts'
import { ownValue } from '../../language/expression/lookup.ts'
import { listAt, mapAt, textAt } from '../../language/expression/members.ts'
import {
  isList,
  isMap,
  setOwn,
  type Value,
  type ValueMap,
} from '../../language/expression/value.ts'
import { checkSchema, type SchemaProblem } from '../../language/json-schema/check-schema.ts'
import { FORMATS } from '../../language/json-schema/formats.ts'
import {
  FURTHER_KEYWORDS,
  KEYWORDS,
  type KeywordShape,
} from '../../language/json-schema/keywords.ts'
import { compilePattern } from '../../language/json-schema/linear-pattern.ts'
import { resolveReference } from '../../language/json-schema/reference.ts'
import { countBytes } from '../../language/measure.ts'
import { type Description, type Drop, follow } from './description.ts'

const SHAPES: Readonly<Record<string, KeywordShape>> = { ...KEYWORDS, ...FURTHER_KEYWORDS }
const MOST_SCHEMAS = 1000
const MOST_ROUNDS = 20
/** What a schema that stands for too many costs of the budget. */
const COST_OF_TOO_MANY = 32 * 1024

export type Loose = Record<string, Value>

type Convert = (value: Value, pointer: string) => Value

export interface SchemaSource {
  readonly description: Description
  /** What has this member is not required: responses alone have what is read-only, requests what is write-only. */
  readonly unsent: 'readOnly' | 'writeOnly'
  readonly pointer: string
  readonly build: (convert: Convert) => Value
}

/** Undefined: nothing of it can be kept. */
export const convertSchema = (source: SchemaSource, drop: Drop): Value | undefined => {
  const { budget } = source.description
  if (budget.bytes < 0) {
    drop(source.pointer, 'the schemas of the document would be too large together')
    return undefined
  }
  const exact = new Conversion(source, drop, false)
  const schema = exact.whole()
  const kept = exact.isLoosened ? new Conversion(source, drop, true).whole() : schema
  budget.bytes -= kept === undefined ? COST_OF_TOO_MANY : (countBytes(kept) ?? 0)
  return kept
}

/** Handled apart, or only there to be referred to. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set(
  'nullable x-nullable $defs definitions $schema $comment $ref'.split(' '),
)
/** Keywords that may refuse more where a schema within them, or beside them, allows more. */
const DEPENDING: ReadonlySet<string> = new Set(
  'not if then else contains minContains maxContains unevaluatedProperties unevaluatedItems'.split(
    ' ',
  ),
)
/** Other keywords refuse more without these. */
const STRUCTURAL: ReadonlySet<string | number | undefined> = new Set([
  'properties',
  'patternProperties',
  'prefixItems',
])

class Conversion {
  /** Something is left out that refuses values. */
  isLoosened: boolean
  readonly #source: SchemaSource
  readonly #drop: Drop
  /** Whether keywords that depend on others are left out. */
  readonly #isLoose: boolean
  /** Reference → its name in `$defs`. */
  readonly #names = new Map<string, string>()
  readonly #definitions: Loose = {}
  #count = 0

  constructor(source: SchemaSource, drop: Drop, isLoose: boolean) {
    this.#source = source
    this.#drop = drop
    this.#isLoose = isLoose
    this.isLoosened = isLoose
  }

  whole(): Value | undefined {
    const { build, pointer } = this.#source
    const schema = build((value, place) => this.#convert(value, place))
    if (this.#count > MOST_SCHEMAS) {
      this.#drop(pointer, `it stands for more than ${MOST_SCHEMAS} schemas`)
      return undefined
    }
    if (!isMap(schema)) return schema
    const hasDefinitions = Object.keys(this.#definitions).length > 0
    return this.#valid({ ...schema, ...(hasDefinitions && { $defs: this.#definitions }) })
  }

  /** Leaves out what documents refuse for another reason. */
  #valid(schema: ValueMap): Value | undefined {
    const { pointer } = this.#source
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const problems = checkSchema(schema)
      if (problems.length === 0) return schema
      for (const problem of problems) {
        this.#leaveOut(pointer, `${problem.keys.join('/').slice(0, 200)}: ${problem.message}`)
        if (!withoutProblem(schema, problem)) return undefined
      }
    }
    this.#drop(pointer, 'too much of this schema cannot be kept')
    return undefined
  }

  #convert(value: Value, pointer: string): Value {
    if (typeof value === 'boolean') return value
    if (!isMap(value)) this.#leaveOut(pointer, 'this is no schema')
    if (!isMap(value) || ++this.#count > MOST_SCHEMAS) return {}
    const converted = this.#keywords(value, pointer)
    if (this.#source.description.dialect === '3.1') return converted
    const isNullable = ['nullable', 'x-nullable'].some((name) => ownValue(value, name) === true)
    return isNullable ? orNull(converted) : converted
  }

  #keywords(schema: ValueMap, pointer: string): Loose {
    const converted: Loose = {}
    const isNewer = this.#source.description.dialect === '3.1'
    const reference = textAt(schema, '$ref')
    if (reference !== '') this.#reference(converted, reference, childPointer(pointer, '$ref'))
    // Until 3.0 nothing counts beside a reference.
    if (reference === '' || isNewer)
      for (const [name, each] of Object.entries(schema))
        if (!WITHOUT_EFFECT.has(name))
          this.#keyword(converted, name, each, childPointer(pointer, name))
    const patterns = Object.keys(mapAt(schema, 'patternProperties')).length
    if (Object.keys(mapAt(converted, 'patternProperties')).length < patterns)
      Reflect.deleteProperty(converted, 'additionalProperties')
    if (!isNewer) boundsOfDraft4(converted)
    this.#unsent(converted, schema)
    return converted
  }

  #reference(converted: Loose, reference: string, pointer: string): void {
    const target = resolveReference(this.#source.description.root, reference)
    if (target === undefined || !reference.startsWith('#/')) {
      this.#leaveOut(pointer, 'there is no schema in this file at this reference')
      return
    }
    let name = this.#names.get(reference)
    if (name === undefined) {
      name = unusedName(reference, new Set(this.#names.values()))
      this.#names.set(reference, name)
      setOwn<Value>(this.#definitions, name, this.#convert(target, reference.slice(1)))
    }
    setOwn<Value>(converted, '$ref', `#/$defs/${name}`)
  }

  #keyword(converted: Loose, name: string, value: Value, pointer: string): void {
    const shape = Object.hasOwn(SHAPES, name) ? SHAPES[name] : undefined
    if (name === 'example') setOwn<Value>(converted, 'examples', [value])
    else if (shape === undefined) this.#drop(pointer, 'documents have no such keyword')
    else if (isExpression(shape, value)) this.#leaveOut(pointer, 'it would be an expression')
    else if (this.#isLoose && DEPENDING.has(name))
      this.#drop(pointer, 'it may depend on what is left out of this schema')
    else if (this.#isChecked(shape, value, pointer)) {
      const isChoice = this.#isLoose && name === 'oneOf'
      if (isChoice)
        this.#drop(pointer, 'any of them may match, as something is left out of this schema')
      setOwn<Value>(converted, isChoice ? 'anyOf' : name, this.#held(shape, value, pointer))
    }
  }

  #isChecked(shape: KeywordShape, value: Value, pointer: string): boolean {
    if (shape === 'pattern') return this.#isPattern(value, pointer)
    const isKnown = typeof value === 'string' && Object.hasOwn(FORMATS, value)
    if (shape !== 'format' || isKnown) return true
    this.#drop(pointer, 'this format is not checked')
    return false
  }

  #held(shape: KeywordShape, held: Value, pointer: string): Value {
    if (shape === 'schema' && !isList(held)) return this.#convert(held, pointer)
    if (shape === 'schemas' && isList(held))
      return held.map((each, at) => this.#convert(each, childPointer(pointer, at)))
    if (!(shape === 'schemasByName' || shape === 'schemasByPattern') || !isMap(held)) return held
    const inner: Loose = {}
    for (const [name, each] of Object.entries(held)) {
      const place = childPointer(pointer, name)
      if (shape === 'schemasByName' || this.#isPattern(name, place))
        setOwn<Value>(inner, name, this.#convert(each, place))
    }
    return inner
  }

  #isPattern(value: Value, pointer: string): boolean {
    const pattern = typeof value === 'string' ? compilePattern(value) : 'this is no pattern'
    if (typeof pattern !== 'string') return true
    this.#leaveOut(pointer, pattern)
    return false
  }

  #leaveOut(pointer: string, reason: string): void {
    this.#drop(pointer, reason)
    this.isLoosened = true
  }

  #unsent(converted: Loose, schema: ValueMap): void {
    const { description, unsent } = this.#source
    const required = listAt(converted, 'required')
    const properties = mapAt(schema, 'properties')
    const left = required.filter((name) => {
      const property = typeof name === 'string' ? (ownValue(properties, name) ?? null) : null
      const target = follow(description, { value: property, pointer: '' })?.value
      return ![property, target].some((each) => ownValue(each, unsent) === true)
    })
    if (left.length === required.length) return
    this.isLoosened = true
    if (left.length > 0) converted['required'] = left
    else Reflect.deleteProperty(converted, 'required')
  }
}

/** False: nothing can be left out but the whole. */
const withoutProblem = (root: ValueMap, { keys, code }: SchemaProblem): boolean => {
  const last = keys.at(-1)
  if (last === undefined || STRUCTURAL.has(last) || code === 'too_expensive') return false
  let holder: Value | undefined = root
  for (const key of keys.slice(0, -1)) {
    if (isList(holder)) holder = holder[Number(key)]
    else holder = isMap(holder) ? ownValue(holder, String(key)) : undefined
  }
  if (isMap(holder)) Reflect.deleteProperty(holder, last)
  return true
}

const unusedName = (reference: string, taken: ReadonlySet<string>): string => {
  const last = reference.slice(reference.lastIndexOf('/') + 1)
  const base = last.replaceAll(/[^\w.-]/g, '_').slice(0, 80)
  let name = base
  for (let count = 2; taken.has(name); count++) name = `${base}_${count}`
  return name
}

/** `exclusiveMinimum: true` says of `minimum` that it is excluded. */
const boundsOfDraft4 = (schema: Loose): void => {
  for (const [bound, exclusive] of BOUNDS) {
    const isExclusive = ownValue(schema, exclusive)
    if (typeof isExclusive !== 'boolean') continue
    Reflect.deleteProperty(schema, exclusive)
    const limit = ownValue(schema, bound)
    if (!isExclusive || limit === undefined) continue
    Reflect.deleteProperty(schema, bound)
    schema[exclusive] = limit
  }
}

const BOUNDS = [
  ['minimum', 'exclusiveMinimum'],
  ['maximum', 'exclusiveMaximum'],
] as const

/** Texts of documents that hold `{{` are expressions; keys are not. */
const isExpression = (shape: KeywordShape, value: Value): boolean => {
  const holdsSchemas = shape === 'schema' || shape.startsWith('schemas')
  return !holdsSchemas && JSON.stringify(value).includes('{{')
}

const orNull = (schema: ValueMap): ValueMap => {
  const type = textAt(schema, 'type')
  if (type === '') return { anyOf: [schema, { type: 'null' }] }
  const values = listAt(schema, 'enum')
  return { ...schema, type: [type, 'null'], ...(values.length > 0 && { enum: [...values, null] }) }
}
