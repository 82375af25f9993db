// Reads an OpenAPI description and follows the references within it. Never fetches what is outside.

import { parseAllDocuments } from 'yaml'
import { childPointer } from '../../base/json-pointer.ts'
import { ownValue } from '../../language/expression/lookup.ts'
import { listAt } from '../../language/expression/members.ts'
import { isMap, type Value, type ValueMap } from '../../language/expression/value.ts'
import { resolveReference } from '../../language/json-schema/reference.ts'
import { MAX_BYTES, measure } from '../../language/measure.ts'
import { parseJson } from '../../base/parse-json.ts'
import { messageOf } from '../../base/thrown.ts'

/** 3.1: and 3.2, whose schemas are JSON Schema 2020-12. */
export type Dialect = '2.0' | '3.0' | '3.1'

export interface Description {
  readonly root: ValueMap
  readonly dialect: Dialect
  /** What all schemas of the document may have together, counted down. */
  readonly budget: { bytes: number }
}

/** A value of a description with its JSON pointer. */
export interface Placed<T extends Value = Value> {
  readonly value: T
  readonly pointer: string
}

/** Resolved nodes for each alias, and so what a few bytes may grow to. */
const MOST_ALIASES = 10_000
const MOST_SCHEMA_BYTES = 2 * 1024 * 1024

/** Lists what a document cannot say, or what a person must fill in. */
export type Drop = (pointer: string, reason: string) => void

export const readDescription = (text: string): Description | { readonly error: string } => {
  if (Buffer.byteLength(text) > MAX_BYTES)
    return { error: `a description has at most ${MAX_BYTES} bytes` }
  const parsed = parse(text)
  if ('error' in parsed) return parsed
  const { value } = parsed
  const [unfit] = measure(value)
  if (unfit !== undefined) return { error: `${unfit.path}: ${unfit.message}` }
  const dialect = isMap(value) ? dialectOf(value) : undefined
  if (!isMap(value) || dialect === undefined)
    return { error: 'this is no OpenAPI description of version 2.0, 3.0, 3.1 or 3.2' }
  return { root: value, dialect, budget: { bytes: MOST_SCHEMA_BYTES } }
}

type Parsed = { readonly value: unknown } | { readonly error: string }

const parse = (text: string): Parsed => {
  try {
    return { value: parseJson(text) }
  } catch {
    return parseOneDocument(text)
  }
}

/** As OpenAPI has it: YAML 1.2, in which `on` and `.` are texts. kubectl and our manifests read 1.1. */
const parseOneDocument = (text: string): Parsed => {
  const documents = parseAllDocuments(text, { version: '1.2', merge: true, logLevel: 'silent' })
  const [document, another] = documents
  if (document === undefined || another !== undefined)
    return { error: 'a description is one YAML or JSON document' }
  const [error] = document.errors
  if (error !== undefined) return { error: firstLine(error.message) }
  try {
    return { value: document.toJS({ maxAliasCount: MOST_ALIASES }) }
  } catch (error) {
    return { error: firstLine(messageOf(error)) }
  }
}

/** The lines that follow show the file. */
const firstLine = (message: string): string => message.split('\n', 1).join('').replace(/:$/, '')

const dialectOf = (root: ValueMap): Dialect | undefined => {
  // YAML reads `swagger: 2.0` and `openapi: 3.1` without quotes as numbers.
  const written = ownValue(root, 'openapi') ?? ownValue(root, 'swagger')
  const version = typeof written === 'number' ? String(written) : written
  if (typeof version !== 'string') return undefined
  if (/^2(\.0)?$/.test(version)) return '2.0'
  if (/^3(\.0(\.\d+)?)?$/.test(version)) return '3.0'
  return /^3\.[12](\.\d+)?$/.test(version) ? '3.1' : undefined
}

const MOST_STEPS = 20

/** The map itself or what its references lead to; undefined: nothing that is known. */
export const follow = (
  { root }: Description,
  { value, pointer }: Placed,
): Placed<ValueMap> | undefined => {
  let placed = { value, pointer }
  for (let step = 0; step < MOST_STEPS; step++) {
    if (!isMap(placed.value)) return undefined
    const reference = ownValue(placed.value, '$ref')
    if (typeof reference !== 'string') return { value: placed.value, pointer: placed.pointer }
    placed = { value: resolveReference(root, reference) ?? null, pointer: reference.slice(1) }
  }
  return undefined
}

/** What a text stands for is never null: the schema is what stands beside null, or alone in a list. */
export const simplify = (description: Description, placed: Placed): Placed => {
  let current = placed
  for (let step = 0; step < MOST_STEPS; step++) {
    const followed = follow(description, current)
    if (followed === undefined) return current
    current = followed
    const inner = onlyInner(followed)
    if (inner === undefined) return current
    current = inner
  }
  return current
}

const onlyInner = ({ value, pointer }: Placed<ValueMap>): Placed | undefined => {
  const [name, another] = ['anyOf', 'oneOf', 'allOf'].filter((each) => Object.hasOwn(value, each))
  if (name === undefined || another !== undefined || Object.hasOwn(value, 'type')) return undefined
  const [only, more] = listAt(value, name).flatMap((each, at) =>
    ownValue(each, 'type') === 'null'
      ? []
      : [{ value: each, pointer: childPointer(childPointer(pointer, name), at) }],
  )
  return more === undefined ? only : undefined
}
