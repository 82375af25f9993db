// Judges, in a few lines of its own, whether what a reconciliation serves is within the rights that the resources give now.

import type { DesiredDocument } from '../../../operator/desired-set.ts'
import type { Reconciliation, ReconcilerOptions } from '../../../operator/reconcile/reconciler.ts'
import {
  type RealmResource,
  type Resource,
  resourceKey,
} from '../../../operator/resource/resource.ts'

type Resources = ReadonlyMap<string, Resource>
type Policy = Pick<ReconcilerOptions, 'hostOwnership' | 'wildcardNamespaces'>

/** The hosts of these tests: `[www.]x.test` stands for two. */
const hostsOf = ({ spec }: Pick<DesiredDocument, 'spec'>): readonly string[] => {
  const host = typeof spec['host'] === 'string' ? spec['host'] : ''
  return host.startsWith('[www.]') ? [host.slice(6), `www.${host.slice(6)}`] : [host]
}

/** What is wrong with each document that is served. */
export const trespasses = (
  now: Reconciliation,
  resources: Resources,
  policy: Policy,
): readonly string[] => {
  const world = worldOf(now, resources)
  return world.documents.flatMap((document) => trespassesOf(document, world, policy))
}

/**
 * What served before and is out of service, although its resource is there, and the rights of now allow it. A Realm that
 * is there and not in force says nothing.
 */
export const lostServices = (
  before: Reconciliation | undefined,
  now: Reconciliation,
  resources: Resources,
  policy: Policy & Pick<ReconcilerOptions, 'className'>,
): readonly string[] => {
  const world = worldOf(now, resources)
  const isUnclear = (uri: string): boolean => {
    const names = (each: Resource): boolean => each.kind === 'Realm' && specOf(each)['uri'] === uri
    return [...resources.values()].some(names) && !world.realms.some(names)
  }
  const isThere = ({ resource, id }: DesiredDocument): boolean =>
    world.documents.some((each) => each.resource === resource) || now.desired.kept.documents.has(id)
  const isManaged = ({ resource }: DesiredDocument): boolean => {
    const key = `ApiSpecification/${resource}`
    const [after, then] = [resources.get(key), before?.results.get(key)?.resource]
    return (
      after?.kind === 'ApiSpecification' &&
      after.metadata.uid === then?.metadata.uid &&
      (after.className ?? 'svc') === policy.className
    )
  }
  return [...(before?.desired.documents.values() ?? [])]
    .filter((each) => !isThere(each) && isManaged(each) && !isUnclear(each.realmUri))
    .filter((document) => trespassesOf(document, world, policy).length === 0)
    .map(({ id }) => id)
}

interface World {
  readonly documents: readonly DesiredDocument[]
  /** Those whose newest generation serves. */
  readonly realms: readonly RealmResource[]
  readonly resources: Resources
}

const worldOf = ({ desired, results }: Reconciliation, resources: Resources): World => ({
  documents: [...desired.documents.values()],
  realms: [...results.values()].flatMap(({ resource, accepted, resolvedRefs, ...result }) =>
    resource.kind === 'Realm' &&
    accepted.status === 'True' &&
    resolvedRefs.status === 'True' &&
    result.digest !== undefined &&
    result.digest === result.serving?.digest
      ? [resource]
      : [],
  ),
  resources,
})

const trespassesOf = (
  document: DesiredDocument,
  { documents, realms, resources }: World,
  policy: Policy,
): readonly string[] => [
  ...(mayHaveHosts(document, resources, policy) ? [] : [`${document.id}: hosts`]),
  ...realms
    .filter((realm) => specOf(realm)['uri'] === document.realmUri)
    .filter((realm) => !mayUse(document, realm, resources))
    .map(() => `${document.id}: realm`),
  ...(policy.hostOwnership === 'strict' ? documents : [])
    .filter((other) => isOusted(document, other, resources))
    .map((other) => `${document.id}: a host of ${other.id}`),
]

/** As far as its own Namespace is known. */
const mayHaveHosts = (
  document: DesiredDocument,
  resources: Resources,
  { wildcardNamespaces = 'all' }: Policy,
): boolean => {
  const { namespace } = document
  if (!resources.has(resourceKey('Namespace', '', namespace))) return true
  const entries = entriesOf(namespace, resources)
  if (entries !== undefined)
    return hostsOf(document).every((host) => entries.some((entry) => covers(entry, host)))
  const mayHaveAny = wildcardNamespaces === 'all' || wildcardNamespaces.includes(namespace)
  return mayHaveAny || !hostsOf(document).includes('_')
}

const mayUse = (document: DesiredDocument, realm: RealmResource, resources: Resources): boolean => {
  const { allowedNamespaces, allowedHosts } = specOf(realm) as {
    readonly allowedNamespaces?: { readonly from: string }
    readonly allowedHosts?: readonly string[]
  }
  const isOutside = (host: string): boolean =>
    allowedHosts?.some((entry) => covers(entry, host)) === false
  if (hostsOf(document).some(isOutside)) return false
  if (document.namespace === realm.metadata.namespace || allowedNamespaces?.from === 'All')
    return true
  if (allowedNamespaces?.from !== 'Selector') return false
  const home = resources.get(resourceKey('Namespace', '', document.namespace))
  return home === undefined || home.metadata.labels['team'] === 'a'
}

const isOusted = (
  document: DesiredDocument,
  other: DesiredDocument,
  resources: Resources,
): boolean =>
  document.namespace !== other.namespace &&
  hostsOf(document).some((host) => hostsOf(other).includes(host)) &&
  rankOf(document, resources) < rankOf(other, resources)

/** 2: the annotation has each host itself; 1: some by their domain; 0: some by `*` alone, or not. */
const rankOf = (document: DesiredDocument, resources: Resources): number => {
  const entries = entriesOf(document.namespace, resources) ?? []
  const ranks = hostsOf(document).map((host) => {
    if (host !== '_' && entries.includes(host)) return 2
    return entries.some((entry) => entry.startsWith('*.') && covers(entry, host)) ? 1 : 0
  })
  return Math.min(...ranks)
}

const covers = (entry: string, host: string): boolean =>
  entry === '*' || entry === host || (entry.startsWith('*.') && host.endsWith(entry.slice(1)))

const entriesOf = (namespace: string, resources: Resources): readonly string[] | undefined =>
  resources
    .get(resourceKey('Namespace', '', namespace))
    ?.metadata.annotations['gateway.svc.dev/hosts']?.split(',')

const specOf = ({ checked }: RealmResource): Readonly<Record<string, unknown>> =>
  'spec' in checked ? { ...checked.spec } : {}
