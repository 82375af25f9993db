// Decides whether a document of a namespace may use a realm. Pure.

import type { CallerGroups } from '../../../language/caller-requirements.ts'
import { mapAt, memberAt } from '../../../language/expression/members.ts'
import { isMap, type ValueMap } from '../../../language/expression/value.ts'
import { selects } from '../../resource/label-selector.ts'
import type { ResourceCache } from '../../resource/resource-source.ts'
import { type AllowedNamespaces, type RealmSpec, resourceKey } from '../../resource/resource.ts'
import type { GoodRealm, RealmTerms } from './validate-realm-resource.ts'

/** What a document finds under its `realm_uri`. */
export type RealmAccess =
  | {
      readonly access: 'granted'
      readonly realm: RealmTerms
      /** That users of it are in; the same object while they are the same. */
      readonly groups: CallerGroups
      /** Names of its credentials that documents of the namespace may not use. */
      readonly withheld: readonly string[]
      /** Its Realm was deleted, and serves for a moment longer. */
      readonly isDeleted?: true
    }
  /** There, for this namespace, and not good, or paused, since this operator has known it. */
  | { readonly access: 'unready'; readonly realm: UnreadyRealm }
  | {
      readonly access: 'RealmNotFound' | 'RefNotPermitted'
      /** There is none, for any document. */
      readonly isAbsent?: true
      /** The labels of the namespace, which decide, are not known. */
      readonly isUncertain?: true
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
  return (
    realm.namespace === namespace || admits(allowedNamespaces(realm.spec) ?? {}, namespace, cache)
  )
}

/** Whether labels of the namespace decide whether it is admitted, and the Namespace is not known. */
export const isAdmissionUncertain = (
  { spec }: Pick<GoodRealm, 'spec'>,
  namespace: string,
  cache: ResourceCache,
): boolean => {
  const { from, selector } = allowedNamespaces(spec) ?? {}
  if (from !== 'Selector' || selector === undefined) return false
  if (cache.resources.has(resourceKey('Namespace', '', namespace))) return false
  const keys = [
    ...Object.keys(selector.matchLabels ?? {}),
    ...(selector.matchExpressions ?? []).map(({ key }) => key),
  ]
  return keys.some((key) => key !== NAME_LABEL)
}

/**
 * Credentials of a Realm, which admits the namespace, whose own `allowedNamespaces` do not. Sorted. The Realm's own
 * namespace may use all: who writes documents there may read its Secrets.
 */
export const withheldCredentials = (
  realm: Pick<GoodRealm, 'namespace' | 'spec'>,
  namespace: string,
  cache: ResourceCache,
): readonly string[] => {
  if (realm.namespace === namespace) return NONE
  const withheld = Object.entries(mapAt(realm.spec, 'credentials')).flatMap(
    ([name, credential]) => {
      const allowed = isMap(credential) ? allowedNamespaces(credential) : {}
      return allowed === undefined || admits(allowed, namespace, cache) ? [] : [name]
    },
  )
  return withheld.length === 0 ? NONE : withheld.sort()
}

const NONE: readonly string[] = []

const admits = (allowed: AllowedNamespaces, namespace: string, cache: ResourceCache): boolean => {
  if (allowed.from === 'All') return true
  // An empty selector selects everything; one that was forgotten must not.
  if (allowed.from !== 'Selector' || allowed.selector === undefined) return false
  return selects(allowed.selector, labelsOfNamespace(cache, namespace))
}

const allowedNamespaces = (of: RealmSpec | ValueMap): AllowedNamespaces | undefined => {
  const allowed = memberAt(of, 'allowedNamespaces')
  return isMap(allowed) ? allowed : undefined
}

const NAME_LABEL = 'kubernetes.io/metadata.name'

/** Kubernetes puts the name of a namespace among its labels; without a Namespace object so do we. */
const labelsOfNamespace = (
  cache: ResourceCache,
  namespace: string,
): Readonly<Record<string, string>> => {
  const labels = cache.resources.get(resourceKey('Namespace', '', namespace))?.metadata.labels
  return { ...labels, [NAME_LABEL]: namespace }
}
