// Lists every member of the entries of a sync call with its effect on an older gateway that does not know it: it is
// ignored, or, where it is a policy, the entry is rejected. Both programs read these tables.

import { childPointer, pointerKeys } from '../../base/json-pointer.ts'
import { ownValue } from '../expression/lookup.ts'
import { isMap } from '../expression/value.ts'
import type { ExtensibleSchema } from '../schema/realm-notation.ts'
import { REALM_SCHEMA } from '../schema/realm-schema.ts'
import { ROUTER_SCHEMA } from '../schema/router-schema.ts'
import type { Importance } from './importance.ts'
import type { RealmPut, SpecPut } from './wire.ts'

type Members<T> = Readonly<Record<keyof T, Importance>>

const SPEC_MEMBERS = {
  id: 'known',
  digest: 'known',
  since: 'known',
  resource: 'ignorable',
  spec: 'known',
  variables: 'known',
  confinedTo: 'critical',
  // An older gateway would send the requests without them.
  credentials: 'critical',
  critical: 'known',
} as const satisfies Members<SpecPut>

const REALM_PUT_MEMBERS = {
  uri: 'known',
  digest: 'known',
  realm: 'known',
  critical: 'known',
} as const satisfies Members<RealmPut>

type Importances = Readonly<Record<string, Importance>>

interface Table {
  readonly pointer: string
  readonly members: Importances
}

const importancesOf = ({ properties }: ExtensibleSchema): Importances =>
  Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, property['x-importance']]),
  )

const TABLES = {
  spec: [{ pointer: '', members: SPEC_MEMBERS }],
  // In users, keys and issuers the schema refuses what it does not know, as that says who may call; of a provider it
  // ignores it.
  realm: [
    { pointer: '', members: REALM_PUT_MEMBERS },
    { pointer: '/realm', members: importancesOf(REALM_SCHEMA) },
    { pointer: '/realm/router', members: importancesOf(ROUTER_SCHEMA) },
  ],
} as const satisfies Record<string, readonly Table[]>

export type EntryKind = keyof typeof TABLES

/**
 * JSON pointers to the members of an entry that its reader may not ignore.
 * @example criticalMembers('spec', { id: 'a', …, confinedTo: 'shop' }) // ['/confinedTo']
 */
export const criticalMembers = (kind: EntryKind, entry: object): readonly string[] =>
  membersWhere(kind, entry, (importance) => importance === 'critical')

/**
 * JSON pointers to the members of an entry that a newer version has written, and this one does not know.
 * @example unknownMembers('spec', { id: 'a', …, weight: 3 }) // ['/weight']
 */
export const unknownMembers = (kind: EntryKind, entry: unknown): readonly string[] =>
  membersWhere(kind, entry, (importance) => importance === undefined)

/**
 * Whether this version knows the member that a JSON pointer names. What is deeper than the tables, the schema validates.
 * @example isKnownMember('spec', '/confinedTo') // true
 */
export const isKnownMember = (kind: EntryKind, pointer: string): boolean =>
  TABLES[kind].every(({ pointer: parent, members }: Table) => {
    if (!pointer.startsWith(`${parent}/`)) return true
    const [name = ''] = pointer.slice(parent.length + 1).split('/')
    return Object.hasOwn(members, name)
  })

const membersWhere = (
  kind: EntryKind,
  entry: unknown,
  isWanted: (importance: Importance | undefined) => boolean,
): readonly string[] =>
  TABLES[kind].flatMap(({ pointer, members }: Table) =>
    Object.keys(mapAtPointer(entry, pointer))
      .filter((name) => isWanted(Object.hasOwn(members, name) ? members[name] : undefined))
      .map((name) => childPointer(pointer, name)),
  )

const mapAtPointer = (entry: unknown, pointer: string): object => {
  const found = pointerKeys(pointer).reduce<unknown>((map, key) => ownValue(map, key), entry)
  return isMap(found) ? found : {}
}
