// Serves what only gateways know: `/routes` and `/explain` of one of them, and `/why`, the failures of all.

import type { FleetFailures } from '../fleet/find-failures.ts'
import { describeResponse } from '../fleet/client/describe-response.ts'
import type {
  ManagementResponse,
  FailuresQuery,
  ManagementClient,
} from '../fleet/management-client.ts'
import type { LeaderRecord } from './leader-record.ts'
import { errorPage, type Page, type Pages } from './page.ts'

export interface ReachableGateway {
  readonly name: string
  readonly isReady: boolean
  /** In the shared pool: no sidecar. */
  readonly isShared: boolean
  readonly client: Pick<ManagementClient, 'routes' | 'explain'>
}

export interface GatewaySources {
  /** undefined: another operator leads, or nothing has been read yet. */
  readonly gateways: () => readonly ReachableGateway[] | undefined
  readonly findFailures: (
    query: FailuresQuery,
    gateway: string | undefined,
  ) => Promise<FleetFailures> | undefined
  /** Left out where there are no others: this one leads. */
  readonly leader?: () => LeaderRecord
}

const MAX_TEXT = 256
const MAX_AFTER = 1024
const FAILURES = { limit: 50, most: 100 }
const ROUTES = { limit: 200, most: 1000 }

export const gatewayPages = (sources: GatewaySources): Pages => ({
  '/routes': (query) => routesPage(sources, new URLSearchParams(query)),
  '/explain': (query) => explainPage(sources, new URLSearchParams(query)),
  '/why': (query) => failuresPage(sources, new URLSearchParams(query)),
})

const routesPage = async (sources: GatewaySources, query: URLSearchParams): Promise<Page> => {
  const match = query.get('match') ?? ''
  const after = query.get('after')
  const limit = limitIn(query, ROUTES)
  if (match.length > MAX_TEXT) return badRequest(`match must have at most ${MAX_TEXT} characters`)
  if (after !== null && after.length > MAX_AFTER)
    return badRequest('after must be what next was in the page before')
  if (typeof limit === 'string') return badRequest(limit)
  return ofOne(sources, query, async ({ name, client }) => {
    const response = await client.routes(match === '' ? null : match, after, limit)
    if (response.result !== 'ok') return refusalOf(name, response)
    const { routes, leftOut, next } = response.value
    return { json: { routes, left_out: leftOut, next, gateway: name } }
  })
}

const explainPage = (sources: GatewaySources, query: URLSearchParams): Promise<Page> =>
  ofOne(sources, query, async ({ name, client }) => {
    const response = await client.explain({
      method: query.get('method') ?? '',
      url: query.get('url') ?? '',
      headers: query.getAll('header'),
    })
    return response.result === 'ok'
      ? { json: { ...response.value, gateway: name } }
      : refusalOf(name, response)
  })

const failuresPage = async (sources: GatewaySources, query: URLSearchParams): Promise<Page> => {
  const match = query.get('match') ?? ''
  const before = query.get('before')
  const limit = limitIn(query, FAILURES)
  if (match.length > MAX_TEXT) return badRequest(`match must have at most ${MAX_TEXT} characters`)
  if (before !== null && !/^\d{1,15}$/.test(before))
    return badRequest('before must be what next was in the page before')
  if (typeof limit === 'string') return badRequest(limit)
  const gateway = query.get('gateway') ?? undefined
  const found = await sources.findFailures({ match, before, limit }, gateway)
  return found === undefined ? nobodyKnown(sources) : { json: found }
}

/** Asks the gateway that the query names, otherwise the first one that is ready. */
const ofOne = async (
  sources: GatewaySources,
  query: URLSearchParams,
  ask: (gateway: ReachableGateway) => Promise<Page>,
): Promise<Page> => {
  const gateways = sources.gateways()
  if (gateways === undefined) return nobodyKnown(sources)
  const name = query.get('gateway') ?? ''
  if (name !== '') {
    const named = gateways.find((each) => each.name === name)
    return named === undefined
      ? errorPage(404, 'svc.error.not_found', 'There is no gateway of this name')
      : ask(named)
  }
  const ready = gateways.filter(({ isReady }) => isReady)
  const first = ready.find(({ isShared }) => isShared) ?? ready[0]
  return first === undefined ? { fault: 'no gateway is ready' } : ask(first)
}

const nobodyKnown = ({ leader }: GatewaySources): Page => ({
  fault: leader?.().message ?? 'the gateways are not known yet: ask again',
})

/** What a gateway refuses is the person's mistake, otherwise it is the gateway's. */
const refusalOf = (
  name: string,
  response: Exclude<ManagementResponse<unknown>, { readonly result: 'ok' }>,
): Page => {
  const message = `${name}: ${describeResponse(response)}`
  return response.result === 'refused' && response.status === 400
    ? badRequest(message)
    : errorPage(502, 'svc.error.bad_gateway', message)
}

const limitIn = (
  query: URLSearchParams,
  { limit, most }: { readonly limit: number; readonly most: number },
): number | string => {
  const given = query.get('limit') ?? String(limit)
  return /^[1-9]\d{0,3}$/.test(given) && Number(given) <= most
    ? Number(given)
    : `limit must be a whole number from 1 to ${most}`
}

const badRequest = (message: string): Page => errorPage(400, 'wamp.error.invalid_argument', message)
