// Lists every member of the entries of a sync call with its effect on an older gateway that does not know it: it is
// ignored, or, where it is a policy, the entry is rejected. Both programs read these tables.

import { childPointer, pointerKeys } from '../../base/json-pointer.ts'
import { ownValue } from '../expression/lookup.ts'
import { isMap } from '../expression/value.ts'
import type { ExtensibleSchema } from '../schema/realm-notation.ts'
import { restrictingKeysOf } from '../validate/unknown-properties.ts'
import { REALM_SCHEMA } from '../schema/realm-schema.ts'
import { RESTRICTING_KEYS } from '../validate/restricting-keys.ts'
import { OIDC_PROVIDER_SCHEMA } from '../schema/oidc-provider-schema.ts'
import { ROUTER_SCHEMA } from '../schema/router-schema.ts'
import type { Importance } from '../schema/importance.ts'
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

/** Names keys of the document at any depth: where they stand is for the reader to find, and there may be thousands. */
const ANY_DEPTH = ['spec', '**'] as const

/**
 * JSON pointers to the members of an entry that its reader may not ignore; of keys of a document that restrict, by name.
 * @example criticalMembers('spec', { id: 'a', …, confinedTo: 'shop' }) // ['/confinedTo']
 */
export const criticalMembers = (kind: EntryKind, entry: object): readonly string[] => [
  ...membersWhere(kind, entry, (importance) => importance === 'critical'),
  ...restrictingKeysOf(kind === 'spec' ? ownValue(entry, 'spec') : undefined).map(
    (name) => `/${ANY_DEPTH.join('/')}/${name}`,
  ),
]

/**
 * JSON pointers to the members of an entry that a newer version has written, and this one does not know.
 * @example unknownMembers('spec', { id: 'a', …, weight: 3 }) // ['/weight']
 */
export const unknownMembers = (kind: EntryKind, entry: unknown): readonly string[] =>
  membersWhere(kind, entry, (importance) => importance === undefined)

/**
 * Whether this version knows the member that a JSON pointer names, or the key of documents. What is deeper than the tables,
 * the schema validates.
 * @example isKnownMember('spec', '/confinedTo') // true
 */
export const isKnownMember = (kind: EntryKind, pointer: string): boolean => {
  const keys = pointerKeys(pointer)
  if (kind === 'spec' && keys[0] === 'spec' && keys.length > 1) return isKnownKey(keys)
  return TABLES[kind].every(({ pointer: parent, members }: Table) => {
    const parents = pointerKeys(parent)
    const isWithin =
      keys.length > parents.length && parents.every((key, i) => key === '*' || key === keys[i])
    return !isWithin || Object.hasOwn(members, keys[parents.length] ?? '')
  })
}

const isKnownKey = (keys: readonly string[]): boolean =>
  keys.length === 3 && keys[1] === ANY_DEPTH[1] && RESTRICTING_KEYS.has(keys[2] ?? '')

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
