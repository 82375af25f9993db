// Checks values that no API server has seen by the schema of a resource. Reports every problem with its pointer, and never
// stops at the first.

import { childPointer } from '../../base/json-pointer.ts'
import { nearestName } from '../../base/nearest-name.ts'
import { memberAt } from '../../language/expression/members.ts'
import {
  isList,
  isMap,
  setOwn,
  type Value,
  type ValueMap,
} from '../../language/expression/value.ts'
import type { Problem } from '../../language/problem.ts'
import { unitHint } from '../../language/validate/unit-hints.ts'
import {
  isObject,
  isOpen,
  type ObjectSchema,
  type ResourceSchema,
  SECRET_REFERENCE,
  TEXT,
  TEXTS,
} from './resource-schema.ts'

/**
 * Every problem of `value` by `schema`. A member of an object that is null counts as absent, as in Kubernetes.
 * @example checkSchema(TEXT, 5, '/spec/uri') // [{code: 'invalid_datatype', path: '/spec/uri', …}]
 */
export const checkSchema = (
  schema: ResourceSchema,
  value: unknown,
  path: string,
): readonly Problem[] => {
  const problems: Problem[] = []
  check(schema, value, path, problems)
  return problems
}

/**
 * `value` without the members of objects that are null, as an API server prunes them before it validates: what reads a
 * checked value need not know of null. Entries of maps and items of lists stay, for `checkSchema` to reject: without an
 * entry, a selector would select more. The same object where there is nothing to leave out.
 * @example pruneNulls(SECRET_REFERENCE, { secretRef: null }) // {}
 */
export const pruneNulls = (schema: ResourceSchema, value: Value): Value => {
  if ('items' in schema && isList(value)) {
    const items = value.map((item) => pruneNulls(schema.items, item))
    return items.every((item, i) => item === value[i]) ? value : items
  }
  if (!isMap(value)) return value
  if ('x-sensitivity' in schema) return pruneObject(SECRET_REFERENCE, value)
  if (isObject(schema)) return pruneObject(schema, value)
  if ('additionalProperties' in schema)
    return changedMembers(value, (_name, item) => pruneNulls(schema.additionalProperties, item))
  return value
}

const pruneObject = ({ properties }: ObjectSchema, value: ValueMap): ValueMap =>
  changedMembers(value, (name, member) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (property === undefined) return member
    return member === null ? undefined : pruneNulls(property, member)
  })

/** @param change undefined: the member is left out */
const changedMembers = (
  value: ValueMap,
  change: (name: string, member: Value) => Value | undefined,
): ValueMap => {
  const changed: Record<string, Value> = {}
  let isSame = true
  for (const [name, member] of Object.entries(value)) {
    const next = change(name, member)
    if (next !== member) isSame = false
    if (next !== undefined) setOwn(changed, name, next)
  }
  return isSame ? value : changed
}

const check = (schema: ResourceSchema, value: unknown, path: string, problems: Problem[]): void => {
  if ('x-sensitivity' in schema) checkSecret(schema['x-sensitivity'], value, path, problems)
  else if ('x-texts' in schema) checkTexts(value, path, problems)
  else if (schema.type === 'string') checkText(schema, value, path, problems)
  else if (schema.type === 'integer') checkInteger(schema, value, path, problems)
  else if (schema.type === 'boolean') {
    if (typeof value !== 'boolean') problems.push(wrongType(path, 'true or false', value))
  } else if (schema.type === 'array') {
    if (!isList(value)) problems.push(wrongType(path, 'a list', value))
    else checkEach(schema.items, [...value.entries()], schema.maxItems, { path, problems })
  } else if (!isMap(value)) problems.push(wrongType(path, 'a map', value))
  else if ('additionalProperties' in schema) {
    const { additionalProperties: entry, maxProperties } = schema
    checkEach(entry, Object.entries(value), maxProperties, { path, problems })
  } else if (isObject(schema)) checkObject(schema, value, path, problems)
}

const checkEach = (
  schema: ResourceSchema,
  entries: readonly (readonly [key: string | number, value: unknown])[],
  most: number | undefined,
  { path, problems }: { readonly path: string; readonly problems: Problem[] },
): void => {
  if (most !== undefined && entries.length > most) problems.push(tooMany(path, most))
  else for (const [key, item] of entries) check(schema, item, childPointer(path, key), problems)
}

const checkSecret = (
  sensitivity: 'hash' | 'secret',
  value: unknown,
  path: string,
  problems: Problem[],
): void => {
  if (typeof value !== 'string') check(SECRET_REFERENCE, value, path, problems)
  else if (sensitivity === 'secret') problems.push(inlineSecret(path))
}

