// Copies the public part of a realm record, for reading it back (behaviour §7). It copies only what the schema calls
// public, so that neither an unknown member nor one without a sensitivity is ever shown.

import { ownValue } from '../expression/lookup.ts'
import { isList, isMap, setOwn, type Value, type ValueMap } from '../expression/value.ts'
import { childPointer } from '../../base/json-pointer.ts'
import type { RealmRecord } from './record.ts'
import {
  type GuardedMapSchema,
  type ListSchema,
  type MapSchema,
  mapValues,
  type ObjectSchema,
  type Sensitivity,
  type ValueSchema,
} from '../schema/realm-notation.ts'
import { REALM_SCHEMA } from '../schema/realm-schema.ts'

/**
 * Left out: password hashes, key hashes, router and client secrets, signing keys, the callback secret,
 * and user names, passwords and queries inside router URLs.
 * @example redacted({ uri: 'a.b', callback_secret: 's' }) // { uri: 'a.b' }
 */
export const redacted = (realm: RealmRecord): ValueMap => {
  const readable = readablePart(REALM_SCHEMA, realm)
  return isMap(readable) ? readable : {}
}

/**
 * JSON pointers to what `redacted` leaves out of a realm: which secrets there are, without their values.
 * @example secretPointers({ uri: 'a.b', callback_secret: 's' }) // ['/callback_secret']
 */
export const secretPointers = (realm: RealmRecord): readonly string[] =>
  pointersToSecrets(REALM_SCHEMA, realm, '')

/** What is shown of a value; undefined: nothing, and what it is left out of has a pointer to it. */
const SHOWN = {
  public: (value) => value,
  address: (value) => (typeof value === 'string' ? withoutCredentials(value) : undefined),
  hash: () => undefined,
  secret: () => undefined,
} as const satisfies Record<Sensitivity, (value: Value) => Value | undefined>

const readablePart = (schema: ValueSchema, value: Value): Value | undefined => {
  if ('x-sensitivity' in schema) return SHOWN[schema['x-sensitivity']](value)
  if ('items' in schema) return readableItems(schema, value)
  if (!isMap(value)) return undefined
  const part: Record<string, Value> = {}
  for (const [name, member, memberSchema] of membersOf(schema, value)) {
    const readable = readablePart(memberSchema, member)
    if (readable !== undefined) setOwn(part, name, readable)
  }
  return part
}

/** A list of secrets is left out whole: how long it is says `secretPointers`. */
const readableItems = ({ items }: ListSchema, value: Value): Value | undefined => {
  if (!isList(value) || isSecret(items)) return undefined
  return value.flatMap((item) => {
    const readable = readablePart(items, item)
    return readable === undefined ? [] : [readable]
  })
}

const isSecret = (schema: ValueSchema): boolean =>
  'x-sensitivity' in schema &&
  (schema['x-sensitivity'] === 'secret' || schema['x-sensitivity'] === 'hash')

const pointersToSecrets = (
  schema: ValueSchema,
  value: Value,
  pointer: string,
): readonly string[] => {
  if ('x-sensitivity' in schema) {
    return SHOWN[schema['x-sensitivity']](value) === value ? [] : [pointer]
  }
  if ('items' in schema) {
    if (!isList(value)) return []
    return value.flatMap((item, i) =>
      pointersToSecrets(schema.items, item, childPointer(pointer, i)),
    )
  }
  if (!isMap(value)) return []
  return membersOf(schema, value).flatMap(([name, member, memberSchema]) =>
    pointersToSecrets(memberSchema, member, childPointer(pointer, name)),
  )
}

type Member = readonly [name: string, value: Value, schema: ValueSchema]

/** Own members of a map that its schema has. */
const membersOf = (
  schema: ObjectSchema | MapSchema | GuardedMapSchema,
  map: ValueMap,
): readonly Member[] => {
  if (!('properties' in schema)) {
    const each = mapValues(schema)
    return Object.entries(map).map(([name, value]) => [name, value, each])
  }
  return Object.entries(schema.properties).flatMap(([name, property]): readonly Member[] => {
    const value = ownValue(map, name)
    return value === undefined ? [] : [[name, value, property]]
  })
}

/** User info (up to the last `@` of the authority) and query, which may be a token; also from a text that is no URL. */
export const withoutCredentials = (url: string): string =>
  url.replace(/^([^/]*\/\/)[^/?#]*@/, '$1').replace(/[?#].*$/s, '')
