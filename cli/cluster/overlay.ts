// Lays files over what a cluster has, as applying them would. Pure.

import type { RealmResource, Resource } from '../../operator/resource/resource.ts'
import type { Collected, Located } from '../validate/collect-resources.ts'

type Resources = Pick<Collected, 'resources' | 'diagnostics'>

/** Resources of a cluster, as if they were in a file without a name. */
export const locateInCluster = (resources: ReadonlyMap<string, Resource>): Resources => ({
  resources: new Map([...resources].map(([key, resource]) => [key, located(resource)])),
  diagnostics: [],
})

interface OverlayOptions {
  readonly nowMs: number
  /** The files are everything: documents that are not among them go. */
  readonly isWhole: boolean
}

/** The oldest of two documents wins: what is new is the youngest, and what is changed stays as old as it is. */
export const overlay = (
  cluster: Resources,
  files: Resources,
  { nowMs, isWhole }: OverlayOptions,
): Resources => {
  const kept = [...cluster.resources].filter(
    ([, { resource }]) => !isWhole || resource.kind !== 'ApiSpecification',
  )
  const laid = [...files.resources].map(([key, each]): [string, Located] => {
    const createdAt = cluster.resources.get(key)?.resource.metadata.createdAt ?? nowMs
    const { resource } = each
    return [key, { ...each, resource: withMetadata(resource, { createdAt }) }]
  })
  return { resources: new Map([...kept, ...laid]), diagnostics: files.diagnostics }
}

const withMetadata = (resource: Resource, more: { readonly createdAt: number }): Resource => ({
  ...resource,
  metadata: { ...resource.metadata, ...more },
})

const located = (resource: Resource): Located => {
  const { kind, metadata } = resource
  return {
    resource: withoutStatus(resource),
    value: {},
    file: '',
    positionOf: () => ({ line: 1, column: 1 }),
    name: `${kind} ${metadata.namespace}/${metadata.name}`,
    realmUri: resource.kind === 'Realm' ? uriOf(resource) : '',
    isPlain: false,
  }
}

const uriOf = ({ checked }: RealmResource): string => ('spec' in checked ? checked.spec.uri : '')

/** Without its status a resource is validated again, by what the cluster has now. */
const withoutStatus = (resource: Resource): Resource => {
  if (resource.kind === 'Realm') {
    const { kind, metadata, checked, className } = resource
    return { kind, metadata, checked, ...(className !== undefined && { className }) }
  }
  if (resource.kind !== 'ApiSpecification') return resource
  const { kind, metadata, checked, className } = resource
  return { kind, metadata, checked, ...(className !== undefined && { className }) }
}
