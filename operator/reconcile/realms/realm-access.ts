// May a document of this namespace use that realm? Pure.

import { memberAt } from '../../../language/expression/members.ts'
import { isMap } from '../../../language/expression/value.ts'
import { selects } from '../../resource/label-selector.ts'
import type { ResourceCache } from '../../resource/resource-source.ts'
import { type AllowedNamespaces, type RealmSpec, resourceKey } from '../../resource/resource.ts'
import type { GoodRealm } from './judge-realm.ts'

/** `allowedNamespaces` of a Realm: `Same` unless it says otherwise. */
export const admitsNamespace = (
  realm: Pick<GoodRealm, 'namespace' | 'spec'>,
  namespace: string,
  cache: ResourceCache,
): boolean => {
  if (realm.namespace === namespace) return true
  const allowed = allowedNamespaces(realm.spec)
  if (allowed.from === 'All') return true
  // An empty selector selects everything; one that was forgotten must not.
  if (allowed.from !== 'Selector' || allowed.selector === undefined) return false
  return selects(allowed.selector, labelsOfNamespace(cache, namespace))
}

const allowedNamespaces = (spec: RealmSpec): AllowedNamespaces => {
  const allowed = memberAt(spec, 'allowedNamespaces')
  return isMap(allowed) ? allowed : {}
}

/** Kubernetes puts the name of a namespace among its labels; without a Namespace object so do we. */
const labelsOfNamespace = (
  cache: ResourceCache,
  namespace: string,
): Readonly<Record<string, string>> => {
  const labels = cache.resources.get(resourceKey('Namespace', '', namespace))?.metadata.labels
  return { ...labels, 'kubernetes.io/metadata.name': namespace }
}
