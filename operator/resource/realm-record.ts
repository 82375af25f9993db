// Turns the spec of a Realm (camelCase) into the record of the management API (snake_case), with its secrets. Renames
// and resolves only: realm-shape.ts says what a spec may contain.

import { mapAt, memberAt, textAt } from '../../language/expression/members.ts'
import {
  isList,
  isMap,
  setOwn,
  type Value,
  type ValueMap,
} from '../../language/expression/value.ts'
import type { RealmRecord } from '../../language/realm/record.ts'
import { REALM_RECORD } from './realm-shape.ts'
import type { KeyReference, RealmSpec } from './resource.ts'
import { snakeCase } from './schema-shape.ts'
import type { ObjectShape, Shape } from './shape.ts'

/** Gives what stands for a secret: its text, or, for a digest, its version. */
export type SubstituteSecret = (reference: KeyReference) => string

/**
 * @example realmRecord({uri: 'a', callTimeout: 5}, () => '') // {uri: 'a', call_timeout: 5}
 */
export const realmRecord = (spec: RealmSpec, substitute: SubstituteSecret): RealmRecord => {
  const record = mapObject(REALM_RECORD, spec, substitute)
  const keys = record['signing_keys']
  const withKeys = isList(keys) ? { ...record, signing_keys: keys.map(parseKey) } : record
  // The shape follows from the schema of the record, as its type does.
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
 * @example shapeAt('/callback_secret') // { type: 'secret', inline: false }
 */
export const shapeAt = (recordPointer: string): Shape | undefined =>
  stepsTo(recordPointer).at(-1)?.inner

interface Step {
  readonly name: string
  readonly inner: Shape | undefined
}

const stepsTo = (recordPointer: string): readonly Step[] => {
  let shape: Shape | undefined = REALM_RECORD
  return recordPointer
    .split('/')
    .slice(1)
    .map((token) => {
      const step = stepInto(shape, token)
      shape = step.inner
      return step
    })
}

const stepInto = (shape: Shape | undefined, token: string): Step => {
  if (shape?.type === 'list' || shape?.type === 'map') return { name: token, inner: shape.of }
  if (shape?.type !== 'object') return { name: token, inner: undefined }
  const named = Object.entries(shape.fields).find(([name]) => snakeCase(name) === token)
  if (named === undefined) return { name: token, inner: undefined }
  const [name, field] = named
  return { name, inner: field.shape }
}

const mapValue = (shape: Shape, value: Value, substitute: SubstituteSecret): Value => {
  if (shape.type === 'object') return isMap(value) ? mapObject(shape, value, substitute) : value
  if (shape.type === 'list') {
    return isList(value) ? value.map((item) => mapValue(shape.of, item, substitute)) : value
  }
  if (shape.type === 'map') return isMap(value) ? mapMap(shape.of, value, substitute) : value
  if (shape.type === 'secret') return isMap(value) ? substitute(referenceOf(value)) : value
  return value
}

const mapObject = (
  shape: ObjectShape,
  value: ValueMap,
  substitute: SubstituteSecret,
): Record<string, Value> => {
  const result: Record<string, Value> = {}
  for (const [name, field] of Object.entries(shape.fields)) {
    const member = memberAt(value, name)
    if (member !== undefined) result[snakeCase(name)] = mapValue(field.shape, member, substitute)
  }
  return result
}

const mapMap = (shape: Shape, value: ValueMap, substitute: SubstituteSecret): ValueMap => {
  const result: Record<string, Value> = {}
  for (const [key, item] of Object.entries(value)) {
    setOwn(result, key, mapValue(shape, item, substitute))
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
    const parsed: unknown = JSON.parse(key)
    return isMap(parsed) ? parsed : key
  } catch {
    return key
  }
}
