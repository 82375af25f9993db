// Lists every member of the entries of a sync call with its effect on an older gateway that does not know it: it is
// ignored, or, where it is a policy, the entry is rejected. Both programs read these tables.

import { childPointer, pointerKeys } from '../../base/json-pointer.ts'
import { ownValue } from '../expression/lookup.ts'
import { isMap } from '../expression/value.ts'
import type { ExtensibleSchema } from '../schema/realm-notation.ts'
import { REALM_SCHEMA } from '../schema/realm-schema.ts'
import { OIDC_PROVIDER_SCHEMA } from '../schema/oidc-provider-schema.ts'
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
  /** `*` is any key. */
  readonly pointer: string
  readonly members: Importances
}

const importancesOf = ({ properties }: ExtensibleSchema): Importances =>
  Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, property['x-importance']]),
  )

const TABLES = {
  spec: [{ pointer: '', members: SPEC_MEMBERS }],
  // In users, keys and issuers the schema refuses what it does not know, as that says who may call.
  realm: [
    { pointer: '', members: REALM_PUT_MEMBERS },
    { pointer: '/realm', members: importancesOf(REALM_SCHEMA) },
    { pointer: '/realm/router', members: importancesOf(ROUTER_SCHEMA) },
    { pointer: '/realm/info/oidc_providers/*', members: importancesOf(OIDC_PROVIDER_SCHEMA) },
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
export const isKnownMember = (kind: EntryKind, pointer: string): boolean => {
  const keys = pointerKeys(pointer)
  return TABLES[kind].every(({ pointer: parent, members }: Table) => {
    const parents = pointerKeys(parent)
    const isWithin =
      keys.length > parents.length && parents.every((key, i) => key === '*' || key === keys[i])
    return !isWithin || Object.hasOwn(members, keys[parents.length] ?? '')
  })
}

const membersWhere = (
  kind: EntryKind,
  entry: unknown,
  isWanted: (importance: Importance | undefined) => boolean,
): readonly string[] =>
  TABLES[kind].flatMap(({ pointer, members }: Table) =>
    mapsAtPointer(entry, pointer).flatMap(([place, map]) =>
      Object.keys(map)
        .filter((name) => isWanted(Object.hasOwn(members, name) ? members[name] : undefined))
        .map((name) => childPointer(place, name)),
    ),
  )

/** With the pointer to each. */
const mapsAtPointer = (
  entry: unknown,
  pointer: string,
): readonly (readonly [place: string, map: object])[] => {
  let found: readonly (readonly [string, unknown])[] = [['', entry]]
  for (const key of pointerKeys(pointer))
    found = found.flatMap(([place, value]) => {
      if (!isMap(value)) return []
      const keys = key === '*' ? Object.keys(value) : [key]
      return keys.map((each) => [childPointer(place, each), ownValue(value, each)] as const)
    })
  return found.flatMap(([place, value]) => (isMap(value) ? [[place, value] as const] : []))
}
