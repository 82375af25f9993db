// Finds every reference to a Secret or ConfigMap in a spec, with its place, and makes placeholders for Secrets that are not
// among the files, as Secrets are seldom stored beside the resources that refer to them.

import { childPointer } from '../../base/json-pointer.ts'
import { isList, isMap, type Value } from '../../language/expression/value.ts'
import {
  type Resource,
  resourceKey,
  type SecretResource,
} from '../../operator/resource/resource.ts'

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
 * Secrets by key, for those that are not among `resources`, and those that are encrypted, of which only the keys can be read.
 * Variables are empty texts, which every function returns unchanged; secrets of realms have values that their schema
 * accepts.
 * @param encrypted keys of Secrets
 */
export const standInSecrets = (
  resources: ReadonlyMap<string, Resource>,
  encrypted: ReadonlySet<string> = new Set(),
): StandIns => {
  const secrets = new Map<string, SecretResource>()
  const isReadable = (id: string): boolean => resources.has(id) && !encrypted.has(id)
  const add = (reference: PlacedReference, resource: Resource): void => {
    const id = resourceKey('Secret', resource.metadata.namespace, reference.name)
    if (reference.kind !== 'Secret' || isReadable(id)) return
    const known = secrets.get(id) ?? emptied(resources.get(id))
    // Which keys an encrypted one has is known.
    const isMissing = known !== undefined && encrypted.has(id) && !hasKey(known, reference.key)
    const data = { ...known?.data, ...(!isMissing && standInsFor(reference, resource)) }
    const metadata = { ...resource.metadata, name: reference.name }
    secrets.set(id, { kind: 'Secret', metadata, data })
  }
  for (const resource of resources.values())
    for (const reference of referencesOf(resource)) add(reference, resource)
  return secrets
}

const hasKey = ({ data }: SecretResource, key: string | undefined): boolean =>
  key !== undefined && Object.hasOwn(data, key)

/** With its keys, and nothing in them. */
const emptied = (secret: Resource | undefined): SecretResource | undefined =>
  secret?.kind === 'Secret'
    ? {
        ...secret,
        data: Object.fromEntries(Object.keys(secret.data).map((name) => [name, ''])),
      }
    : undefined

const standInsFor = (
  { key, path }: PlacedReference,
  { kind }: Resource,
): SecretResource['data'] => {
  if (key === undefined) return {}
  const text = kind === 'Realm' ? standInFor(path) : ''
  return { [key]: Buffer.from(text).toString('base64') }
}

const standInFor = (path: string): string =>
  STAND_INS.find(([ending]) => path.endsWith(`${ending}/secretRef`))?.[1] ?? 'secret'

const pem = (label: string, text = 'AAAA'): string =>
  `-----BEGIN ${label}-----\n${text}\n-----END ${label}-----\n`

/** A certificate of nothing that exists; it can be read. */
const A_CERTIFICATE =
  'MIIBIjCByKADAgECAgkBwgCKyN0xuCAwCgYIKoZIzj0EAwIwDDEKMAgGA1UEAwwBeDAeFw0yNjExMjcxODE5NDJaFw0yNjExMjkxODE5NDJaMAwxCjAIBgNVBAMMAXgwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAR1KL3EbrPhFZ0l/wDtYB20lW2S5JQ+Fwv6CbHn9I6/qwHu7Mp+VtCRfxMyAKm6MislQTJzA2j0kJ8kD+ruD1iOoxMwETAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0kAMEYCIQDEfZP78gc8TfLaeN8+Qi8hCnK/LcgPDmGpYbX4BrWQvQIhAMGwPqWpb52OVpMQ7yXR7BEBLk8GrY7Mol4Ow5UtkHdB'

/** Placeholder for each kind of reference. */
const STAND_INS: readonly (readonly [ending: string, text: string])[] = [
  ['/passwordHash', '$scrypt$ln=14,r=8,p=1$AAAA$AAAA'],
  ['/keySha256', '0'.repeat(64)],
  ['/certificate/certificate', pem('CERTIFICATE', A_CERTIFICATE)],
  ['/certificate/ca', pem('CERTIFICATE', A_CERTIFICATE)],
  ['/certificate/privateKey', pem('PRIVATE KEY')],
]
