// Makes a realm record that has every member of the schema once, so that a member that is added later is in it too.

import type { Value } from '../../language/expression/value.ts'
import { childPointer } from '../../base/json-pointer.ts'
import type { RealmRecord } from '../../language/realm/record.ts'
import {
  isTexts,
  type LeafSchema,
  mapValues,
  type Sensitivity,
  type ValueSchema,
} from '../../language/schema/realm-notation.ts'
import { REALM_SCHEMA } from '../../language/schema/realm-schema.ts'

export interface Leaf {
  readonly pointer: string
  readonly sensitivity: Sensitivity
}

export interface RealmWithEverything {
  readonly record: RealmRecord
  readonly leaves: readonly Leaf[]
}

/** What stands for every secret of the record. */
export const HIDDEN = 'hidden'

/** @param address what stands where the schema has an address that may hold credentials */
export const realmWithEverything = (
  address = `ws://user:${HIDDEN}@router/?token=${HIDDEN}`,
): RealmWithEverything => {
  const leaves: Leaf[] = []
  const valueOf = (schema: ValueSchema, pointer: string): Value => {
    const inner = (name: string | number, each: ValueSchema): Value =>
      valueOf(each, childPointer(pointer, name))
    if ('x-sensitivity' in schema) {
      leaves.push({ pointer, sensitivity: schema['x-sensitivity'] })
      return isTexts(schema) ? 'shown' : leafOf(schema, address)
    }
    if ('items' in schema) return [inner(0, schema.items)]
    if (!('properties' in schema)) return { 'a/b': inner('a/b', mapValues(schema)) }
    return Object.fromEntries(
      Object.entries(schema.properties).map(([name, property]) => [name, inner(name, property)]),
    )
  }
  return { record: valueOf(REALM_SCHEMA, '') as RealmRecord, leaves }
}

const leafOf = (schema: LeafSchema, address: string): Value => {
  const { type, enum: choices, minimum = 0, 'x-sensitivity': sensitivity } = schema
  if (sensitivity === 'address') return address
  if (sensitivity !== 'public') return HIDDEN
  if (type === 'integer') return minimum
  if (type === 'boolean') return true
  return type === 'object' ? { a_b: 'shown' } : (choices?.[0] ?? 'shown')
}
