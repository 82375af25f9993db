// Reads what there is and what files would have: of files alone, against a gateway, or against the resources of a cluster.

import { inParallel } from '../../base/in-parallel.ts'
import { foldDocument } from '../../language/explain/fold-document.ts'
import { WEB_SOCKET_ACTION, type RouteRow } from '../../language/explain/list-routes.ts'
import { textAt } from '../../language/expression/members.ts'
import { isMap } from '../../language/expression/value.ts'
import { describeResponse } from '../../operator/fleet/client/describe-response.ts'
import type { RealmSource } from '../../operator/fleet/client/read-response.ts'
import type {
  ManagementClient,
  ManagementResponse,
} from '../../operator/fleet/management-client.ts'
import type { KubernetesApi } from '../../operator/kubernetes/client/api.ts'
import { locateInCluster, overlay } from '../cluster/overlay.ts'
import { readClusterResources } from '../cluster/read-resources.ts'
import { askGateway, type SourceSettings } from '../explain/gateway.ts'
import {
  type DocumentOfFile,
  foldResources,
  hasRouterUrl,
  type ReadDocuments,
  readDocuments,
  undefinedVariables,
} from '../explain/read-documents.ts'
import { routesOfGateway } from '../explain/read-routes.ts'
import { type Collected, collectResources } from '../validate/collect-resources.ts'
import type { GatheredFile } from '../validate/gather-files.ts'
import { entriesOfDocuments, entriesOfRow, hostEntry } from './document-entries.ts'
import type { Entry } from './entry.ts'
import {
  entryOfGatewayRealm,
  readableRealmEntry,
  realmEntry,
  secretEntries,
} from './realm-entries.ts'

export interface DiffSides {
  readonly before: readonly Entry[]
  readonly after: readonly Entry[]
  /** The files that were left out, and why: nothing is known of their routes. */
  readonly leftOut: readonly string[]
  /** What could not be compared, for a person. */
  readonly notes: readonly string[]
}

interface DiffSettings extends SourceSettings {
  readonly all: boolean
}

const entriesOf = ({ documents, hasRouter, realms }: ReadDocuments): readonly Entry[] => [
  ...entriesOfDocuments(documents, hasRouter),
  ...[...realms.values()].map(realmEntry),
]

/** Each of them is everything: what one of them lacks is not there. */
export const sidesOfFiles = (
  files: readonly [before: readonly GatheredFile[], after: readonly GatheredFile[]],
  { class: className, maxRoutes }: Pick<DiffSettings, 'class' | 'maxRoutes'>,
): DiffSides => {
  const [before, after] = files.map((side) => {
    const collected = collectResources(side)
    const read = foldResources(collected, { className, maxRoutes })
    return {
      entries: [...entriesOf(read), ...secretEntries(collected.resources.values())],
      leftOut: read.leftOut,
    }
  })
  return {
    before: before?.entries ?? [],
    after: after?.entries ?? [],
    leftOut: [...(before?.leftOut ?? []), ...(after?.leftOut ?? [])],
    notes: [],
  }
}

export const sidesOfGateway = async (
  url: string,
  files: readonly GatheredFile[],
  settings: DiffSettings,
): Promise<DiffSides | { readonly error: string }> => {
  const { class: className, maxRoutes, all } = settings
  const wanted = readDocuments(files, { className, maxRoutes })
  const listed = await routesOfGateway(url, { ...settings, match: null })
  if ('error' in listed) return listed
  const rows = listed.routes.map(({ row }) => row).filter(({ document }) => document !== '')
  const ids = new Set(wanted.documents.map(({ folded }) => folded.id))
  const compared = all ? [...new Set([...ids, ...rows.map(({ document }) => document)])] : [...ids]
  const answer = await askGateway(url, settings, (client) => readServed(client, compared))
  if ('error' in answer) return answer
  const realms = new Map(answer.value.realms.map((each) => [each.uri, each]))
  const hadRouter = (uri: string): boolean => hasRouterUrl(realms.get(uri)?.realm ?? {})
  // A realm that is not among the files is as the gateway has it.
  const hasRouter = (uri: string): boolean =>
    wanted.realms.has(uri) ? wanted.hasRouter(uri) : hadRouter(uri)
  const { documents, notes } = foldServed(answer.value.sources, wanted, maxRoutes)
  const others = entriesOfOthers(all ? [] : rows.filter(({ document }) => !ids.has(document)))
  const isKept = ({ full }: Entry): boolean => {
    const uri = textAt(full, 'realm')
    return !wanted.realms.has(uri) || hasRouter(uri)
  }
  const isSecret = [...wanted.realms.keys()].some(
    (uri) => (realms.get(uri)?.secrets.length ?? 0) > 0,
  )
  return {
    before: [
      ...others,
      ...entriesOfDocuments(documents, hadRouter),
      ...[...wanted.realms].flatMap(([uri, file]) => {
        const served = realms.get(uri)
        return served === undefined ? [] : [entryOfGatewayRealm(served, file)]
      }),
    ],
    after: [
      // Documents that stay have no WebSocket where the files take the router from their realm.
      ...others.filter(isKept),
      ...entriesOfDocuments(wanted.documents, hasRouter),
      ...[...wanted.realms.values()].map(readableRealmEntry),
    ],
    leftOut: wanted.leftOut,
    notes: [
      ...notes,
      ...(isSecret
        ? ['a gateway does not show hashes and secrets of realms: they are not compared']
        : []),
      ...unknownRealms(wanted, realms),
    ],
  }
}

