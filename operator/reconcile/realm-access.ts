// May a document of this namespace, with this host, use that realm? Pure.

import type { HostPattern } from '../../spec/host-pattern.ts'
import { isList, isMap } from '../../spec/expression/value.ts'
import { selects } from '../resource/label-selector.ts'
import type { ResourceCache } from '../resource/resource-source.ts'
import { type AllowedNamespaces, type RealmSpec, resourceKey } from '../resource/resource.ts'
import type { GoodRealm } from './judge-realm.ts'

/** `allowedNamespaces` of a Realm: `Same` unless it says otherwise. */
export const admitsNamespace = (
  realm: GoodRealm,
  namespace: string,
  cache: ResourceCache,
): boolean => {
  if (realm.namespace === namespace) return true
  const allowed = allowedNamespaces(realm.spec)
  if (allowed.from === 'All') return true
  if (allowed.from !== 'Selector') return false
  return selects(allowed.selector ?? {}, labelsOfNamespace(cache, namespace))
}

/** `allowedHosts`: `a.example.com` itself, `*.example.com` anything below, `*` any host. */
export const admitsHost = (realm: GoodRealm, hosts: readonly HostPattern[]): boolean => {
  const allowed = allowedHosts(realm.spec)
  return (
    allowed === undefined ||
    hosts.every((host) => allowed.some((entry) => covers(entry.toLowerCase(), host)))
  )
}

export const allowedHosts = (spec: RealmSpec): readonly string[] | undefined => {
  const hosts = Object.hasOwn(spec, 'allowedHosts') ? spec['allowedHosts'] : undefined
  return isList(hosts) ? hosts.filter((host) => typeof host === 'string') : undefined
}

const allowedNamespaces = (spec: RealmSpec): AllowedNamespaces => {
  const allowed = Object.hasOwn(spec, 'allowedNamespaces') ? spec['allowedNamespaces'] : undefined
  return isMap(allowed) ? allowed : {}
}

/** Kubernetes puts the name of a namespace among its labels; without a Namespace object so do we. */
const labelsOfNamespace = (
  cache: ResourceCache,
  namespace: string,
): Readonly<Record<string, string>> => {
  const labels = cache.resources.get(resourceKey('Namespace', '', namespace))?.metadata.labels
  return { 'kubernetes.io/metadata.name': namespace, ...labels }
}

const covers = (entry: string, host: HostPattern): boolean => {
  if (entry === '*') return true
  const below = entry.startsWith('*.')
  const labels = (below ? entry.slice(2) : entry).split('.')
  if (!below) {
    return !host.tail && host.labels.length === labels.length && endsWith(host, labels)
  }
  const isBelow = host.tail
    ? host.labels.length >= labels.length
    : host.labels.length > labels.length
  return isBelow && endsWith(host, labels)
}

const endsWith = (host: HostPattern, labels: readonly string[]): boolean => {
  const offset = host.labels.length - labels.length
  return labels.every((label, i) => host.labels[offset + i] === label)
}
