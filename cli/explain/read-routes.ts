// Reads the routes of files, or of a gateway.

import {
  KEYS_ROUTE,
  listRoutes,
  matchesText,
  type RouteRow,
} from '../../language/explain/list-routes.ts'
import type {
  ManagementResponse,
  ManagementClient,
} from '../../operator/fleet/management-client.ts'
import { gatherFiles } from '../validate/gather-files.ts'
import { askGateway, type SourceSettings } from './gateway.ts'
import { type ReadDocuments, readDocuments } from './read-documents.ts'
import type { PlacedRoute } from './routes-text.ts'

export interface RoutesSettings extends SourceSettings {
  /** Only routes that contain this text; null: all. */
  readonly match: string | null
}

interface Listed {
  readonly routes: readonly PlacedRoute[]
  readonly leftOut: readonly string[]
}

type Read<T> = T | { readonly error: string }

/** Routes of files, as a gateway would serve them, with its own. */
export const routesOfFiles = async (
  operands: readonly string[],
  { class: className, maxRoutes, match }: RoutesSettings,
  readStdin: () => Promise<string>,
): Promise<Read<Listed>> => {
  const gathered = await gatherFiles(operands, readStdin)
  if ('error' in gathered) return gathered
  const { documents, leftOut, hasRouter } = readDocuments(gathered.files, {
    className,
    maxRoutes,
  })
  const own = routesOfDocuments({ documents, hasRouter })
  const routes = [...own, { row: KEYS_ROUTE, at: 'gateway' }]
  const matching = routes.filter(({ row }) => match === null || matchesText(row, match))
  return { routes: matching, leftOut }
}

/** The routes by the ids of their documents. */
const routesOfDocuments = ({
  documents,
  hasRouter,
}: Pick<ReadDocuments, 'documents' | 'hasRouter'>): readonly PlacedRoute[] =>
  documents
    .toSorted((a, b) => (a.folded.id < b.folded.id ? -1 : 1))
    .flatMap(({ folded, placeOf }) =>
      listRoutes(folded, hasRouter(folded.realmUri)).map((row) => ({
        row,
        at: placeOf(row.pointer),
      })),
    )

/** All routes of a gateway, read page by page. */
export const routesOfGateway = async (
  url: string,
  settings: RoutesSettings,
): Promise<Read<Listed>> => {
  const response = await askGateway(url, settings, (client) => allRoutes(client, settings.match))
  if ('error' in response) return response
  const { rows, leftOut } = response.value
  return { routes: rows.map((row) => ({ row, at: row.document || 'gateway' })), leftOut }
}

interface AllRoutes {
  readonly rows: readonly RouteRow[]
  readonly leftOut: readonly string[]
}

/** Bounds the requests to a gateway whose pages never end. */
const MOST_PAGES = 10_000

const allRoutes = async (
  client: ManagementClient,
  match: string | null,
): Promise<ManagementResponse<AllRoutes>> => {
  const rows: RouteRow[] = []
  const leftOut: string[] = []
  let after: string | null = null
  for (let page = 0; page < MOST_PAGES; page++) {
    const response = await client.routes(match, after)
    if (response.result !== 'ok') return response
    rows.push(...response.value.routes)
    leftOut.push(...response.value.leftOut)
    const { next } = response.value
    if (next === null || next === after) break
    after = next
  }
  return { result: 'ok', value: { rows, leftOut }, etag: undefined }
}
