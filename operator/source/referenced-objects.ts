// Lists the Secrets and ConfigMaps of its own namespace that a resource names, with the keys. Pure: the one place that
// walks a checked spec for references.

import { isSameSet } from '../../base/same-entries.ts'
import { secretReferences } from '../resource/realm-record.ts'
import {
  type ApiSpecificationSpec,
  type RealmSpec,
  type Resource,
  resourceKey,
} from '../resource/resource.ts'

export interface ObjectReference {
  readonly kind: 'Secret' | 'ConfigMap'
  readonly namespace: string
  readonly name: string
  /** Absent: every key. */
  readonly key?: string
}

/** An object with all keys that its references together need. */
export interface WantedObject {
  readonly kind: 'Secret' | 'ConfigMap'
  readonly namespace: string
  readonly name: string
  readonly keys: WantedKeys
}

export type WantedKeys = ReadonlySet<string> | 'all'

/** A resource that is not readable refers to nothing. */
export const referencesOf = (resource: Resource): readonly ObjectReference[] => {
  const { namespace } = resource.metadata
  if (resource.kind === 'Realm' && 'spec' in resource.checked) {
    return realmReferences(resource.checked.spec, namespace)
  }
  if (resource.kind === 'ApiSpecification' && 'spec' in resource.checked) {
    return documentReferences(resource.checked.spec, namespace)
  }
  return []
}

export const objectKey = ({ kind, namespace, name }: ObjectReference | WantedObject): string =>
  resourceKey(kind, namespace, name)

/** @example coversKey(new Set(['a']), undefined) // false: every key is more than one */
export const coversKey = (keys: WantedKeys, key: string | undefined): boolean =>
  keys === 'all' || (key !== undefined && keys.has(key))

export const sameKeys = (left: WantedKeys, right: WantedKeys): boolean =>
  left === 'all' || right === 'all' ? left === right : isSameSet(left, right)

const realmReferences = (spec: RealmSpec, namespace: string): readonly ObjectReference[] =>
  secretReferences(spec).map(({ name, key }) => ({ kind: 'Secret', namespace, name, key }))

const documentReferences = (
  { documentFrom, variablesFrom = [] }: ApiSpecificationSpec,
  namespace: string,
): readonly ObjectReference[] => {
  const references: ObjectReference[] = variablesFrom.map(({ secretRef: { name, key } }) => ({
    kind: 'Secret',
    namespace,
    name,
    ...(key !== undefined && { key }),
  }))
  if (documentFrom !== undefined) {
    references.push({ kind: 'ConfigMap', namespace, ...documentFrom.configMap })
  }
  return references
}
