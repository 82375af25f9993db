// Serves the pages that ask gateways: why requests were answered so, which of them failed, routes and explanations. Such
// requests are few at a time.

import { Limiter } from '../../base/limiter.ts'
import { describeResponse } from '../fleet/client/describe-response.ts'
import { findDecisions } from '../fleet/find-decisions.ts'
import { findFailures } from '../fleet/find-failures.ts'
import type { Fleet, ReachableDataPlane } from '../fleet/fleet.ts'
import type { ManagementResponse } from '../fleet/management-client.ts'
import { sharedFirst } from '../fleet/shared-first.ts'
import type { LeaderRecord } from './leader-record.ts'
import { errorPage, type Page, type Pages } from './page.ts'

export interface FleetSources {
  /** undefined: another operator leads, or nothing has been read yet. */
  readonly fleet: () => Pick<Fleet, 'reachable'> | undefined
  /** Left out where there are no others: this one leads. */
  readonly leader?: () => LeaderRecord
}

/** People look at one thing at a time; each waits for gateways, and holds their responses. */
const MOST_AT_ONCE = 4

/** @example startStatusServer(address, 'people', { ...statusPages(sources), ...fleetPages({ fleet }) }) */
export const fleetPages = (sources: FleetSources): Pages => {
  const limiter = new Limiter(MOST_AT_ONCE)
  const bound =
    (page: (value: string) => Promise<Page>) =>
    async (value = ''): Promise<Page> => {
      if (!limiter.tryAcquire()) return { error: 'too many requests wait for gateways: ask again' }
      try {
        return await page(value)
      } finally {
        limiter.release()
      }
    }
  return {
    '/why/:id': bound((id) => whyPage(sources, id)),
    '/routes': bound((query) => routesPage(sources, new URLSearchParams(query))),
    '/explain': bound((query) => explainPage(sources, new URLSearchParams(query))),
    '/why': bound((query) => failuresPage(sources, new URLSearchParams(query))),
  }
}

/** The shared pool first. */
const gatewaysOf = ({ fleet }: FleetSources): readonly ReachableDataPlane[] | undefined =>
  fleet()?.reachable().toSorted(sharedFirst)

const whyPage = async (sources: FleetSources, id: string): Promise<Page> => {
  if (!REQUEST_ID.test(id))
    return errorPage(400, 'svc.error.invalid_data', 'This is not a request id', ID_HINT)
  const gateways = gatewaysOf(sources)
  if (gateways === undefined) return notKnown(sources)
  const found = await findDecisions(gateways, id)
  if (found.gateways.length > 0) return { json: found }
  const { asked: called, answered } = found
  return errorPage(
    404,
    'svc.error.not_found',
    `${answered} of ${called} gateways have answered, and none keeps a decision for this request id`,
    KEPT_HINT,
  )
}

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/
const ID_HINT = 'An id has 1 to 128 visible ASCII characters: X-Request-Id of the response.'
const KEPT_HINT =
  'The process that served a request keeps the decision about it, of each failure and of one success in a hundred: for 15 minutes at most, for less time under many failures, and until it ends.'

const MAX_TEXT = 256
const MAX_AFTER = 1024
const FAILURES = { limit: 50, most: 100 }
const ROUTES = { limit: 200, most: 1000 }

const routesPage = async (sources: FleetSources, query: URLSearchParams): Promise<Page> => {
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

const explainPage = (sources: FleetSources, query: URLSearchParams): Promise<Page> =>
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

const failuresPage = async (sources: FleetSources, query: URLSearchParams): Promise<Page> => {
  const match = query.get('match') ?? ''
  const before = query.get('before')
  const limit = limitIn(query, FAILURES)
  if (match.length > MAX_TEXT) return badRequest(`match must have at most ${MAX_TEXT} characters`)
  if (before !== null && !/^\d{1,15}$/.test(before))
    return badRequest('before must be what next was in the page before')
  if (typeof limit === 'string') return badRequest(limit)
  const gateways = gatewaysOf(sources)
  if (gateways === undefined) return notKnown(sources)
  const name = query.get('gateway')
  const called = gateways.filter((each) => name === null || each.name === name)
  return { json: await findFailures(called, { match, before, limit }) }
}

/** Asks the gateway that the query names, otherwise the first one that is ready. */
const ofOne = async (
  sources: FleetSources,
  query: URLSearchParams,
  ask: (gateway: ReachableDataPlane) => Promise<Page>,
): Promise<Page> => {
  const gateways = gatewaysOf(sources)
  if (gateways === undefined) return notKnown(sources)
  const name = query.get('gateway') ?? ''
  if (name !== '') {
    const named = gateways.find((each) => each.name === name)
    return named === undefined
      ? errorPage(404, 'svc.error.not_found', 'There is no gateway of this name')
      : ask(named)
  }
  const ready = gateways.filter(({ isReady }) => isReady)
  const first = ready.find(({ isShared }) => isShared) ?? ready[0]
  return first === undefined ? { error: 'no gateway is ready' } : ask(first)
}

const notKnown = ({ leader }: FleetSources): Page => ({
  error: leader?.().message ?? 'the gateways are not known yet: ask again',
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
