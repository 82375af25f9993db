// Turns the spec of a Realm (camelCase) into the record of the management API (snake_case), with its secrets. Renames
// and resolves only: realm-spec-schema.ts says what a spec may contain.

import { parseJson } from '../../base/parse-json.ts'
import { mapAt, memberAt, textAt } from '../../language/expression/members.ts'
import {
  isList,
  isMap,
  setOwn,
  type Value,
  type ValueMap,
} from '../../language/expression/value.ts'
import type { RealmRecord } from '../../language/realm/record.ts'
import { REALM_RECORD, snakeCase } from './realm-spec-schema.ts'
import type { KeyReference, RealmSpec } from './resource.ts'
import { isObject, type ObjectSchema, type ResourceSchema } from './resource-schema.ts'

/** Gives what stands for a secret: its text, or, for a digest, its version. */
export type SubstituteSecret = (reference: KeyReference) => string

/**
 * @example realmRecord({uri: 'a', callTimeout: 5}, () => '') // {uri: 'a', call_timeout: 5}
 */
export const realmRecord = (spec: RealmSpec, substitute: SubstituteSecret): RealmRecord => {
  const record = mapObject(REALM_RECORD, spec, substitute)
  const keys = record['signing_keys']
  const withKeys = isList(keys) ? { ...record, signing_keys: keys.map(parseKey) } : record
  // It follows from the schema of the record, as its type does.
  return withKeys as unknown as RealmRecord
}

/** Every secret that a spec refers to, in the order in which it stands there. */
export const secretReferences = (spec: RealmSpec): readonly KeyReference[] => {
  const references: KeyReference[] = []
  mapObject(REALM_RECORD, spec, (reference) => {
    references.push(reference)
    return ''
  })
  return references
}

/**
 * The pointer into the spec for one into the record: field names turn camelCase, keys that are data stay.
 * @example specPointer('/users/0/password_hash') // '/spec/users/0/passwordHash'
 */
export const specPointer = (recordPointer: string): string => {
  const steps = stepsTo(recordPointer)
  return ['/spec', ...steps.map(({ name }) => name)].join('/')
}

/**
 * What the resource may contain at a pointer into the record; undefined where the record has no such member.
 * @example schemaAt('/callback_secret') // { 'x-sensitivity': 'secret', … }
 */
export const schemaAt = (recordPointer: string): ResourceSchema | undefined =>
  stepsTo(recordPointer).at(-1)?.inner

interface Step {
  readonly name: string
  readonly inner: ResourceSchema | undefined
}

const stepsTo = (recordPointer: string): readonly Step[] => {
  let schema: ResourceSchema | undefined = REALM_RECORD
  return recordPointer
    .split('/')
    .slice(1)
    .map((token) => {
      const step = stepInto(schema, token)
      schema = step.inner
      return step
    })
}

const stepInto = (schema: ResourceSchema | undefined, token: string): Step => {
  if (schema === undefined) return { name: token, inner: undefined }
  if ('items' in schema) return { name: token, inner: schema.items }
  if ('additionalProperties' in schema) return { name: token, inner: schema.additionalProperties }
  if (!isObject(schema)) return { name: token, inner: undefined }
  const [name = token, inner] =
    Object.entries(schema.properties).find(([each]) => snakeCase(each) === token) ?? []
  return { name, inner }
}

const mapValue = (schema: ResourceSchema, value: Value, substitute: SubstituteSecret): Value => {
  if ('items' in schema)
    return isList(value) ? value.map((item) => mapValue(schema.items, item, substitute)) : value
  if (!isMap(value)) return value
  if ('x-sensitivity' in schema) return substitute(referenceOf(value))
  if (isObject(schema)) return mapObject(schema, value, substitute)
  return 'additionalProperties' in schema
    ? mapMap(schema.additionalProperties, value, substitute)
    : value
}

const mapObject = (
  { properties }: ObjectSchema,
  value: ValueMap,
  substitute: SubstituteSecret,
): Record<string, Value> => {
  const result: Record<string, Value> = {}
  for (const [name, property] of Object.entries(properties)) {
    const member = memberAt(value, name)
    if (member !== undefined) result[snakeCase(name)] = mapValue(property, member, substitute)
  }
  return result
}

const mapMap = (
  schema: ResourceSchema,
  value: ValueMap,
  substitute: SubstituteSecret,
): ValueMap => {
  const result: Record<string, Value> = {}
  for (const [key, item] of Object.entries(value)) {
    setOwn(result, key, mapValue(schema, item, substitute))
  }
  return result
}

const referenceOf = (value: ValueMap): KeyReference => {
  const reference = mapAt(value, 'secretRef')
  return { name: textAt(reference, 'name'), key: textAt(reference, 'key') }
}

/** A JWK in a Secret is text; the record takes it as a map. What is no JSON is PEM. */
const parseKey = (key: Value): Value => {
  if (typeof key !== 'string' || !key.trimStart().startsWith('{')) return key
  try {
    const parsed: unknown = parseJson(key)
    return isMap(parsed) ? parsed : key
  } catch {
    return key
  }
}
