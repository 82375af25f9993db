// Serves `GET /overview…`: what the web page shows of this gateway's documents, realms and state (docs/web-page.md).

import type { Request } from 'express'
import { isMap } from '../../language/expression/value.ts'
import { readVersion } from '../../telemetry/version.ts'
import type {
  DocumentDetail,
  DocumentRow,
  DocumentsPage,
  GatewayDetail,
  GatewayRow,
  GatewaysPage,
  Overview,
  RealmRow,
  RealmsPage,
} from '../../web/overview.ts'
import {
  countSessions,
  countStates,
  cutText,
  MAX_DIAGNOSTICS,
  rankedKey,
  readState,
  reasonsOf,
} from '../../web/overview-rows.ts'
import { cutPage, type PageQuery, readPageQuery } from '../../web/rows-page.ts'
import type { LoadedDocument, LoadedRealm } from '../store/loaded-content.ts'
import type { Store } from '../store/store.ts'
import type { Endpoint } from './endpoint.ts'
import { invalidArgument, notFound } from './management-error.ts'
import type { Readiness } from './readiness.ts'
import { sendJson } from './respond.ts'

export interface OverviewDeps {
  /** The name of this gateway, for people. */
  readonly name: string
  readonly readiness: Pick<Readiness, 'state' | 'isReady' | 'waitsFor'>
}

export const overviewEndpoints = (store: Store, deps: OverviewDeps): readonly Endpoint[] => [
  endpoint('/overview', () => overview(store, deps)),
  endpoint('/overview/documents', (query) => documentsPage(store, query)),
  endpoint('/overview/document', (query) => documentDetail(store, query.get('key') ?? '', deps)),
  endpoint('/overview/gateways', (query) => gatewaysPage(store, query, deps)),
  endpoint('/overview/gateway', () => gatewayDetail(store, deps)),
  endpoint('/overview/realms', (query) => realmsPage(store, query)),
]

const endpoint = (path: string, read: (query: URLSearchParams) => object): Endpoint => ({
  path,
  get: (req, res) => {
    sendJson(res, 200, read(queryOf(req)))
  },
})

const queryOf = ({ originalUrl }: Request): URLSearchParams =>
  new URLSearchParams(originalUrl.split('?').slice(1).join('?'))

const pageQueryOf = (query: URLSearchParams): PageQuery => {
  const read = readPageQuery(query)
  if (typeof read === 'string') throw invalidArgument(read)
  return read
}

const overview = (store: Store, { readiness, name }: OverviewDeps): Overview => ({
  program: 'gateway',
  version: readVersion(),
  manager: store.manager,
  message: null,
  documents: countStates(store.documents().map(() => ({ state: 'ready' }))),
  gateways: countStates([gatewayRow(store, { readiness, name })]),
  realms: countStates(store.realms().map((realm) => ({ state: realmState(store, realm) }))),
  notes: [],
  moreNotes: 0,
})

const documentsPage = (store: Store, query: URLSearchParams): DocumentsPage => {
  const pageQuery = pageQueryOf(query)
  const state = readState(query)
  if (state === 'unknown') throw invalidArgument('state must be failed, degraded, pending or ready')
  // All that is loaded is served: what a gateway rejects, it does not keep.
  const documents = state === undefined || state === 'ready' ? store.documents() : []
  const { rows, total, next } = cutPage(documents, pageQuery, {
    keyOf: ({ id }) => rankedKey('ready', id),
    textsOf: ({ id, claims, forwards }) => [id, hostOf(claims), forwards.realmUri],
  })
  return { documents: rows.map((each) => documentRow(store, each)), total, next }
}

const documentRow = (store: Store, document: LoadedDocument): DocumentRow => ({
  key: document.id,
  id: document.id,
  host: hostOf(document.claims),
  realm: document.forwards.realmUri,
  state: 'ready',
  reason: document.managedBy === null ? 'loaded by hand' : `managed by ${document.managedBy}`,
  message: '',
  errors: 0,
  warnings: store.warningsOf(document).length,
  place: null,
  pointer: null,
  gateways: null,
  generation: null,
  serving: null,
  digest: document.digest,
})