const checkTexts = (value: unknown, path: string, problems: Problem[]): void => {
  if (typeof value === 'string') check(TEXT, value, path, problems)
  else if (isList(value)) check(TEXTS, value, path, problems)
  else problems.push(wrongType(path, 'a text or a list of texts', value))
}

const checkText = (
  { enum: choices, minLength, maxLength = Infinity }: Extract<Typed, { type: 'string' }>,
  value: unknown,
  path: string,
  problems: Problem[],
): void => {
  if (typeof value !== 'string') problems.push(wrongType(path, 'a text', value))
  else if (value === '' && (minLength !== undefined || choices !== undefined)) {
    problems.push({ code: 'invalid_value', path, message: `${path} is empty` })
  } else if (choices && !choices.includes(value)) {
    const message = `${path} is '${value}'; it may be ${choices.join(', ')}`
    problems.push({ code: 'invalid_value', path, message })
  } else if (value.length > maxLength) {
    const message = `${path} is longer than ${maxLength} characters`
    problems.push({ code: 'invalid_value', path, message })
  }
}

const checkInteger = (
  { minimum = -Infinity }: Extract<Typed, { type: 'integer' }>,
  value: unknown,
  path: string,
  problems: Problem[],
): void => {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
    const hint = typeof value === 'string' ? unitHint(path.toLowerCase(), value) : ''
    const problem = wrongType(path, 'a whole number', value)
    problems.push({ ...problem, message: `${problem.message}${hint && `.${hint}`}` })
  } else if (value < minimum) {
    const message = `${path} is ${value}; the least is ${minimum}`
    problems.push({ code: 'invalid_value', path, message })
  }
}

type Typed = Extract<ResourceSchema, { type: string }>

const checkObject = (
  schema: ObjectSchema,
  value: ValueMap,
  path: string,
  problems: Problem[],
): void => {
  const { properties, required = [] } = schema
  for (const [name, property] of Object.entries(properties)) {
    const member = memberAt(value, name)
    const pointer = childPointer(path, name)
    if (member !== undefined) check(property, member, pointer, problems)
    else if (required.includes(name)) {
      problems.push({
        code: 'missing_required_value',
        path: pointer,
        message: `${pointer} is missing`,
      })
    }
  }
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(properties, name)) problems.push(unknownField(schema, path, name))
  }
}

const unknownField = ({ properties }: ObjectSchema, path: string, name: string): Problem => {
  const pointer = childPointer(path, name)
  const known = Object.keys(properties)
  const near = nearestName(name, known) ?? known.find((each) => isBeginning(name, each))
  const holder = Object.entries(properties).find(
    ([, property]) => isOpen(property) && property['x-holds']?.includes(name) === true,
  )?.[0]
  if (holder !== undefined)
    return {
      code: 'invalid_value',
      path: pointer,
      message: `${pointer} is not a known field: ${name} belongs under ${childPointer(path, holder)}`,
    }
  if (/^[a-z]{1,2}=/.test(name))
    return {
      code: 'invalid_value',
      path: pointer,
      message: `${pointer} is no field, but what follows a comma: put the value before it into quotes, as a hash has commas`,
    }
  const hint = near === undefined ? '; known' : `; did you mean '${near}'? Known`
  return {
    code: 'invalid_value',
    path: pointer,
    message: `${pointer} is not a known field${hint} fields are ${known.join(', ')}`,
  }
}

/** `password` for `passwordHash`. */
const isBeginning = (name: string, known: string): boolean =>
  name.length > 2 && known.toLowerCase().startsWith(name.toLowerCase())

const tooMany = (path: string, most: number): Problem => ({
  code: 'invalid_value',
  path,
  message: `${path} has more than ${most} entries`,
})

const inlineSecret = (path: string): Problem => ({
  code: 'invalid_datatype',
  path,
  message: `${path} must not stand here in clear: put it into a Secret and write {secretRef: {name, key}}`,
})

const wrongType = (path: string, wanted: string, value: unknown): Problem => ({
  code: 'invalid_datatype',
  path,
  message: `${path} must be ${wanted}, not ${describeType(value)}`,
})

const describeType = (value: unknown): string => {
  if (value === null || value === undefined) return 'null'
  if (isList(value)) return 'a list'
  if (isMap(value)) return 'a map'
  return typeof value === 'string' ? 'a text' : `a ${typeof value}`
}
