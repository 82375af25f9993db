// Finds every reference to a Secret or ConfigMap in a spec, with its place, and makes placeholders for Secrets that are not
// among the files, as Secrets are seldom stored beside the resources that refer to them.

import { childPointer } from '../../base/json-pointer.ts'
import { isList, isMap, type Value } from '../../language/expression/value.ts'
import { type Resource, resourceKey, type SecretResource } from '../resource/resource.ts'

export interface PlacedReference {
  readonly kind: 'Secret' | 'ConfigMap'
  readonly name: string
  /** Absent: all keys. */
  readonly key: string | undefined
  /** Pointer of the reference: `/spec/variablesFrom/0/secretRef`. */
  readonly path: string
}

/** In the order of the spec; none if the spec itself is invalid. */
export const referencesOf = (resource: Resource): readonly PlacedReference[] => {
  const isOurs = resource.kind === 'ApiSpecification' || resource.kind === 'Realm'
  if (!isOurs || !('spec' in resource.checked)) return []
  const { spec } = resource.checked
  // The document has no references, and is large.
  const read = 'document' in spec ? { variablesFrom: spec.variablesFrom } : spec
  return findReferences(read as unknown as Value, '/spec')
}

const KINDS: Readonly<Record<string, PlacedReference['kind']>> = {
  secretRef: 'Secret',
  configMap: 'ConfigMap',
}

const findReferences = (value: Value | undefined, pointer: string): readonly PlacedReference[] => {
  if (isList(value))
    return value.flatMap((item, index) => findReferences(item, childPointer(pointer, index)))
  if (!isMap(value)) return []
  return Object.entries(value).flatMap(([name, member]) => {
    const path = childPointer(pointer, name)
    const kind = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined
    const reference = kind && readReference(member, kind, path)
    return reference === undefined ? findReferences(member, path) : [reference]
  })
}

const readReference = (
  value: Value,
  kind: PlacedReference['kind'],
  path: string,
): PlacedReference | undefined => {
  if (!isMap(value)) return undefined
  const { name, key } = value
  if (typeof name !== 'string') return undefined
  return { kind, name, key: typeof key === 'string' ? key : undefined, path }
}

export type StandIns = ReadonlyMap<string, SecretResource>

/**
 * By key, for Secrets that are not among `resources`. Variables are empty texts, which every function returns unchanged;
 * secrets of realms have values that their schema accepts.
 */
export const standInSecrets = (resources: ReadonlyMap<string, Resource>): StandIns => {
  const secrets = new Map<string, SecretResource>()
  for (const resource of resources.values()) {
    for (const { kind, name, key, path } of referencesOf(resource)) {
      const { namespace } = resource.metadata
      const id = resourceKey('Secret', namespace, name)
      if (kind !== 'Secret' || resources.has(id)) continue
      const text = resource.kind === 'Realm' ? standInFor(path) : ''
      const encoded = Buffer.from(text).toString('base64')
      const data = { ...secrets.get(id)?.data, ...(key !== undefined && { [key]: encoded }) }
      secrets.set(id, { kind: 'Secret', metadata: { ...resource.metadata, name }, data })
    }
  }
  return secrets
}

const standInFor = (path: string): string =>
  STAND_INS.find(([ending]) => path.endsWith(`${ending}/secretRef`))?.[1] ?? 'secret'

const pem = (label: string): string => `-----BEGIN ${label}-----\nAAAA\n-----END ${label}-----\n`

/** Placeholder for each kind of reference. */
const STAND_INS: readonly (readonly [ending: string, text: string])[] = [
  ['/passwordHash', '$scrypt$ln=14,r=8,p=1$AAAA$AAAA'],
  ['/keySha256', '0'.repeat(64)],
  ['/certificate/certificate', pem('CERTIFICATE')],
  ['/certificate/ca', pem('CERTIFICATE')],
  ['/certificate/privateKey', pem('PRIVATE KEY')],
]
