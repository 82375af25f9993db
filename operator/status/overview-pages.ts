// Serves `/overview…` of the operator: what the web page shows of documents, gateways and realms, page by page
// (docs/web-page.md).

import { readVersion } from '../../telemetry/version.ts'
import type {
  DocumentsPage,
  GatewayNamesPage,
  GatewaysPage,
  Note,
  Overview,
  RealmsPage,
} from '../../web/overview.ts'
import { countStates, cutText, rankedKey, readState } from '../../web/overview-rows.ts'
import { cutPage, type PageQuery, readPageQuery } from '../../web/rows-page.ts'
import type { OperatorStatus } from '../controller/controller.ts'
import type { DataPlaneReport } from '../data-plane.ts'
import type { DesiredSet } from '../desired-set.ts'
import { Selections } from '../fleet/sync/selection.ts'
import type { ResourceStatus } from '../reconcile/status/status-registry.ts'
import type { Locate, SourceNote } from '../resource/resource-source.ts'
import type { LeaderRecord } from './leader-record.ts'
import { documentDetail, documentRow, nameOf, namesOf, stateOf } from './overview-documents.ts'
import {
  gatewayDetail,
  gatewayRow,
  gatewayState,
  realmRow,
  realmUses,
} from './overview-gateways.ts'
import { errorPage, type Page, type Pages } from './page.ts'

export interface OverviewSources {
  readonly status: () => OperatorStatus
  /** Undefined: not everything has been read yet. */
  readonly desired: () => DesiredSet | undefined
  /** Left out where there are no others: this one leads. */
  readonly leader?: () => LeaderRecord
  /** Left out where resources are in no files. */
  readonly locate?: Locate | undefined
  /** The name under which gateways are managed. */
  readonly manager: string
}

export const overviewPages = (sources: OverviewSources): Pages => {
  const selections = new CachedSelections()
  return {
    '/overview': () => ({ json: overview(sources) }),
    '/overview/documents': paged(sources, (query, parameters) =>
      documentsPage(sources, query, parameters),
    ),
    '/overview/document': (query = '') => documentPage(sources, keyIn(query, 'key')),
    '/overview/gateways': paged(sources, (query, parameters) =>
      parameters.get('view') === 'names'
        ? gatewayNamesPage(sources, query)
        : gatewaysPage(sources, query, selections),
    ),
    '/overview/gateway': (query = '') => gatewayPage(sources, keyIn(query, 'name'), selections),
    '/overview/realms': paged(sources, (query) => realmsPage(sources, query)),
  }
}

/** Made once for each desired set: gateways that are alike share one selection. */
class CachedSelections {
  #selections: Selections | undefined

