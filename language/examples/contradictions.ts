// Finds examples whose requests contradict the schemas of their operation, when the document is loaded. What is checked of a
// body is the same in a gateway, which gets nothing else of a request.

import { childPointer, pointerKeys } from '../../base/json-pointer.ts'
import { oncePer } from '../../base/once.ts'
import type { CompiledApi, CompiledOperation, SchemaEntry } from '../compile/compiled.ts'
import { isMap, type Value } from '../expression/value.ts'
import { compileValidator, type Validate } from '../json-schema/compile-validator.ts'
import { readTexts } from '../json-schema/declared-texts.ts'
import { MAX_COST, type SchemaError, ValidationRun } from '../json-schema/validation-run.ts'
import type { Problem } from '../problem.ts'
import { mediaKind } from '../routes/media-kind.ts'
import type { ExampleRequest, PlacedExample } from './example.ts'
import { listExamples } from './list-examples.ts'

/** As much as ten requests may cost. The examples that are left then are not checked. */
const MAX_COST_OF_ALL = 10 * MAX_COST
/** So many problems are enough to mend a document by. */
const ENOUGH = 100

/** @param document the one that was compiled, with its examples */
export const findContradictions = (
  document: unknown,
  compiled: CompiledApi,
): readonly Problem[] => {
  let left = MAX_COST_OF_ALL
  let count = 0
  return listExamples(document, compiled)
    .filter(({ operation }) => operation.schema !== undefined)
    .flatMap(({ examples }) => examples)
    .filter((placed) => !isRefusal(placed))
    .flatMap((placed) =>
      partsOf(placed).flatMap((part) => {
        if (left <= 0 || count >= ENOUGH) return []
        const run = new ValidationRun()
        const problems = problemsOf(placed, part, run)
        left -= run.spent
        count += problems.length
        return problems
      }),
    )
}

/** Who is refused earlier may send anything, and status codes of the document may have another one than 400 for a schema. */
const isRefusal = ({ example: { expect } }: PlacedExample): boolean => {
  const { status_code: status = 200 } = expect
  return status >= 400 && status < 500
}

interface Part {
  readonly entry: SchemaEntry
  readonly schema: Value
  readonly value: Value
  /** Names that are given several values, and take one. */
  readonly repeated?: readonly string[]
  /** Names as they are written, by those that the schema sees. */
  readonly written?: ReadonlyMap<string, string>
}

/** Only what the example has of a request. */
const partsOf = ({ example, operation }: PlacedExample): readonly Part[] => {
  const { request = {} } = example
  const { schema = {} } = operation
  const { path, host, method } = request
  // Otherwise parameters stand there as well, or it is a request for something else.
  const isWhole = path === undefined && host === undefined && method === undefined
  return [
    ...bodyOf(request, operation),
    ...(isWhole ? textsOf('bindings', request.bindings, schema.bindings) : []),
    ...(isWhole ? textsOf('query_params', request.query_params, schema.query_params) : []),
    ...headersOf(request.headers, schema.headers),
  ]
}

/** A text is sent as it is, and types other than these are known by a header alone. */
const bodyOf = (
  { body }: ExampleRequest,
  { schema, accepts }: CompiledOperation,
): readonly Part[] => {
  const isValue = accepts.every((type) => ['json', 'msgpack'].includes(mediaKind(type)))
  if (schema?.body === undefined || body === undefined || typeof body === 'string' || !isValue)
    return []
  return [{ entry: 'body', schema: schema.body, value: body }]
}

const textsOf = (
  entry: SchemaEntry,
  given: ExampleRequest['query_params'],
  schema: Value | undefined,
): readonly Part[] => {
  if (given === undefined || schema === undefined) return []
  const pairs = Object.entries(given).flatMap(([name, value]) =>
    [value].flat().map((each) => [name, String(each)] as const),
  )
  const { values, repeated } = readTexts(schema, pairs)
  return [{ entry, schema, value: values, repeated }]
}

const headersOf = (
  given: ExampleRequest['headers'],
  schema: Value | undefined,
): readonly Part[] => {
  if (given === undefined || schema === undefined) return []
  const names = Object.keys(given)
  return [
    {
      entry: 'headers',
      schema,
      value: Object.fromEntries(
        Object.entries(given).map(([name, value]) => [name.toLowerCase(), String(value)]),
      ),
      written: new Map(names.map((name) => [name.toLowerCase(), name])),
    },
  ]
}

const problemsOf = (
  { pointer }: PlacedExample,
  { entry, schema, value, repeated = [], written }: Part,
  run: ValidationRun,
): readonly Problem[] => {
  const found = validatorOf(schema)(value, run)
  const errors: readonly SchemaError[] = [
    ...repeated.map((name) => ({ pointer: childPointer('', name), keyword: 'duplicate' })),
    ...(found === 'too_expensive' ? [{ pointer: '', keyword: found }] : found),
  ]
  const place = childPointer(childPointer(pointer, 'request'), entry)
  return errors.flatMap((error) => {
    const [name, ...keys] = pointerKeys(error.pointer)
    // Clients send more headers than an example has.
    if (written !== undefined && name === undefined) return []
    const names = name === undefined ? [] : [written?.get(name) ?? name, ...keys]
    return [
      { code: 'invalid_value', path: names.reduce(childPointer, place), message: textOf(error) },
    ]
  })
}

const textOf = ({ keyword, property }: SchemaError): string => {
  const what = property === undefined ? keyword : `${keyword}: ${property}`
  return `the schema of the operation refuses it (${what}); an example of a refused request expects status_code 400`
}

const compiledOf = oncePer((schema: object) => ({ validate: compileValidator(schema as Value) }))

/** Operations share schemas. */
const validatorOf = (schema: Value): Validate =>
  isMap(schema) ? compiledOf(schema).validate : compileValidator(schema)
