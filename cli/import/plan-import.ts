// Decides which files an import writes for what a gateway has loaded, and what to do after it. Pure.

import { parseHost } from '../../language/routes/host-pattern.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import { isWildcard } from '../../operator/reconcile/claims/host-entries.ts'
import { documentManifest } from './document-manifest.ts'
import type { Manifest } from './manifest.ts'
import { manifestText } from './manifest-text.ts'
import type { GatewayContents } from './read-gateway.ts'
import { realmManifest } from './realm-manifest.ts'
import { resourceNames } from './resource-names.ts'

export interface ImportPlan {
  readonly files: readonly PlannedFile[]
  readonly errors: readonly string[]
  /** In order. */
  readonly next: readonly string[]
}

export interface PlannedFile {
  readonly name: string
  readonly text: string
}

export interface ImportTarget {
  readonly url: string
  readonly namespace: string | null
  /** Where the files go; null: to stdout. */
  readonly directory: string | null
}

/** Realms first: documents need them. */
export const planImport = (contents: GatewayContents, target: ImportTarget): ImportPlan => {
  const { namespace } = target
  const realms = planRealms(contents, target)
  const names = resourceNames(contents.documents.map(({ id }) => id))
  const errors = [...contents.errors]
  const documents = contents.documents.flatMap((loaded): readonly Planned[] => {
    const place = { name: names.get(loaded.id) ?? '', namespace }
    const manifest = documentManifest(loaded, place)
    if (manifest === undefined) {
      errors.push(
        `document '${loaded.id}': it is too large for a ConfigMap even when gzipped; split it`,
      )
      return []
    }
    const owner = loaded.managedBy === null ? '' : `, managed by ${loaded.managedBy}`
    const title = `Document ${loaded.id} as ${target.url} had it loaded${owner}.`
    return [{ file: `api-${place.name}.yaml`, title, manifest }]
  })
  const planned = [...realms, ...documents]
  const files = planned.map(({ file, title, manifest }) => ({
    name: file,
    text: manifestText(title, manifest),
  }))
  return { files, errors, next: nextSteps(planned, contents, target) }
}

interface Planned {
  readonly file: string
  readonly title: string
  readonly manifest: Manifest
}

const planRealms = (
  { realms }: GatewayContents,
  { url, namespace }: ImportTarget,
): readonly Planned[] => {
  const names = resourceNames(realms.map(({ uri }) => uri))
  return realms.map((realm) => {
    const place = { name: names.get(realm.uri) ?? '', namespace }
    const title = `Realm ${realm.uri} as ${url} had it loaded.`
    return { file: `realm-${place.name}.yaml`, title, manifest: realmManifest(realm, place) }
  })
}

const nextSteps = (
  planned: readonly Planned[],
  { documents }: GatewayContents,
  { namespace, directory }: ImportTarget,
): readonly string[] => {
  const at = namespace === null ? '' : ` --namespace=${namespace}`
  const path = directory ?? 'FILE'
  return [
    ...planned.flatMap(({ manifest }) => secretStep(manifest, at)),
    ...(documents.some(({ document }) => hasWildcard(document))
      ? [`kubectl annotate namespace ${namespace ?? 'NAMESPACE'} 'gateway.svc.dev/hosts=*'`]
      : []),
    `svc validate ${path}`,
    `kubectl apply --server-side${at} -f ${path}`,
    `kubectl wait${at} apispec --all --for=condition=Ready --timeout=60s`,
  ]
}

const secretStep = ({ secret }: Manifest, at: string): readonly string[] => {
  if (secret === undefined) return []
  const keys = secret.wanted.map(({ key }) => `--from-file=${key}=FILE`)
  return [`kubectl create secret generic ${secret.name}${at} ${keys.join(' ')}`]
}

/** In a cluster, only some namespaces may claim such a host. */
const hasWildcard = ({ host }: ValueMap): boolean => {
  const parsed = typeof host === 'string' ? parseHost(host) : undefined
  return parsed?.ok === true && parsed.hosts.some(isWildcard)
}
