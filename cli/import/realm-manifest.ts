// Turns a realm, as a gateway describes it, into a Realm, and lists what a person must fill in its Secret and what
// could not be imported. Pure, and without secrets, as a gateway reveals none.

import { childPointer } from '../../base/json-pointer.ts'
import { memberAt } from '../../language/expression/members.ts'
import {
  isList,
  isMap,
  setOwn,
  type Value,
  type ValueMap,
} from '../../language/expression/value.ts'
import type { RealmSource } from '../../operator/fleet/client/read-response.ts'
import { schemaAt, specPointer } from '../../operator/resource/realm-record.ts'
import { REALM_RECORD, snakeCase } from '../../operator/resource/realm-spec-schema.ts'
import { API_VERSION } from '../../operator/resource/resource.ts'
import {
  isObject,
  type ObjectSchema,
  type ResourceSchema,
} from '../../operator/resource/resource-schema.ts'
import { type Manifest, metadataOf, type Place, type Wanted } from './manifest.ts'
import { secretKeys } from './resource-names.ts'

export const realmManifest = (source: RealmSource, place: Place): Manifest => {
  const secretName = `${place.name}-realm`
  const pointers = source.secrets.filter((pointer) => !isPartOfText(pointer))
  const keys = secretKeys(pointers.map((pointer) => keyOf(pointer, source.realm)))
  const references = new Map(
    pointers.map((pointer, i) => [
      pointer,
      { secretRef: { name: secretName, key: keys[i] ?? '' } } satisfies ValueMap,
    ]),
  )
  const spec = specOf(REALM_RECORD, source.realm, '', references)
  const wanted: readonly Wanted[] = pointers.map((pointer, i) => ({
    key: keys[i] ?? '',
    what: specPointer(pointer),
  }))
  return {
    object: { apiVersion: API_VERSION, kind: 'Realm', metadata: metadataOf(place), spec },
    notes: source.secrets
      .filter(isPartOfText)
      .map((pointer) => `${specPointer(pointer)}: put back its user, password or query`),
    ...(wanted.length > 0 && { secret: { name: secretName, wanted } }),
  }
}

/** An address with credentials is a text of the resource too: a person has to put them back there. */
const isPartOfText = (pointer: string): boolean => {
  const schema = schemaAt(pointer)
  return schema !== undefined && 'type' in schema && schema.type === 'string'
}

type Inner = (schema: ResourceSchema, member: Value | undefined, token: string) => Value

const specOf = (
  schema: ResourceSchema,
  value: Value | undefined,
  pointer: string,
  references: ReadonlyMap<string, ValueMap>,
): Value => {
  const reference = references.get(pointer)
  if (reference !== undefined) return reference
  const inner: Inner = (each, member, token) =>
    specOf(each, member, childPointer(pointer, token), references)
  if (isObject(schema) && isMap(value)) {
    return objectSpec(schema, value, inner, (token) =>
      [`${pointer}/${token}`, `${pointer}/${token}/0`].some((each) => references.has(each)),
    )
  }
  if ('items' in schema) {
    if ('x-sensitivity' in schema.items) return secretList(pointer, references)
    if (isList(value)) return value.map((item, i) => inner(schema.items, item, String(i)))
  }
  return 'additionalProperties' in schema && isMap(value)
    ? mapSpec(schema.additionalProperties, value, inner)
    : (value ?? null)
}

const objectSpec = (
  { properties }: ObjectSchema,
  value: ValueMap,
  inner: Inner,
  isSecret: (token: string) => boolean,
): ValueMap => {
  const spec: Record<string, Value> = {}
  for (const [name, property] of Object.entries(properties)) {
    const token = snakeCase(name)
    const member = memberAt(value, token)
    if (member !== undefined || isSecret(token)) spec[name] = inner(property, member, token)
  }
  return spec
}

/** Lists of secrets are not in what was read at all. */
const secretList = (
  pointer: string,
  references: ReadonlyMap<string, ValueMap>,
): readonly ValueMap[] => {
  const list: ValueMap[] = []
  let reference = references.get(`${pointer}/0`)
  while (reference !== undefined) {
    list.push(reference)
    reference = references.get(`${pointer}/${list.length}`)
  }
  return list
}

const mapSpec = (schema: ResourceSchema, value: ValueMap, inner: Inner): ValueMap => {
  const spec: Record<string, Value> = {}
  for (const [key, item] of Object.entries(value)) setOwn(spec, key, inner(schema, item, key))
  return spec
}

/** @example keyOf('/users/0/password_hash', {users: [{username: 'carol'}]}) // 'password-hash-carol' */
const keyOf = (pointer: string, record: ValueMap): string => {
  const tokens = pointer.slice(1).split('/')
  const [root = '', index = '', member = ''] = tokens
  const last = tokens.at(-1) ?? ''
  switch (root) {
    case 'users':
    case 'api_keys':
      return `${dashed(member)}-${usernameAt(record[root], index)}`
    case 'signing_keys':
      return `signing-key-${Number(index) + 1}`
    case 'signatures':
      return `signature-${dashed(index)}-${Number(last) + 1}`
    case 'info':
      return `${dashed(last)}-${member}`
    case 'router':
      return `router-${dashed(last)}`
    default:
      return root === last ? dashed(root) : `${dashed(root)}-${dashed(last)}`
  }
}

/** The index itself for an entry without a name. */
const usernameAt = (list: Value | undefined, index: string): string => {
  const entry = list !== undefined && isList(list) ? list[Number(index)] : undefined
  const username = entry !== undefined && isMap(entry) ? entry['username'] : undefined
  return typeof username === 'string' ? username : index
}

const dashed = (name: string): string => name.replaceAll('_', '-')
