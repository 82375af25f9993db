// Takes realms and Secrets apart into what is compared. Hashes and secrets are compared where both sides have them, and never
// shown. Pure.

import {
  isMap,
  isList,
  setOwn,
  type Value,
  type ValueMap,
} from '../../language/expression/value.ts'
import { ownValue } from '../../language/expression/lookup.ts'
import { mapAt, textAt } from '../../language/expression/members.ts'
import { redacted, secretPointers } from '../../language/realm/redact.ts'
import type { RealmSource } from '../../operator/fleet/client/read-response.ts'
import { realmRecord } from '../../operator/resource/realm-record.ts'
import type { RealmOfFile } from '../explain/read-documents.ts'
import type { Located } from '../validate/collect-resources.ts'
import type { Entry } from './entry.ts'

/** Reads a Realm resource: what it says of a secret is compared, its value in a Secret is not. */
export const realmEntry = ({ spec, namespace, at }: RealmOfFile): Entry => {
  const record = recordOf({ spec, namespace })
  // Which namespaces and hosts may use it the operator alone knows. An API server writes what is left out.
  const allowedHosts = ownValue(spec, 'allowedHosts')
  const policy: ValueMap = {
    allowedNamespaces: { from: 'Same', ...mapAt(spec, 'allowedNamespaces') },
    ...(allowedHosts !== undefined && { allowedHosts }),
  }
  return {
    ...named(spec.uri, at),
    full: keyed({ ...(record as unknown as ValueMap), ...policy }),
    shown: keyed({ ...redacted(record), ...policy }),
  }
}

/** Reads a Realm as a gateway would describe it, which shows that there is a secret, and not which. */
export const readableRealmEntry = ({ spec, namespace, at }: RealmOfFile): Entry => {
  const record = recordOf({ spec, namespace })
  return readable(spec.uri, at, redacted(record), secretPointers(record))
}

/** @param likeness of the Realm among the files; keys that the operator makes where that gives none are not compared */
export const entryOfGatewayRealm = (
  { uri, realm, secrets }: RealmSource,
  { spec }: RealmOfFile,
): Entry => {
  const isMade = ownValue(spec, 'signingKeys') === undefined
  return readable(
    uri,
    '',
    realm,
    secrets.filter((pointer) => !isMade || !pointer.startsWith('/signing_keys')),
  )
}

const recordOf = ({ spec, namespace }: Pick<RealmOfFile, 'spec' | 'namespace'>) =>
  realmRecord(spec, ({ name, key }) => `secretRef ${namespace}/${name} ${key}`)

const readable = (uri: string, at: string, realm: ValueMap, secrets: readonly string[]): Entry => {
  const members = keyed(withSecrets(realm, secrets))
  return { ...named(uri, at), full: members, shown: members }
}

const named = (
  uri: string,
  at: string,
): Pick<Entry, 'kind' | 'key' | 'name' | 'at' | 'summary'> => ({
  kind: 'realm',
  key: uri,
  name: `realm ${uri}`,
  at,
  summary: '',
})

const HIDDEN = '(hidden)'

/** With a word in the place of each secret that was left out. */
const withSecrets = (realm: ValueMap, pointers: readonly string[]): ValueMap =>
  pointers.reduce<ValueMap>(
    (map, pointer) => withHidden(map, pointer.split('/').slice(1)) as ValueMap,
    realm,
  )

const withHidden = (value: Value | undefined, [first, ...rest]: readonly string[]): Value => {
  // An address is there, without its credentials.
  if (first === undefined) return value ?? HIDDEN
  if (value !== undefined && isList(value))
    return value.map((item, at) => (String(at) === first ? withHidden(item, rest) : item))
  const map: Record<string, Value> = {}
  for (const [name, member] of Object.entries(value !== undefined && isMap(value) ? value : {}))
    setOwn(map, name, member)
  setOwn(map, first, withHidden(ownValue(map, first), rest))
  return map
}

/** What names an item of a list. */
const IDENTITIES = ['username', 'issuer']
const SETS = new Set(['groups', 'authmethods', 'allowed_origins', 'callback_origins', 'grants'])

/** Lists of users, keys and issuers by name: one that is new is no change of those behind it. */
const keyed = (record: ValueMap): ValueMap => {
  const map: Record<string, Value> = {}
  for (const [name, value] of Object.entries(record)) setOwn(map, name, keyedValue(name, value))
  return map
}

const keyedValue = (name: string, value: Value): Value => {
  if (isMap(value)) return name === 'meta' ? value : keyed(value)
  if (!isList(value)) return value
  if (SETS.has(name)) return value.map(String).toSorted()
  const identity = IDENTITIES.find((each) => value.every((item) => isMap(item) && each in item))
  if (identity === undefined || value.length === 0) return value
  const map: Record<string, Value> = {}
  for (const item of value) {
    if (!isMap(item)) continue
    const own = textAt(item, identity)
    let key = own
    for (let at = 2; Object.hasOwn(map, key); at++) key = `${own} (${at})`
    setOwn(map, key, keyed(item))
  }
  return map
}

/** Secrets among files, of which the names of the keys are shown. */
export const secretEntries = (located: Iterable<Located>): readonly Entry[] =>
  [...located].flatMap(({ resource, file, positionOf }) => {
    if (resource.kind !== 'Secret') return []
    const { namespace, name } = resource.metadata
    const { line, column } = positionOf('')
    return [
      {
        kind: 'secret' as const,
        key: `${namespace}/${name}`,
        name: `Secret ${namespace}/${name}`,
        at: `${file}:${line}:${column}`,
        summary: '',
        full: resource.data,
        shown: {},
      },
    ]
  })
