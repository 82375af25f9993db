// Decides whether a document of a namespace may use a realm. Pure.

import { memberAt } from '../../../language/expression/members.ts'
import { isMap } from '../../../language/expression/value.ts'
import { selects } from '../../resource/label-selector.ts'
import type { ResourceCache } from '../../resource/resource-source.ts'
import { type AllowedNamespaces, type RealmSpec, resourceKey } from '../../resource/resource.ts'
import type { GoodRealm, RealmTerms } from './validate-realm-resource.ts'

/** What a document finds under its `realm_uri`. */
export type RealmAccess =
  | {
      readonly access: 'granted'
      readonly realm: RealmTerms
      /** Its Realm was deleted, and serves for a moment longer. */
      readonly isDeleted?: true
    }
  /** There, for this namespace, and not good, or paused, since this operator has known it. */
  | { readonly access: 'unready'; readonly realm: UnreadyRealm }
  | {
      readonly access: 'RealmNotFound' | 'RefNotPermitted'
      /** There is none, whoever asks. */
      readonly isAbsent?: true
    }

interface UnreadyRealm {
  readonly namespace: string
  readonly name: string
  readonly isPaused: boolean
  /** Data planes may hold a version of it. False: it came in the place of one that was deleted, and was never good. */
  readonly isKept: boolean
}

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
