// Turns examples of an OpenAPI operation into examples of a document: a request of the values that the description gives,
// and each response that has a body as JSON.

import { ownValue } from '../../language/expression/lookup.ts'
import { listAt, mapAt, memberAt } from '../../language/expression/members.ts'
import {
  isList,
  isMap,
  setOwn,
  type Value,
  type ValueMap,
} from '../../language/expression/value.ts'
import { compileValidator } from '../../language/json-schema/compile-validator.ts'
import type { Parameter } from './convert-parameters.ts'
import type { Loose } from './convert-schema.ts'
import { type Description, type Drop, follow, type Placed, simplify } from './description.ts'

export interface ExampleSource {
  readonly parameters: readonly Parameter[]
  /** Names of the bindings of the path. */
  readonly bindings: readonly string[]
  /** An example of the body of the request; undefined: there is none. */
  readonly body: Value | undefined
  readonly schemas: ValueMap
  readonly security: Value
  /** The responses that have an example as JSON. */
  readonly responses: readonly (Placed & { readonly status: string })[]
}

export const convertExamples = (
  description: Description,
  source: ExampleSource,
  drop: Drop,
): ValueMap => {
  const examples: Loose = {}
  for (const { status, value: body, pointer } of source.responses) {
    const request = STATUS.test(status) ? requestOf(description, source) : 'it has no one status'
    if (typeof request === 'string') drop(pointer, `no example is made: ${request}`)
    else {
      const said = { status_code: Number(status), body }
      examples[`response ${status}`] = { request, given: said, expect: said }
    }
  }
  return examples
}

/** Statuses of responses that may have a body. */
const STATUS = /^[2-5]\d\d$(?<!204|205|304)/

/** A text: why there is none. */
const requestOf = (description: Description, source: ExampleSource): ValueMap | string => {
  const values = valuesOf(description, source)
  if (typeof values === 'string') return values
  const { schemas, body, security } = source
  const hasBody = schemas['body'] !== undefined
  if (hasBody && body === undefined) return 'there is none of the body'
  const request: ValueMap = { ...values, ...(hasBody && { body: body ?? null }) }
  const isValid = Object.entries(schemas).every(
    ([entry, schema]) =>
      entry === 'result' || compileValidator(schema)(ownValue(request, entry) ?? {}).length === 0,
  )
  return isValid ? { ...request, ...callerOf(security) } : 'the values of the request are not valid'
}

/** Those of bindings and of what is required. */
const valuesOf = (
  description: Description,
  { parameters, bindings }: ExampleSource,
): ValueMap | string => {
  const values: Partial<Record<Parameter['entry'], Loose>> = {}
  for (const { value, entry, name, isRequired } of parameters) {
    if (!isRequired && entry !== 'bindings') continue
    const example = exampleOf(description, value)
    if (!isPlain(example)) return `there is no value of the parameter ${name.slice(0, 100)}`
    setOwn<Value>((values[entry] ??= {}), name, example)
  }
  const missing = bindings.find((name) => !Object.hasOwn(values.bindings ?? {}, name))
  return missing === undefined ? values : `there is no value of the parameter ${missing}`
}

const isPlain = (value: Value | undefined): value is string | number | boolean =>
  typeof value === 'number' ||
  typeof value === 'boolean' ||
  (typeof value === 'string' && value !== '')

const callerOf = (security: Value): ValueMap => {
  const first = isList(security) ? security[0] : security
  if (!isMap(first) || Object.keys(first).length === 0) return {}
  const scopes = ownValue(first, 'scopes')
  return { as: { authid: 'example', ...(scopes !== undefined && { scopes }) } }
}

/** The value that a parameter or a media type gives as an example, or its schema. */
export const exampleOf = (description: Description, holder: ValueMap): Value | undefined => {
  const own = ownExample(description, holder)
  if (own !== undefined) return own
  const written = ownValue(holder, 'schema') ?? holder
  const schema = simplify(description, { value: written, pointer: '' }).value
  return (
    ownValue(schema, 'example') ??
    (isMap(schema) ? listAt(schema, 'examples')[0] : undefined) ??
    ownValue(schema, 'default') ??
    (isMap(schema) ? listAt(schema, 'enum')[0] : undefined)
  )
}

/** `example`, or the first of `examples`. */
export const ownExample = (description: Description, holder: ValueMap): Value | undefined => {
  const [first] = Object.values(mapAt(holder, 'examples'))
  const example = follow(description, { value: first ?? null, pointer: '' })?.value ?? {}
  return memberAt(holder, 'example') ?? memberAt(example, 'dataValue') ?? memberAt(example, 'value')
}
