// Compiles `schema` and `schema_mode`: the JSON Schemas of what an operation takes and of what its action yields, each
// inherited by itself. A schema is known, and has been checked, when its document is loaded.

import { childPointer } from '../../base/json-pointer.ts'
import { didYouMean } from '../../base/nearest-name.ts'
import { type CompiledOperation, type CompiledSchemas, SCHEMA_ENTRIES } from './compiled.ts'
import type { Method } from '../document.ts'
import { INVALID } from '../expression/fold.ts'
import { ownValue } from '../expression/lookup.ts'
import type { Template } from '../expression/template.ts'
import { isList, isMap, type Value } from '../expression/value.ts'
import { checkSchema, type SchemaProblem } from '../json-schema/check-schema.ts'
import {
  type DocumentSchema,
  HOLDS_EXPRESSION,
  instead,
  key,
  MAP,
  oneOf,
  ref,
  restrictingKey,
} from '../schema/document-notation.ts'
import { createDiagnostics, type Diagnostics } from './diagnostics.ts'
import { actionResponse } from './action.ts'
import { type Placed, readOneOf, toFoldedMap } from './folded.ts'
import type { Find } from './inheritance.ts'
import { type InheritedPart, OF_OPERATIONS } from './operation-part.ts'

/** A JSON Schema, or an expression that is known when the document is loaded. */
const ANY_SCHEMA: DocumentSchema = { type: ['object', 'boolean', 'string'], ...HOLDS_EXPRESSION }

/** The definition that the schema of the key refers to. */
const SCHEMAS_SCHEMA: DocumentSchema = {
  ...MAP,
  description:
    'JSON Schemas (2020-12) of what the operation takes and its action yields, each inherited by itself.',
  properties: {
    body: key('Of the body, as it is decoded. A request without a body is refused.', ANY_SCHEMA),
    query_params: key(
      'Of the query parameters, a map by name. Declared types make numbers, booleans and lists of them.',
      ANY_SCHEMA,
    ),
    bindings: key(
      'Of the bindings of path and host, a map by name. Declared types make numbers and booleans of them.',
      ANY_SCHEMA,
    ),
    headers: key('Of the request headers, a map by lower-case name.', ANY_SCHEMA),
    result: key('Of what the action yields, as `action.result` has it.', ANY_SCHEMA),
  } satisfies Record<Entry, unknown>,
}

const ENTRIES = [...SCHEMA_ENTRIES, 'result'] as const
type Entry = (typeof ENTRIES)[number]

const MODES = ['report', 'enforce'] as const

export const SCHEMA_PART: InheritedPart<'schema'> = {
  of: OF_OPERATIONS,
  definitions: { schemas: SCHEMAS_SCHEMA },
  keys: {
    schema: {
      on: ['operation', 'path'],
      schema: restrictingKey(
        'JSON Schemas of what the operation takes. Requests that are not valid are refused (400) before its action runs.',
        ref('schemas'),
        {
          wished: instead(
            "requests are checked by the JSON Schemas of 'schema'",
            'validation',
            'jsonschema',
            'requestschema',
            'bodyschema',
          ),
        },
      ),
    },
    schema_mode: {
      on: ['operation', 'path'],
      schema: restrictingKey(
        'What becomes of a result that schema.result does not allow: `report` (default) logs and counts it, `enforce` answers with `on_error`, 502 svc.error.invalid_result.',
        oneOf(MODES),
      ),
    },
  },
  compile: (find, { diagnostics }) => compileSchemas(find, diagnostics),
  map: 'plain',
  describe: ({ isEnforced, ...schema } = {}) => ({
    ...(Object.keys(schema).length > 0 && { schema }),
    ...(isEnforced && { schema_mode: 'enforce' }),
  }),
}

const compileSchemas = (find: Find, diagnostics: Diagnostics): CompiledSchemas | undefined => {
  const levels = find.all('schema').flatMap((placed) => readLevel(placed, diagnostics))
  // The nearest level comes last, and wins entry by entry.
  const entries = levels.reverse().flatMap((level) => [...level])
  const schemas: Partial<Record<Entry, Value>> = {}
  for (const [name, { template, pointer }] of new Map(entries)) {
    const schema = readSchema(name, template, pointer, diagnostics)
    if (schema !== undefined) schemas[name] = schema
  }
  const mode = find('schema_mode')
  const isEnforced =
    mode !== undefined &&
    readOneOf(mode.template, mode.pointer, MODES, diagnostics) === 'enforce' &&
    schemas.result !== undefined
  return entries.length === 0 ? undefined : { ...schemas, ...(isEnforced && { isEnforced }) }
}

