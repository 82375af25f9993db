// Composes the HTTP half of one serving process: what a public listener does with requests, WebSocket connections and
// event streams, and how they are counted and logged.

import { randomBytes, randomFillSync } from 'node:crypto'
import { explainRoute } from '../../language/explain/explain-route.ts'
import type { RouteExplanation } from '../../language/explain/explanation.ts'
import type { ReadRequest } from '../../language/explain/read-request.ts'
import type { RealmRecord } from '../../language/realm/record.ts'
import { createAccessLog } from '../../telemetry/access-log.ts'
import type { Log } from '../../telemetry/log.ts'
import type { GatewaySettings } from '../config.ts'
import type { DispatchOptions } from '../http/dispatch-options.ts'
import { createClientErrorHandler } from '../http/request/client-error.ts'
import { createDispatch } from '../http/dispatch.ts'
import { createFailureReport } from '../http/failure-report.ts'
import { DecisionLog } from '../http/decision-log.ts'
import { createEventStreams, type EventStreams } from '../http/sse/registry.ts'
import { createClientReader } from '../http/request/forwarded.ts'
import type { PreparedOperation, Preparation } from '../http/prepared-operation.ts'
import { originsOf, type RealmOrigins } from '../http/realm-origins.ts'
import { createRequestIds } from '../http/request/request-id.ts'
import { createRequestTraces } from '../http/request-traces.ts'
import { createUpgrade } from '../http/dispatch-upgrade.ts'
import { createWebSocketRoutes } from '../http/upgrade/web-socket-route.ts'
import type { MemoryBudget } from '../memory/memory-budget.ts'
import type { GatewayMetrics, Measurements } from '../metrics.ts'
import { oncePer } from '../../base/once.ts'
import type { ServingParts } from './plane.ts'
import type { Traces } from './traces.ts'
import type { RateLimiter } from '../shared/rate-buckets.ts'
import type { RealmRegistry } from '../realm/realm-registry.ts'
import type { ServingSecurity } from './serving-security.ts'
import type { TableServing } from '../store/table-serving.ts'
import { Relays } from '../wamp/relay/relays.ts'
import type { RouterDial } from '../wamp/transport/router-dial.ts'
import { createTurns } from '../turns.ts'

export interface ServingHttpOptions {
  readonly settings: GatewaySettings
  readonly log: Log
  /** Takes access-log lines. */
  readonly writeLines: (lines: string) => void
  readonly table: TableServing<PreparedOperation>
  readonly preparation: Preparation
  readonly realms: RealmRegistry
  readonly measurements: Measurements
  readonly security: Pick<ServingSecurity, 'authenticate' | 'endpoints'>
  readonly dial: RouterDial
  readonly memory: MemoryBudget
  readonly traces: Traces | undefined
  readonly limiter: RateLimiter
}

export interface ServingHttp extends Pick<ServingParts, 'publicHandlers' | 'endStreams'> {
  readonly findDecisions: DecisionLog['find']
  readonly findFailures: DecisionLog['failures']
  readonly explain: (request: ReadRequest) => RouteExplanation
  /** Writes what the access log still buffers, and ends open spans. */
  readonly flush: () => void
}

export const createServingHttp = (options: ServingHttpOptions): ServingHttp => {
  const { settings, table, realms, log, dial } = options
  const { metrics } = options.measurements
  const relays = new Relays({
    routerOf: (uri) => realms.get(uri)?.router,
    dial,
    log,
    memory: options.memory,
  })
  metrics.gauge('webSockets', () => [[{}, relays.size]])
  const webSockets = createWebSocketRoutes(
    () => table.table(),
    (uri) => relays.hasRouter(uri),
  )
  const eventStreams = countedEventStreams(metrics, options.memory)
  const accessLog = createAccessLog({ share: settings.accessLog, sink: options.writeLines })
  const readClient = createClientReader(settings.trustedProxies)
  const requestTraces = options.traces && createRequestTraces({ ...options.traces, readClient })
  const decisions = new DecisionLog({
    table: () => table.table(),
    now: () => performance.now(),
    wallClock: Date.now,
    key: randomBytes(32).toString('hex'),
    processId: process.pid,
  })
  const originsOfRealm = oncePer((record: RealmRecord) => originsOf(record, settings.baseUrl))
  const origins = (uri: string): RealmOrigins => {
    const record = realms.get(uri)
    return record === undefined ? originsOf(record, settings.baseUrl) : originsOfRealm(record)
  }
  const dispatch = {
    ...dispatchOptions(options),
    baseUrl: settings.baseUrl,
    readClient,
    accessLog,
    eventStreams,
    turns: createTurns(),
    webSockets,
    origins,
    traces: requestTraces,
    decisions,
  } satisfies DispatchOptions
  const onClientError = createClientErrorHandler(dispatch.nextRequestId)
  const upgrade = { dispatch, webSockets, relays }
  return {
    publicHandlers: (scheme) => {
      const onRequest = createDispatch(dispatch, scheme)
      const handlers = {
        onRequest,
        onClientError,
        memory: options.memory,
        isScarce: () => options.memory.isScarce,
        ...createUpgrade(upgrade, scheme, onRequest),
      }
      return requestTraces?.traced(handlers, scheme) ?? handlers
    },
    findDecisions: (id) => decisions.find(id),
    findFailures: (query) => decisions.failures(query),
    explain: (request) =>
      explainRoute(request, {
        table: table.table(),
        hasRouter: (uri) => relays.hasRouter(uri),
        isAwaitingOperator: isAwaitingOperator(options),
      }),
    endStreams: () => {
      endStreams(eventStreams, relays, log)
    },
    flush: () => {
      accessLog?.flush()
      requestTraces?.close()
    },
  }
}