/** The host of the first route, as documents with several hosts are rare. null: no version is active. */
const hostOf = ([claim]: LoadedDocument['claims']): string | null =>
  claim?.key.split('\t', 1)[0] ?? null

const documentDetail = (store: Store, id: string, { name }: OverviewDeps): DocumentDetail => {
  const document = store.document(id)
  if (document === undefined) throw notFound('There is no document with this key')
  const warnings = store.warningsOf(document)
  return {
    document: documentRow(store, document),
    conditions: [],
    errors: [],
    warnings: warnings.slice(0, MAX_DIAGNOSTICS).map(({ code, path, message }) => ({
      code,
      message: cutText(message),
      pointer: cutText(path),
      place: null,
    })),
    moreDiagnostics: Math.max(0, warnings.length - MAX_DIAGNOSTICS),
    versions: [{ digest: document.digest, isWanted: true, count: 1, gateways: [name] }],
  }
}

const gatewayRow = (store: Store, { name, readiness }: OverviewDeps): GatewayRow => ({
  name,
  url: null,
  state: readiness.isReady ? 'ready' : 'pending',
  phase: readiness.state,
  message: readiness.state === 'waiting' ? readiness.waitsFor : '',
  version: readVersion(),
  digest: store.manager === null ? null : store.rootDigest,
  wanted: null,
  documents: store.documents().length,
  realms: store.realms().length,
  lag: { missing: 0, outdated: 0, extra: 0 },
  rejected: 0,
})

const gatewaysPage = (store: Store, query: URLSearchParams, deps: OverviewDeps): GatewaysPage => {
  const { rows, total, next } = cutPage([gatewayRow(store, deps)], pageQueryOf(query), {
    keyOf: ({ name }) => name,
    textsOf: ({ name, phase }) => [name, phase],
  })
  return { gateways: rows, total, next }
}

/** What it should have loaded, its operator knows. */
const gatewayDetail = (store: Store, deps: OverviewDeps): GatewayDetail => ({
  gateway: gatewayRow(store, deps),
  differences: [],
  moreDifferences: 0,
})

const realmsPage = (store: Store, query: URLSearchParams): RealmsPage => {
  const { rows, total, next } = cutPage(store.realms(), pageQueryOf(query), {
    keyOf: (realm) => rankedKey(realmState(store, realm), realm.uri),
    textsOf: ({ uri }) => [uri],
  })
  const uses = new Map<string, number>()
  for (const { forwards } of store.documents())
    uses.set(forwards.realmUri, (uses.get(forwards.realmUri) ?? 0) + 1)
  return { realms: rows.map((realm) => realmRow(store, realm, uses)), total, next }
}

const realmState = (store: Store, { uri, record }: LoadedRealm): RealmRow['state'] => {
  const sessions = store.sessionsOf(uri)
  const lacksRouter = record.router !== undefined && sessions.length > 0
  const isApart = lacksRouter && !sessions.some(({ state }) => state === 'open')
  return isApart || store.failingProvidersOf(uri).length > 0 ? 'degraded' : 'ready'
}

const realmRow = (
  store: Store,
  realm: LoadedRealm,
  uses: ReadonlyMap<string, number>,
): RealmRow => {
  const { uri, record, managedBy } = realm
  const sessions = store.sessionsOf(uri)
  const failing = new Map(store.failingProvidersOf(uri).map((each) => [each.provider, each]))
  const providers = isMap(record.info?.oidc_providers) ? record.info.oidc_providers : {}
  return {
    uri,
    key: null,
    state: realmState(store, realm),
    reason: managedBy === null ? 'loaded by hand' : `managed by ${managedBy}`,
    message: '',
    place: null,
    documents: uses.get(uri) ?? 0,
    gateways: 1,
    sessions: countSessions(sessions),
    troubles: reasonsOf(sessions),
    providers: Object.keys(providers).map((name) => {
      const failure = failing.get(name)
      return {
        name,
        failing: failure === undefined ? 0 : 1,
        causes: failure === undefined ? [] : [failure.cause],
      }
    }),
  }
}
