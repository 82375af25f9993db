// Lists what a resource refers to and the files do not contain: as a notice if it may be deployed elsewhere, as an error if it
// exists and can't be used.

import { nearestName } from '../../base/nearest-name.ts'
import type { ResourceResult } from '../../operator/reconcile/resource-result.ts'
import type { ReasonOf } from '../../operator/resource/condition.ts'
import { type Resource, resourceKey } from '../../operator/resource/resource.ts'
import { DEFAULT_CLASS } from '../../operator/resource/resource-schema.ts'
import { readSecretKey } from '../../operator/resource/secret-value.ts'
import type { Located } from './collect-resources.ts'
import type { ValidationDiagnostic } from './validation-diagnostic.ts'
import { type PlacedReference, referencesOf, type StandIns } from './secret-references.ts'

/** What the diagnostics of one resource depend on besides the resource. */
export interface ReferenceDeps {
  readonly standIns: StandIns
  readonly located: ReadonlyMap<string, Located>
}

/** Without what is the same for every diagnostic of a resource. */
export type ReferenceDiagnostic = Pick<
  ValidationDiagnostic,
  'severity' | 'path' | 'code' | 'message'
>

export const referenceDiagnostics = (
  result: ResourceResult,
  deps: ReferenceDeps,
): readonly ReferenceDiagnostic[] => [
  ...unresolved(result, deps),
  ...secretNotices(result.resource, deps),
]

/** A missing object may be deployed elsewhere; one that is not permitted, or lacks a key, is an error. */
const NOTICES: ReadonlySet<ReasonOf<'ResolvedRefs'>> = new Set([
  'RealmNotFound',
  'SecretNotFound',
  'ConfigMapNotFound',
])

const unresolved = (
  result: ResourceResult,
  deps: ReferenceDeps,
): readonly ReferenceDiagnostic[] => {
  const { status, reason, message } = result.resolvedRefs
  if (status !== 'False') return []
  if (reason === 'RealmNotFound' || reason === 'RefNotPermitted') {
    const path = '/spec/document/realm_uri'
    const words = describeRealm(result, deps.located)
    if (words !== undefined) return [{ path, code: reason, ...words }]
    return [{ severity: 'error', path: '/spec/document/host', code: reason, message }]
  }
  const path = placeOfMissing(result.resource, deps)
  return NOTICES.has(reason)
    ? [
        {
          severity: 'notice',
          path,
          code: reason,
          message: `${message} among these files. ${IGNORE}`,
        },
      ]
    : [{ severity: 'error', path, code: reason, message }]
}

const IGNORE = 'If it is deployed elsewhere, ignore this; otherwise add it.'

/** @returns undefined: the realm may be used, but the host is not permitted */
const describeRealm = (
  { realmUri = '', resource, resolvedRefs: { reason, message } }: ResourceResult,
  located: ReferenceDeps['located'],
): Pick<ReferenceDiagnostic, 'severity' | 'message'> | undefined => {
  const realms = [...located.values()].filter((each) => each.resource.kind === 'Realm')
  const known = realms.find((each) => each.realmUri === realmUri)
  if (known !== undefined) {
    const isForeign = known.resource.metadata.namespace !== resource.metadata.namespace
    if (reason === 'RealmNotFound')
      return { severity: 'notice', message: describeKnown(known, resource) }
    return isForeign && !message.startsWith(`the realm '${realmUri}' does not allow`)
      ? { severity: 'error', message: describeKnown(known, resource) }
      : undefined
  }
  const nearest = nearestName(
    realmUri,
    realms.map((each) => each.realmUri),
  )
  const near = realms.find((each) => each.realmUri === nearest)
  const named = realms.find((each) => each.resource.metadata.name === realmUri)
  const hint =
    named !== undefined
      ? ` (It is the name of a Realm, whose uri is '${named.realmUri}': write that; ${placeOf(named)})`
      : near === undefined
        ? ''
        : ` (Nearest: '${near.realmUri}', ${placeOf(near)})`
  return {
    severity: 'notice',
    message: `no Realm with uri '${realmUri}' in these files. ${IGNORE}${hint}`,
  }
}

const describeKnown = (realm: Located, { kind, metadata, ...of }: Resource): string => {
  const named = `the Realm with uri '${realm.realmUri}' (${placeOf(realm)})`
  const className = kind === 'ApiSpecification' && 'className' in of ? of.className : undefined
  const classOfRealm = realm.resource.kind === 'Realm' ? realm.resource.className : undefined
  if ((className ?? DEFAULT_CLASS) !== (classOfRealm ?? DEFAULT_CLASS))
    return (
      `${named} is of another class: an operator serves those of its own gatewayClassName, ` +
      `which is ${className ?? DEFAULT_CLASS} here and ${classOfRealm ?? DEFAULT_CLASS} there`
    )
  if (realm.resource.metadata.namespace !== metadata.namespace)
    return `${named} is of another namespace: its allowedNamespaces must admit ${metadata.namespace}`
  return `${named} has errors: what this document needs of it is validated once they are corrected`
}

const placeOf = ({ file, positionOf }: Located): string => {
  if (file === '') return 'in the cluster'
  const { line, column } = positionOf('/spec/uri')
  return `${file}:${line}:${column}`
}

/** The place of the first reference to something missing or unreadable, down to the member. */
const placeOfMissing = (resource: Resource, { standIns, located }: ReferenceDeps): string => {
  const { namespace } = resource.metadata
  for (const { kind, name, key, path } of referencesOf(resource)) {
    const id = resourceKey(kind, namespace, name)
    const target = standIns.get(id) ?? located.get(id)?.resource
    if (target === undefined) {
      if (kind === 'ConfigMap') return `${path}/name`
    } else if (isUnreadable(target, key)) return `${path}/${key === undefined ? 'name' : 'key'}`
  }
  return '/spec'
}

/** @param key undefined: any of its keys */
const isUnreadable = (target: Resource, key: string | undefined): boolean => {
  if (target.kind === 'Secret')
    return (key === undefined ? Object.keys(target.data) : [key]).some(
      (each) => 'missing' in readSecretKey(target, each),
    )
  return key !== undefined && 'data' in target && !Object.hasOwn(target.data, key)
}

const secretNotices = (
  resource: Resource,
  { standIns, located }: ReferenceDeps,
): readonly ReferenceDiagnostic[] => {
  const { namespace } = resource.metadata
  const firsts = new Map<string, PlacedReference>()
  for (const reference of referencesOf(resource)) {
    const isStandIn = standIns.has(resourceKey('Secret', namespace, reference.name))
    if (isStandIn && !firsts.has(reference.name)) firsts.set(reference.name, reference)
  }
  return [...firsts].map(([name, { path }]) => ({
    severity: 'notice',
    path: `${path}/name`,
    code: located.has(resourceKey('Secret', namespace, name))
      ? 'SecretEncrypted'
      : 'SecretNotFound',
    message: `${whyUnknown(name, namespace, located)}. What it holds is not validated`,
  }))
}

const whyUnknown = (name: string, namespace: string, located: ReferenceDeps['located']): string => {
  const secret = located.get(resourceKey('Secret', namespace, name))
  return secret === undefined
    ? `no Secret '${name}' of namespace ${namespace} in these files`
    : `Secret '${name}' of namespace ${namespace} (${secret.file}:${secret.positionOf('').line}) is encrypted by SOPS`
}