/** Whether an operator owns this gateway and has never sent it anything. */
const isAwaitingOperator = ({
  settings,
  table,
}: Pick<ServingHttpOptions, 'settings' | 'table'>): boolean =>
  settings.managed !== null && !table.hasCompleteContent()

const dispatchOptions = ({
  settings,
  log,
  table,
  preparation,
  realms,
  security,
  traces,
  memory,
  limiter,
  measurements: { metrics, requests },
}: ServingHttpOptions): Omit<DispatchOptions, 'accessLog' | 'readClient' | 'origins'> => ({
  table: () => table.table(),
  isAwaitingOperator: () => isAwaitingOperator({ settings, table }),
  preparation,
  authenticate: security.authenticate,
  limits: {
    limiter,
    onSharedBucket: (cause) => {
      metrics.count('sharedBuckets', { cause })
    },
  },
  realm: (uri) => realms.get(uri),
  endpoints: security.endpoints.handle,
  onAuthentication: countAuthentications(metrics),
  nextRequestId: createRequestIds(Date.now, randomFillSync),
  now: () => performance.now(),
  wallClock: Date.now,
  inFlight: gaugedInFlight(metrics),
  memory,
  isScarce: () => memory.isScarce,
  onRefused: (code: string) => {
    metrics.count('refusals', { code })
  },
  onResult: (outcome) => {
    metrics.count('resultChecks', { outcome })
  },
  unmatched: requests.rowFor({ api: '', version: '', path: '', method: '' }),
  onUnexpected: (error, requestId, request) => {
    const trace = traces?.spans.field(request)
    log.error('a request failed unexpectedly', { requestId, ...trace, error })
  },
  onFailure: createFailureReport({
    now: () => performance.now(),
    warn: (message, fields) => {
      log.warn(message, fields)
    },
  }),
})

/** Both names are from closed sets: a few dozen counters at most, each created at its first use. */
const countAuthentications = (
  metrics: GatewayMetrics,
): NonNullable<DispatchOptions['onAuthentication']> => {
  // Two lookups of existing names cost less than joining both to a new one each time.
  const counters = new Map<string, Map<string, () => void>>()
  return (scheme, result) => {
    const ofScheme = counters.get(scheme) ?? new Map<string, () => void>()
    counters.set(scheme, ofScheme)
    const count =
      ofScheme.get(result) ?? metrics.counter('authentications', { scheme, outcome: result })
    ofScheme.set(result, count)
    count()
  }
}

const gaugedInFlight = (metrics: GatewayMetrics): { count: number } => {
  const inFlight = { count: 0 }
  metrics.gauge('requestsInFlight', () => [[{}, inFlight.count]])
  return inFlight
}

const countedEventStreams = (metrics: GatewayMetrics, memory: MemoryBudget): EventStreams => {
  const eventStreams = createEventStreams({
    memory,
    onCutOff: () => {
      metrics.count('eventStreamsCutOff', {})
    },
  })
  metrics.gauge('eventStreams', () => [[{}, eventStreams.size]])
  return eventStreams
}

const endStreams = (eventStreams: EventStreams, relays: Relays, log: Log): void => {
  eventStreams.endAll()
  relays.closeAll().catch((error: unknown) => {
    log.error('could not close WebSocket connections in order', { error })
  })
}
