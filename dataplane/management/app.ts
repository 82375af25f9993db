// Creates the management API as an Express app, which authorizes requests and routes them to endpoints. It is the
// only place where an error of an endpoint becomes an error record.

import type { ErrorRequestHandler, Express, RequestHandler } from 'express'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Log } from '../../telemetry/log.ts'
import { allowPageFiles, type Authorize, refuseWebPages } from '../../web/browser-access.ts'
import { findPageFile, sendPageFile } from '../../web/page-files.ts'
import { Limiter } from '../../base/limiter.ts'
import { QueueFullError } from '../../base/queue-full-error.ts'
import { loadOnce } from '../../base/single-flight.ts'
import type { Store } from '../store/store.ts'
import type { UpstreamsReport } from '../upstream-report.ts'
import type { DurableListing } from '../wamp/realm/wamp-client.ts'
import { sendError } from './respond.ts'
import {
  failuresEndpoint,
  type FindDecisions,
  type FindFailures,
  whyEndpoint,
} from './why-endpoint.ts'
import { overviewEndpoints } from './overview-endpoints.ts'
import { upstreamsEndpoint } from './upstreams-endpoint.ts'
import { BODY_TIMES, type BodyTimes, drain } from './body.ts'
import { ManagementError, notFound, overloaded } from './management-error.ts'
import type { Endpoint, ProbeDeps } from './endpoint.ts'
import { explainEndpoint, type ExplainRoute } from './explain-endpoint.ts'
import { routesEndpoint } from './routes-endpoint.ts'
import type { FoldLoaded } from '../store/fold-loaded.ts'
import { endpointsEndpoint } from './endpoints-endpoint.ts'
import { probeEndpoints } from './probe-endpoints.ts'
import { realmEndpoints } from './realm-endpoints.ts'
import { specEndpoints } from './spec-endpoints.ts'
import { syncEndpoint } from './sync-endpoint.ts'
import type { ReportedEndpoints } from '../upstream/endpoints/service-directory.ts'

export type Handle = (req: IncomingMessage, res: ServerResponse) => void

export interface ManagementDeps extends ProbeDeps {
  readonly store: Store
  /** Receives what the operator reports of Services. */
  readonly endpoints: ReportedEndpoints
  /** Lists the registrations and subscriptions of a realm for HTTP callbacks; if left out, there are none. */
  readonly callbacksOf?: (realmUri: string) => readonly DurableListing[]
  /** The upstreams of all serving processes; if left out, there are none. */
  readonly upstreams?: () => Promise<UpstreamsReport>
  /** The decisions of each serving process with a request id, as in `Plane`; if left out, none are kept. */
  readonly decisions?: FindDecisions
  /** The latest failures; if left out, none are kept. */
  readonly failures?: FindFailures
  /** The name of this gateway, for people; if left out, `gateway`. */
  readonly name?: string
  /** What people read of a loaded document; if left out, neither it nor routes are shown. */
  readonly fold?: FoldLoaded
  /** Which route takes a request, as a serving process knows; if left out, nothing is explained. */
  readonly explain?: ExplainRoute
  readonly authorize: Authorize
  /** Who may load the web page; if left out, it is not served. */
  readonly page?: Authorize | undefined
  readonly times?: BodyTimes
  /** Most bytes of request bodies in progress at one time; if left out, 192 MiB. */
  readonly bodyBudget?: Limiter
}

const BODY_BUDGET_BYTES = 192 * 1024 * 1024

/**
 * @example createServer(createManagementApp({ store, readiness, authorize: allowAll, metrics, log }))
 */
export const createManagementApp = (deps: ManagementDeps): Handle => {
  const times = deps.times ?? BODY_TIMES
  const bodies = { times, budget: deps.bodyBudget ?? new Limiter(BODY_BUDGET_BYTES) }
  const endpoints = [
    ...probeEndpoints(deps),
    syncEndpoint(deps.store, bodies),
    endpointsEndpoint(() => deps.store.fence, deps.endpoints, bodies),
    ...specEndpoints(deps.store, bodies, deps.fold),
    ...realmEndpoints(deps.store, bodies, deps.callbacksOf ?? (() => [])),
    ...(deps.upstreams === undefined ? [] : [upstreamsEndpoint(deps.upstreams)]),
    ...(deps.fold === undefined ? [] : [routesEndpoint(deps.store, deps.fold)]),
    ...(deps.fold === undefined || deps.explain === undefined
      ? []
      : [explainEndpoint(deps.store, { fold: deps.fold, explain: deps.explain })]),
    ...(deps.decisions === undefined ? [] : [whyEndpoint(deps.decisions)]),
    ...(deps.failures === undefined ? [] : [failuresEndpoint(deps.failures)]),
    ...overviewEndpoints(deps.store, { name: deps.name ?? 'gateway', readiness: deps.readiness }),
  ]
  return createApp(endpoints, {
    log: deps.log,
    authorize: deps.authorize,
    page: deps.page,
    lingerMs: times.lingerMs,
  })
}

/** `/ping`, `/ready` and `/metrics` alone, open to all: the health listener (behaviour §8). */
export const createHealthApp = (deps: ProbeDeps): Handle =>
  createApp(probeEndpoints(deps), { log: deps.log, lingerMs: BODY_TIMES.lingerMs })

