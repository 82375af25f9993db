// Reads the routes as they are and as files would have them: against a gateway, or against the resources of a cluster.

import { type RouteRow, WEB_SOCKET_ACTION } from '../language/explain/list-routes.ts'
import { foldResources, readDocuments } from './explain/read-documents.ts'
import { routersOfGateway, routesOfDocuments, routesOfGateway } from './explain/read-routes.ts'
import type { SourceSettings } from './explain/gateway.ts'
import type { KubernetesApi } from '../operator/kubernetes/client/api.ts'
import type { Collected } from './validate/collect-resources.ts'
import type { GatheredFile } from './validate/gather-files.ts'
import { locateInCluster, overlay } from './cluster/overlay.ts'
import { readClusterResources } from './cluster/read-resources.ts'

export interface DiffSides {
  /** Of all documents. */
  readonly before: readonly RouteRow[]
  readonly after: readonly RouteRow[]
  /** Of the files, and why: nothing is known of their routes. */
  readonly leftOut: readonly string[]
  /** What could not be compared, for a person. */
  readonly notes: readonly string[]
}

interface DiffSettings extends SourceSettings {
  readonly all: boolean
}

export const sidesOfGateway = async (
  url: string,
  files: readonly GatheredFile[],
  settings: DiffSettings,
): Promise<DiffSides | { readonly error: string }> => {
  const { class: className, maxRoutes, all } = settings
  const wanted = readDocuments(files, { className, maxRoutes })
  const served = await routesOfGateway(url, { ...settings, match: null })
  if ('error' in served) return served
  const realms = await routersOfGateway(url, settings)
  if ('error' in realms) return realms
  // A realm that is not among the files is as the gateway has it.
  const hasRouter = (uri: string): boolean =>
    wanted.realms.has(uri) ? wanted.hasRouter(uri) : realms.routers.get(uri) === true
  const rows = routesOfDocuments({ documents: wanted.documents, hasRouter }).map(({ row }) => row)
  const ids = new Set(wanted.documents.map(({ folded }) => folded.id))
  const before = served.routes.map(({ row }) => row)
  const others = all ? [] : before.filter(({ document }) => !ids.has(document))
  const unknown = new Set(
    wanted.documents
      .map(({ folded }) => folded.realmUri)
      .filter((uri) => !wanted.realms.has(uri) && !realms.routers.has(uri)),
  )
  return {
    before,
    after: [...withRealms(others, wanted), ...rows],
    leftOut: wanted.leftOut,
    notes: [
      ...served.leftOut.map((line) => `not compared: ${line}`),
      ...[...unknown].map(
        (uri) =>
          `realm ${uri} is neither among the files nor in the gateway: whether it takes WebSocket connections is not known`,
      ),
    ],
  }
}

/** Documents that stay have WebSocket routes no longer where the files take the router from their realm. */
const withRealms = (
  rows: readonly RouteRow[],
  { realms, hasRouter }: Pick<ReturnType<typeof readDocuments>, 'realms' | 'hasRouter'>,
): readonly RouteRow[] =>
  rows.filter(
    ({ action, realm }) => action !== WEB_SOCKET_ACTION || !realms.has(realm) || hasRouter(realm),
  )

/** @throws ApiError */
export const sidesOfCluster = async (
  api: Pick<KubernetesApi, 'get' | 'list'>,
  files: Pick<Collected, 'resources' | 'diagnostics'>,
  { class: className, maxRoutes, all }: Pick<DiffSettings, 'class' | 'maxRoutes' | 'all'>,
): Promise<DiffSides> => {
  const namespaces = [...files.resources.values()].map(
    ({ resource }) => resource.metadata.namespace,
  )
  const read = await readClusterResources(api, [
    ...new Set(namespaces.filter((each) => each !== '')),
  ])
  const cluster = locateInCluster(read.resources)
  const laid = overlay(cluster, files, { nowMs: Date.now(), isWhole: all })
  const [before, after] = [cluster, laid].map((side) => {
    const folded = foldResources(side, { className, maxRoutes })
    return { rows: routesOfDocuments(folded).map(({ row }) => row), leftOut: folded.leftOut }
  })
  const known = new Set(before?.leftOut)
  const leftOut = (after?.leftOut ?? []).filter((line) => !known.has(line))
  const names = [...files.resources.values()].map(({ name }) => name)
  const isAbout = (line: string, name: string): boolean =>
    line.startsWith(`${name} `) || line.startsWith(`${name}:`)
  // What serves then is the version before that, which only the gateways have.
  const odd = names.filter((name) => [...known].some((line) => isAbout(line, name)))
  return {
    before: before?.rows ?? [],
    after: after?.rows ?? [],
    leftOut,
    notes: [
      ...read.notes,
      ...odd.map((name) => `${name} has errors in the cluster: what serves now is not known`),
    ],
  }
}
