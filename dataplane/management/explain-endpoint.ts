// Serves `GET /explain`: which route takes a request, and what decides it (behaviour §8). Nothing is sent to the API, and
// no credentials are checked.

import {
  completeExplanation,
  documentsToFold,
} from '../../language/explain/complete-explanation.ts'
import type { RouteExplanation } from '../../language/explain/explanation.ts'
import { readRequest, type ReadRequest } from '../../language/explain/read-request.ts'
import type { FoldLoaded } from '../store/fold-loaded.ts'
import type { LoadedDocument } from '../store/loaded-content.ts'
import type { Store } from '../store/store.ts'
import type { Endpoint } from './endpoint.ts'
import { invalidArgument, overloaded } from './management-error.ts'
import { sendJson } from './respond.ts'

/** undefined: no serving process has replied in time. */
export type ExplainRoute = (request: ReadRequest) => Promise<RouteExplanation | undefined>

export interface ExplainDeps {
  readonly explain: ExplainRoute
  readonly fold: FoldLoaded
}

/** The most documents without an active version that are listed; no host leads to them. */
const MOST_INACTIVE = 16

export const explainEndpoint = (
  store: Pick<Store, 'document' | 'documents'>,
  { explain, fold }: ExplainDeps,
): Endpoint => ({
  path: '/explain',
  get: async (req, res) => {
    const reading = readRequest({
      method: textOf(req.query['method']),
      url: textOf(req.query['url']),
      headers: textsOf(req.query['header']),
    })
    if ('error' in reading)
      throw invalidArgument('The request to explain cannot be read', {
        description: `GET /explain?method=GET&url=https%3A%2F%2Fapi.acme.com%2F&header=Accept%3A%20*%2F*: ${reading.error}.`,
      })
    const route = await explain(reading.request)
    if (route === undefined) throw overloaded('No serving process has replied in time')
    const documents = [
      ...documentsToFold(route).flatMap((id) => store.document(id) ?? []),
      ...(route.route === null ? withoutRoutes(store.documents()) : []),
    ]
    const folded = await Promise.all(
      documents.map(async (document) => [document.id, await fold(document)] as const),
    )
    sendJson(res, 200, completeExplanation(route, new Map(folded)))
  },
})

const withoutRoutes = (documents: readonly LoadedDocument[]): readonly LoadedDocument[] =>
  documents.filter(({ claims }) => claims.length === 0).slice(0, MOST_INACTIVE)

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const textsOf = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).filter((each) => typeof each === 'string')