interface AppOptions {
  readonly log: Log
  readonly authorize?: Authorize
  readonly page?: Authorize | undefined
  readonly lingerMs: number
}

/** No start waits for Express, 100 modules and 50 ms: it is loaded for the first request. */
const createApp = (endpoints: readonly Endpoint[], options: AppOptions): Handle => {
  let app: Handle | undefined
  const load = loadOnce(
    async () => (app = createExpressApp(await loadExpress(), endpoints, options)),
  )
  return (req, res) => {
    if (app !== undefined) {
      app(req, res)
      return
    }
    load().then(
      (loaded) => {
        // Who has hung up meanwhile would be waited for.
        if (!res.destroyed) loaded(req, res)
      },
      (error: unknown) => {
        options.log.error('the management API could not be loaded', { error })
        res.destroy()
      },
    )
  }
}

type CreateExpress = () => Express

const loadExpress = async (): Promise<CreateExpress> => (await import('express')).default

const createExpressApp = (
  create: CreateExpress,
  endpoints: readonly Endpoint[],
  { log, authorize, page, lingerMs }: AppOptions,
): Handle => {
  const app = create()
  app.disable('x-powered-by').disable('etag')
  app.set('query parser', 'simple').enable('case sensitive routing')
  app.use((_req, res, next) => {
    res.setHeader('x-content-type-options', 'nosniff')
    res.setHeader('cache-control', 'no-store')
    res.setHeader('cross-origin-resource-policy', 'same-origin')
    next()
  })
  if (page !== undefined) app.use(servePage(page))
  app.use(admit(authorize))
  for (const endpoint of endpoints) mount(app, endpoint)
  app.use(() => {
    throw notFound('There is no such endpoint')
  })
  app.use(refuse(log, lingerMs))
  return (req, res) => {
    app(req, res)
  }
}

/** Before anything asks for credentials: it holds no data. */
const servePage =
  (access: Authorize): RequestHandler =>
  (req, res, next) => {
    const isReading = req.method === 'GET' || req.method === 'HEAD'
    const file = isReading ? findPageFile(req.path) : undefined
    if (file === undefined) {
      next()
      return
    }
    throwUnlessAllowed(firstRejection(req, [allowPageFiles, access]))
    sendPageFile(res, file, req.method)
  }

const admit =
  (authorize: Authorize | undefined): RequestHandler =>
  (req, _res, next) => {
    if (authorize !== undefined)
      throwUnlessAllowed(firstRejection(req, [refuseWebPages, authorize]))
    next()
  }

const firstRejection = (
  req: IncomingMessage,
  steps: readonly Authorize[],
): ReturnType<Authorize> => {
  for (const step of steps) {
    const result = step(req)
    if (result !== true) return result
  }
  return true
}

const throwUnlessAllowed = (result: ReturnType<Authorize>): void => {
  if (result === true) return
  const { status, headers, message = 'These credentials are not allowed here' } = result
  if (status === 404) throw notFound(message)
  throw status === 403
    ? new ManagementError(status, 'svc.error.forbidden', message, { headers })
    : new ManagementError(status, 'svc.error.unauthorized', 'Credentials are required', {
        headers,
      })
}

const METHODS = ['get', 'post', 'delete'] as const

const mount = (app: Express, endpoint: Endpoint): void => {
  const route = app.route(endpoint.path)
  if (endpoint.any !== undefined) {
    route.all(endpoint.any)
    return
  }
  const allow: string[] = []
  for (const method of METHODS) {
    const handler = endpoint[method]
    if (handler === undefined) continue
    route[method](handler)
    allow.push(...(method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]))
  }
  route.all((req) => {
    throw new ManagementError(
      405,
      'svc.error.method_not_allowed',
      `${req.method} is not served here`,
      {
        headers: { allow: allow.join(', ') },
      },
    )
  })
}

const refuse = (log: Log, lingerMs: number): ErrorRequestHandler => {
  const answer = async (
    error: unknown,
    req: IncomingMessage,
    res: ServerResponse,
  ): Promise<void> => {
    const managementError = toManagementError(error)
    if (managementError.status >= 500 && managementError.status !== 503)
      log.error('a management request failed', { url: req.url, error })
    if (res.headersSent) {
      res.destroy()
      return
    }
    if (!req.complete) await drain(req, lingerMs)
    if (!req.complete) res.setHeader('connection', 'close')
    sendError(res, managementError)
  }
  // Express recognises an error handler by its four parameters.
  return (error: unknown, req, res, next) => {
    answer(error, req, res).catch(next)
  }
}

const toManagementError = (error: unknown): ManagementError => {
  if (error instanceof ManagementError) return error
  if (error instanceof QueueFullError)
    return overloaded('Too many changes are waiting already', error)
  // Express: a path that cannot be percent-decoded.
  if (error instanceof URIError)
    return new ManagementError(400, 'svc.error.invalid_data', 'The path cannot be decoded', {
      cause: error,
    })
  return new ManagementError(500, 'svc.error.internal', 'The gateway failed to do this', {
    description: 'Nothing was changed. The log of the gateway says more.',
    cause: error,
  })
}
