// Serves `GET /routes`: every route that is loaded, page by page (behaviour §8).

import { setImmediate } from 'node:timers/promises'
import {
  KEYS_ROUTE,
  listRoutes,
  matchesText,
  type RouteRow,
} from '../../language/explain/list-routes.ts'
import type { FoldLoaded } from '../store/fold-loaded.ts'
import type { Store } from '../store/store.ts'
import type { Endpoint } from './endpoint.ts'
import { webSocketUrls } from '../../language/realm/router-urls.ts'
import { invalidArgument } from './management-error.ts'
import { sendJson } from './respond.ts'
import { sendNotModified } from './tagged.ts'

const DEFAULT_LIMIT = 200
const MAX_LIMIT = 1000
const MAX_TEXT = 256
/** Documents that one page looks at: a search that finds nothing ends after as many, and goes on in the next page. */
const MAX_DOCUMENTS = 100

export const routesEndpoint = (
  store: Pick<Store, 'documents' | 'realm' | 'state'>,
  fold: FoldLoaded,
): Endpoint => ({
  path: '/routes',
  get: async (req, res) => {
    const query = readQuery(req.query)
    if (sendNotModified(req, res, store.state().etag)) return
    sendJson(res, 200, await readPage(store, query, fold))
  },
})

interface Query {
  readonly match: string
  readonly limit: number
  readonly after: Cursor | undefined
}

/** Where a page ends: behind so many routes of a document, or behind all of it. */
interface Cursor {
  readonly id: string
  readonly rows: number | 'all'
}

const readQuery = (query: Readonly<Record<string, unknown>>): Query => {
  const { match = '', limit = String(DEFAULT_LIMIT), after } = query
  if (typeof match !== 'string' || match.length > MAX_TEXT)
    throw invalidArgument(`match must be one text of at most ${MAX_TEXT} characters`)
  if (typeof limit !== 'string' || !/^[1-9]\d{0,3}$/.test(limit) || Number(limit) > MAX_LIMIT)
    throw invalidArgument(`limit must be a whole number from 1 to ${MAX_LIMIT}`)
  return { match, limit: Number(limit), after: after === undefined ? undefined : readCursor(after) }
}

const readCursor = (after: unknown): Cursor => {
  const [, rows, id] =
    /^(\d{1,6}|all) (.{1,512})$/s.exec(typeof after === 'string' ? after : '') ?? []
  if (rows === undefined || id === undefined)
    throw invalidArgument('after must be what next was in the page before')
  return { id, rows: rows === 'all' ? 'all' : Number(rows) }
}

interface Page {
  readonly routes: readonly RouteRow[]
  /** Documents that cannot be listed, and why. */
  readonly left_out: readonly string[]
  /** `after` of the next page; null: this is the last one. */
  readonly next: string | null
}

const readPage = async (
  store: Pick<Store, 'documents' | 'realm'>,
  { match, limit, after }: Query,
  fold: FoldLoaded,
): Promise<Page> => {
  const hasRouter = (uri: string): boolean =>
    webSocketUrls(store.realm(uri)?.record.router).length > 0
  const rest = store
    .documents()
    .filter(({ id }) => after === undefined || isBehind(id, after))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
  const routes: RouteRow[] = []
  const leftOut: string[] = []
  for (const [at, document] of rest.entries()) {
    if (at === MAX_DOCUMENTS) return page(routes, leftOut, `all ${rest[at - 1]?.id ?? ''}`)
    const result = await fold(document)
    if ('problem' in result) leftOut.push(`${document.id}: ${result.problem}`)
    else {
      const skipped = after?.id === document.id && after.rows !== 'all' ? after.rows : 0
      const rows = listRoutes(result.folded, hasRouter(result.folded.realmUri))
      const taken = takeRows(rows, { skipped, match, room: limit - routes.length })
      routes.push(...taken.routes)
      if (taken.end < rows.length) return page(routes, leftOut, `${taken.end} ${document.id}`)
    }
    await setImmediate()
  }
  if (matchesText(KEYS_ROUTE, match)) routes.push(KEYS_ROUTE)
  return page(routes, leftOut, null)
}

const isBehind = (id: string, { id: last, rows }: Cursor): boolean =>
  rows === 'all' ? id > last : id >= last

const page = (
  routes: readonly RouteRow[],
  leftOut: readonly string[],
  next: string | null,
): Page => ({
  routes,
  left_out: leftOut,
  next,
})

const takeRows = (
  rows: readonly RouteRow[],
  {
    skipped,
    match,
    room,
  }: { readonly skipped: number; readonly match: string; readonly room: number },
): { readonly routes: readonly RouteRow[]; readonly end: number } => {
  const routes: RouteRow[] = []
  for (const [at, row] of rows.entries()) {
    if (at < skipped || !matchesText(row, match)) continue
    if (routes.length === room) return { routes, end: at }
    routes.push(row)
  }
  return { routes, end: rows.length }
}