const unknownRealms = (
  { documents, realms }: ReadDocuments,
  served: ReadonlyMap<string, RealmSource>,
): readonly string[] =>
  [...new Set(documents.map(({ folded }) => folded.realmUri))]
    .filter((uri) => !realms.has(uri) && !served.has(uri))
    .map(
      (uri) =>
        `realm ${uri} is neither among the files nor in the gateway: whether it takes WebSocket connections is not known`,
    )

/** The files can change the WebSocket alone of documents that are not among them, and no host of theirs is new. */
const entriesOfOthers = (rows: readonly RouteRow[]): readonly Entry[] => {
  const active = rows.filter((row) => row.active)
  return [
    ...[...new Set(active.map(({ host }) => host))].map((host) => hostEntry(host, '')),
    ...active
      .filter((row) => row.action === WEB_SOCKET_ACTION)
      .flatMap((row) => entriesOfRow(row, '')),
  ]
}

type Source = { readonly document: unknown } | { readonly error: string }

interface Served {
  readonly realms: readonly RealmSource[]
  /** The text of what is loaded, or why it could not be read, by id. */
  readonly sources: ReadonlyMap<string, Source>
}

const AT_ONCE = 8

const readServed = async (
  client: Pick<ManagementClient, 'realms' | 'source'>,
  ids: readonly string[],
): Promise<ManagementResponse<Served>> => {
  const realms = await client.realms()
  if (realms.result !== 'ok') return realms
  const sources = new Map<string, Source>()
  await inParallel(ids, AT_ONCE, async (id) => {
    const source = await client.source(id)
    if (source.result === 'ok') sources.set(id, { document: source.value })
    // One that is not there is new.
    else if (source.result !== 'refused' || source.status !== 404)
      sources.set(id, { error: describeResponse(source) })
  })
  return { result: 'ok', value: { realms: realms.value, sources }, etag: undefined }
}

/** Folded here as the files are, so that a gateway of another version differs in nothing. */
const foldServed = (
  sources: Served['sources'],
  { documents }: ReadDocuments,
  maxRoutes: number,
): {
  readonly documents: readonly Pick<DocumentOfFile, 'folded' | 'compiled' | 'placeOf'>[]
  readonly notes: readonly string[]
} => {
  const folded: Pick<DocumentOfFile, 'folded' | 'compiled' | 'placeOf'>[] = []
  const notes: string[] = []
  for (const [id, source] of sources) {
    const document = 'document' in source && isMap(source.document) ? source.document : {}
    const ofFile = documents.find((each) => each.folded.id === id)
    const withheld = [...(ofFile?.withheld ?? []), ...undefinedVariables(document)]
    const folding = foldDocument(document, withheld, { maxRoutes })
    if (!('problems' in folding)) folded.push({ ...folding, placeOf: () => '' })
    else {
      const reason = 'error' in source ? source.error : folding.problems[0]?.message
      notes.push(`not compared: ${id}, as the gateway has it: ${reason ?? 'it is no document'}`)
    }
  }
  return { documents: folded, notes }
}

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
    return { entries: entriesOf(folded), leftOut: folded.leftOut }
  })
  const known = new Set(before?.leftOut)
  const leftOut = (after?.leftOut ?? []).filter((line) => !known.has(line))
  const names = [...files.resources.values()].map(({ name }) => name)
  const isAbout = (line: string, name: string): boolean =>
    line.startsWith(`${name} `) || line.startsWith(`${name}:`)
  // What serves then is the version before that, which only the gateways have.
  const odd = names.filter((name) => [...known].some((line) => isAbout(line, name)))
  return {
    before: before?.entries ?? [],
    after: after?.entries ?? [],
    leftOut,
    notes: [
      ...read.notes,
      ...odd.map((name) => `${name} has errors in the cluster: what serves now is not known`),
    ],
  }
}