  of(desired: DesiredSet | undefined): Selections | undefined {
    if (desired === undefined) return undefined
    if (this.#selections?.desired !== desired)
      this.#selections = new Selections(desired, this.#selections)
    return this.#selections
  }
}

const keyIn = (query: string, name: string): string => new URLSearchParams(query).get(name) ?? ''

/** Why there is nothing to show; undefined: there is. */
const errorOf = ({ leader, status }: OverviewSources): string | undefined =>
  leader?.().message ?? (status().isReady ? undefined : 'the resources have not been read yet')

const paged =
  (
    sources: OverviewSources,
    read: (query: PageQuery, parameters: URLSearchParams) => object | string,
  ) =>
  (query = ''): Page => {
    const error = errorOf(sources)
    if (error !== undefined) return { error }
    const parameters = new URLSearchParams(query)
    const pageQuery = readPageQuery(parameters)
    const page = typeof pageQuery === 'string' ? pageQuery : read(pageQuery, parameters)
    return typeof page === 'string' ? badRequest(page) : { json: page }
  }

const badRequest = (message: string): Page => errorPage(400, 'wamp.error.invalid_argument', message)

const MAX_NOTES = 20

const overview = (sources: OverviewSources): Overview => {
  const message = errorOf(sources) ?? null
  const { resources, dataPlanes, notes } = sources.status()
  const all = [...resources.values()]
  const ofKind = (kind: string): readonly { readonly state: ReturnType<typeof stateOf> }[] =>
    all
      .filter(({ result }) => result.resource.kind === kind)
      .map((each) => ({ state: stateOf(each) }))
  return {
    program: 'operator',
    version: readVersion(),
    manager: sources.manager,
    message,
    documents: countStates(ofKind('ApiSpecification')),
    gateways: countStates(dataPlanes.map((report) => ({ state: gatewayState(report) }))),
    realms: countStates(ofKind('Realm')),
    notes: notes.slice(0, MAX_NOTES).map(noteOf),
    moreNotes: Math.max(0, notes.length - MAX_NOTES),
  }
}

const noteOf = ({ severity, message, origin, resource }: SourceNote): Note => ({
  severity,
  message: cutText(message),
  place: origin === undefined ? null : `${origin.file}:${origin.line}:${origin.column}`,
  resource: resource ?? null,
})

const ofKind = (
  { resources }: OperatorStatus,
  kind: 'ApiSpecification' | 'Realm',
): readonly ResourceStatus[] =>
  [...resources.values()].filter(({ result }) => result.resource.kind === kind)

const documentsPage = (
  { status, locate }: OverviewSources,
  query: PageQuery,
  parameters: URLSearchParams,
): DocumentsPage | string => {
  const state = readState(parameters)
  if (state === 'unknown') return 'state must be failed, degraded, pending or ready'
  const all = ofKind(status(), 'ApiSpecification').filter(
    (each) => state === undefined || stateOf(each) === state,
  )
  const { rows, total, next } = cutPage(all, query, {
    keyOf: (each) => rankedKey(stateOf(each), nameOf(each)),
    textsOf: (each) => [nameOf(each), ...Object.values(namesOf(each))],
  })
  return { documents: rows.map((each) => documentRow(each, locate)), total, next }
}

const documentPage = (sources: OverviewSources, key: string): Page => {
  const error = errorOf(sources)
  if (error !== undefined) return { error }
  const status = sources.status()
  const found = ofKind(status, 'ApiSpecification').find((each) => nameOf(each) === key)
  if (found === undefined)
    return errorPage(404, 'svc.error.not_found', 'There is no ApiSpecification of this name')
  const { desired, locate } = sources
  return { json: documentDetail(found, { status, desired: desired(), locate }) }
}

const cutGateways = (
  { status }: OverviewSources,
  query: PageQuery,
): ReturnType<typeof cutPage<DataPlaneReport>> =>
  cutPage(status().dataPlanes, query, {
    keyOf: (report) => rankedKey(gatewayState(report), report.dataPlane.name),
    textsOf: ({ dataPlane, phase }) => [dataPlane.name, dataPlane.url, phase],
  })

/** Compares nothing. */
const gatewayNamesPage = (sources: OverviewSources, query: PageQuery): GatewayNamesPage => {
  const { rows, total, next } = cutGateways(sources, query)
  return { gateways: rows.map(({ dataPlane: { name } }) => ({ name })), total, next }
}

const gatewaysPage = (
  sources: OverviewSources,
  query: PageQuery,
  cached: CachedSelections,
): GatewaysPage => {
  const { rows, total, next } = cutGateways(sources, query)
  const selections = cached.of(sources.desired())
  const gateways = rows.map((report) => gatewayRow(report, selections?.for(report.dataPlane)))
  return { gateways, total, next }
}

const gatewayPage = (sources: OverviewSources, name: string, cached: CachedSelections): Page => {
  const error = errorOf(sources)
  if (error !== undefined) return { error }
  const report = sources.status().dataPlanes.find(({ dataPlane }) => dataPlane.name === name)
  if (report === undefined)
    return errorPage(404, 'svc.error.not_found', 'There is no gateway of this name')
  const selection = cached.of(sources.desired())?.for(report.dataPlane)
  return { json: gatewayDetail(report, selection) }
}

const realmsPage = ({ status, locate }: OverviewSources, query: PageQuery): RealmsPage => {
  const current = status()
  const { rows, total, next } = cutPage(ofKind(current, 'Realm'), query, {
    keyOf: (each) => rankedKey(stateOf(each), nameOf(each)),
    textsOf: (each) => [nameOf(each), each.result.id],
  })
  const uses = realmUses(current.resources.values())
  const shared = { dataPlanes: current.dataPlanes, uses, locate }
  return { realms: rows.map((each) => realmRow(each, shared)), total, next }
}