/** What is sent before its end is known cannot be checked first. */
export const refuseUncheckable = (
  operation: CompiledOperation,
  refuse: (message: string) => void,
): void => {
  const { action, schema } = operation
  if (schema?.isEnforced !== true) return
  const isSwitched = action.type === 'forward' && action.upgrade === 'websocket'
  if (isSwitched || actionResponse(operation).events === 'endless')
    refuse(
      "a stream cannot be checked before it is sent: write 'schema_mode: report' here, or leave the schema of the result out",
    )
}

/** Few clients send a body with GET or HEAD, and all others are refused. */
export const warnOfUnusualBody = (
  method: Method,
  schemas: CompiledSchemas | undefined,
  finder: () => Find,
  diagnostics: Diagnostics,
): void => {
  if (schemas?.body === undefined || (method !== 'get' && method !== 'head')) return
  const ignored = createDiagnostics()
  const levels = finder()
    .all('schema')
    .flatMap((placed) => readLevel(placed, ignored))
  const placed = levels.find((level) => level.has('body'))?.get('body')
  if (placed !== undefined)
    diagnostics.warning(
      'UnsuitableValue',
      placed.pointer,
      'every GET and HEAD without a body is refused: set the schema of the body at the operations that have one',
    )
}

type Level = ReadonlyMap<Entry, Placed>

const readLevel = ({ template, pointer }: Placed, diagnostics: Diagnostics): readonly Level[] => {
  const map = toFoldedMap(template, pointer, diagnostics)
  if (map === undefined) return []
  const level = new Map<Entry, Placed>()
  for (const name of map.keys) {
    const place = childPointer(pointer, name)
    const entry = ENTRIES.find((each) => each === name)
    if (entry !== undefined)
      level.set(entry, { template: map.get(name) ?? INVALID, pointer: place })
    else
      diagnostics.problem(
        'invalid_value',
        place,
        `there are schemas of ${ENTRIES.join(', ')}${didYouMean(name, ENTRIES)}`,
      )
  }
  return [level]
}

const readSchema = (
  name: Entry,
  template: Template,
  pointer: string,
  diagnostics: Diagnostics,
): Value | undefined => {
  if (template === INVALID) return undefined
  if (template.kind !== 'constant') {
    diagnostics.problem(
      'invalid_value',
      pointer,
      'a schema must be known when the document is loaded: no expression that reads the request may stand in it',
    )
    return undefined
  }
  const { value } = template
  const problems = [...problemsOf(value), ...(name === 'headers' ? headerProblems(value) : [])]
  for (const { code, keys, message } of problems)
    diagnostics.problem(code, keys.reduce<string>(childPointer, pointer), message)
  return problems.length === 0 ? value : undefined
}

/** Many operations share a schema. */
const known = new WeakMap<object, readonly SchemaProblem[]>()

const problemsOf = (schema: Value): readonly SchemaProblem[] => {
  if (typeof schema !== 'object' || schema === null) return checkSchema(schema)
  const problems = known.get(schema) ?? checkSchema(schema)
  known.set(schema, problems)
  return problems
}

/** Expressions and schemas see the names of headers in lower case. */
const headerProblems = (schema: Value): readonly SchemaProblem[] => {
  if (!isMap(schema)) return []
  const properties = ownValue(schema, 'properties')
  const required = ownValue(schema, 'required')
  const named = [
    ...Object.keys(isMap(properties) ? properties : {}).map(
      (name) => ['properties', name] as const,
    ),
    ...(isList(required) ? required : []).map((name, at) => ['required', at, name] as const),
  ]
  return named.flatMap(([keyword, key, name = key]): readonly SchemaProblem[] =>
    typeof name !== 'string' || name === name.toLowerCase()
      ? []
      : [{ code: 'invalid_value', keys: [keyword, key], message: LOWER_CASE }],
  )
}

const LOWER_CASE = 'the names of headers are in lower case here, as expressions read them'
