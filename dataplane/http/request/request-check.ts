// Checks what a request has by the JSON Schemas of its operation, and makes values of the types that these declare. What
// is refused is named by place and keyword, never by its value.

import { childPointer } from '../../../base/json-pointer.ts'
import { oncePer } from '../../../base/once.ts'
import type { CompiledSchemas, SchemaEntry } from '../../../language/compile/compiled.ts'
import type { Value, ValueMap } from '../../../language/expression/value.ts'
import { compileValidator, type Validate } from '../../../language/json-schema/compile-validator.ts'
import { readTexts } from '../../../language/json-schema/declared-texts.ts'
import { mediaKind } from '../../../language/routes/media-kind.ts'
import { formPairs } from '../../codec/codec.ts'
import { findAmbiguity } from '../../codec/ambiguity.ts'
import { GatewayError, type InvalidPart } from '../../gateway-error.ts'
import { requestHeaderMap } from '../../header-map.ts'

const MOST_ERRORS = 100

export const invalidRequest = (errors: readonly InvalidPart[]): GatewayError => {
  const error = new GatewayError(
    'svc.error.invalid_data',
    'The request is not what this operation takes',
    {
      description: 'errors has each place, and the keyword of the JSON Schema that refuses it.',
      errors: errors.slice(0, MOST_ERRORS),
    },
  )
  // Also where the body was read, and the list of steps is over.
  error.step = 'schema'
  return error
}

export const NO_BODY: InvalidPart = { in: 'body', pointer: '', keyword: 'required' }

/** What the head has of the parts that schemas describe. */
export interface HeadParts {
  readonly query: string
  readonly bindings: () => ValueMap
  readonly rawHeaders: readonly string[]
}

export interface CheckedHead {
  /** With the types that are declared; undefined: no schema describes them. */
  readonly queryParams?: ValueMap
  readonly bindings?: ValueMap
  readonly errors: readonly InvalidPart[]
}

export const checkHead = (schemas: CompiledSchemas, parts: HeadParts): CheckedHead => {
  const errors: InvalidPart[] = []
  const check = (entry: SchemaEntry, value: ValueMap, repeated: readonly string[]): ValueMap => {
    const places = repeated.map((name) => childPointer('', name.slice(0, MOST_ERRORS)))
    errors.push(...places.map((pointer) => ({ in: entry, pointer, keyword: 'duplicate' })))
    errors.push(...errorsOf(schemas, entry, value))
    return value
  }
  const { query_params: query, bindings, headers } = schemas
  const typed = (entry: SchemaEntry, schema: Value, pairs: readonly Pair[]): ValueMap => {
    const { values, repeated } = readTexts(schema, pairs)
    return check(entry, values, repeated)
  }
  const pairs = Object.entries(bindings === undefined ? {} : parts.bindings()) as Pair[]
  const checked = {
    ...(query !== undefined && {
      queryParams: typed('query_params', query, formPairs(parts.query)),
    }),
    ...(bindings !== undefined && { bindings: typed('bindings', bindings, pairs) }),
  }
  if (headers !== undefined) check('headers', requestHeaderMap(parts.rawHeaders), [])
  return { ...checked, errors }
}

type Pair = readonly [string, string]

export interface DecodedBody {
  readonly contentType: string
  readonly bytes: Buffer
  readonly value: Value
}

/**
 * Gives nothing after each piece of work, and returns the value: a form with the lists that are declared.
 * @param earlier what was wrong with the head
 * @throws GatewayError `svc.error.invalid_data`
 */
export function* checkBody(
  schemas: CompiledSchemas,
  { contentType, bytes, value }: DecodedBody,
  earlier: readonly InvalidPart[],
): Generator<undefined, Value> {
  const kind = mediaKind(contentType)
  const ambiguity = yield* findAmbiguity(kind, bytes, value)
  if (ambiguity !== undefined)
    throw invalidRequest([...earlier, { in: 'body', pointer: '', keyword: ambiguity }])
  let body = value
  const errors = [...earlier]
  if (kind === 'form') {
    const { values, repeated } = readTexts(schemas.body ?? true, formPairs(bytes.toString()), false)
    body = values
    for (const name of repeated)
      errors.push({
        in: 'body',
        pointer: childPointer('', name.slice(0, MOST_ERRORS)),
        keyword: 'duplicate',
      })
  }
  errors.push(...errorsOf(schemas, 'body', body))
  if (errors.length > 0) throw invalidRequest(errors)
  return body
}

const errorsOf = (
  schemas: CompiledSchemas,
  entry: SchemaEntry,
  value: Value,
): readonly InvalidPart[] => {
  const found = validatorOf(schemas, entry)?.(value) ?? []
  return found === 'too_expensive'
    ? [{ in: entry, pointer: '', keyword: found }]
    : found.map((error) => ({ in: entry, ...error }))
}

/** Compiled at the first request that needs it, one at a time. */
const validatorsOf = oncePer<CompiledSchemas, Map<SchemaEntry, Validate>>(() => new Map())

const validatorOf = (schemas: CompiledSchemas, entry: SchemaEntry): Validate | undefined => {
  const schema = schemas[entry]
  if (schema === undefined) return undefined
  const validators = validatorsOf(schemas)
  const known = validators.get(entry) ?? compileValidator(schema)
  validators.set(entry, known)
  return known
}
