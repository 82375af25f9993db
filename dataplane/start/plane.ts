// Defines the serving half of the program as one interface, so that the control half (store, management, metrics,
// shutdown) does not know whether it serves itself or through the workers of a cluster.

import type { RouteExplanation } from '../../language/explain/explanation.ts'
import type { ReadRequest } from '../../language/explain/read-request.ts'
import type { LazyFamily, MetricsState } from '../../telemetry/metrics-state.ts'
import type { RequestMetrics } from '../../telemetry/request-metrics.ts'
import type { UpstreamsView } from '../upstream/upstream-view.ts'
import type { Log } from '../../telemetry/log.ts'
import type { DurableName } from './cluster/process-status.ts'
import type { GatewaySettings } from '../config.ts'
import type { ConnectionRefusal } from '../connections/connection-gate.ts'
import type { FailureQuery, KeptFailure } from '../decisions/decision-ring.ts'
import type { ServerHandlers } from '../listen/http-server.ts'
import { openListeners, type ListenerName, type Listeners } from '../listen/listeners.ts'
import { certificatesFamily, connectionsFamily } from '../metrics.ts'
import type { Drainable } from './shutdown.ts'
import type { Serving } from '../store/serving.ts'
import type {
  ServiceDirectory,
  ReportedEndpoints,
} from '../upstream/endpoints/service-directory.ts'

/** The parts of one serving process; built by the composition root, the same in every process. */
export interface ServingParts {
  readonly serving: Serving
  readonly publicHandlers: (scheme: 'http' | 'https') => ServerHandlers
  readonly onConnectionRefused?: (reason: ConnectionRefusal) => void
  /** All but those of requests. */
  readonly exportMetrics: () => Promise<MetricsState>
  /** If left out, no requests are counted. */
  readonly requests?: Pick<RequestMetrics, 'families' | 'takeCounts'>
  /** What is known of upstreams; without detail only recent failures. If left out, nothing. */
  readonly viewUpstreams?: (isDetailed: boolean) => UpstreamsView
  /** JSON texts of `Decision` with this request id. If left out, none are kept. */
  readonly findDecisions?: (id: string) => readonly string[]
  /** The latest failures, the newest first. If left out, none are kept. */
  readonly findFailures?: (query: FailureQuery) => readonly KeptFailure[]
  /** Which route takes a request, by the table that is served. If left out, it is not known. */
  readonly explain?: (request: ReadRequest) => RouteExplanation
  /** Sets the URLs of all listeners of this gateway, the control half's too: no upstream may be one of them. */
  readonly announce?: (urls: readonly string[]) => void
  /** Releases a registration or subscription for a callback, if this process has it. Never rejects. */
  readonly releaseHere: (name: DurableName) => Promise<boolean>
  /** Ends event streams and WebSocket connections, which would outlive any drain; clients reconnect. */
  readonly endStreams: () => void
  /** Call it after the last request: closes pools, sessions, access log. */
  readonly close: () => Promise<void>
}

export interface ServedMetrics {
  /** All but those of requests. */
  readonly state: MetricsState
  readonly requests: readonly LazyFamily[]
}

export interface Plane extends Drainable {
  readonly serving: Serving
  /**
   * Opens the public listeners; what was applied before is served from the first request on.
   * @throws StartError when an address is not available
   */
  listen(): Promise<Readonly<Partial<Record<ListenerName, string>>>>
  /** Call it once everything listens; every serving process gets the URLs, also one that starts later. */
  announce(urls: readonly string[]): void
  /** What the operator reports of Services. */
  readonly endpoints: ReportedEndpoints
  /** The metrics of all serving processes together. */
  exportMetrics(): Promise<ServedMetrics>
  /** The view of each serving process; undefined: it has not replied in time. Never rejects. */
  viewUpstreams(isDetailed: boolean): Promise<readonly (UpstreamsView | undefined)[]>
  /** The decisions of each serving process with this request id; undefined: it has not replied in time. Never rejects. */
  findDecisions(id: string): Promise<readonly (readonly string[] | undefined)[]>
  /** The latest failures of each serving process; undefined: it has not replied in time. Never rejects. */
  findFailures(query: FailureQuery): Promise<readonly (readonly KeptFailure[] | undefined)[]>
  /** Which route takes a request, as a serving process says; undefined: none has replied in time. Never rejects. */
  explain(request: ReadRequest): Promise<RouteExplanation | undefined>
}

export interface HereOptions {
  readonly settings: GatewaySettings
  readonly log: Log
  /** The directory of Services that the parts use. */
  readonly services: ServiceDirectory
}

/** Serves within this process: `--processes 1`. */
export const serveHere = (parts: ServingParts, { settings, log, services }: HereOptions): Plane => {
  let listeners: Listeners | undefined
  return {
    serving: parts.serving,
    listen: async () => {
      const { publicHandlers, onConnectionRefused } = parts
      listeners = await openListeners({ settings, log, publicHandlers, onConnectionRefused })
      return listeners.urls()
    },
    announce: (urls) => {
      parts.announce?.(urls)
    },
    endpoints: {
      directory: services,
      apply: (change) => {
        services.apply(change)
        return Promise.resolve()
      },
    },
    exportMetrics: async () => ({
      state: await exportMetrics(parts, listeners),
      requests: parts.requests?.families() ?? [],
    }),
    viewUpstreams: (isDetailed) => Promise.resolve([parts.viewUpstreams?.(isDetailed)]),
    findDecisions: (id) => Promise.resolve([parts.findDecisions?.(id)]),
    findFailures: (query) => Promise.resolve([parts.findFailures?.(query)]),
    explain: (request) => Promise.resolve(parts.explain?.(request)),
    beginDraining: () => {
      listeners?.beginDraining()
    },
    releaseClients: () => {
      parts.endStreams()
      listeners?.closeIdle()
    },
    close: async () => {
      parts.endStreams()
      await listeners?.close()
      await parts.close()
    },
    abort: () => {
      listeners?.abort()
    },
  }
}

/** The metrics of one serving process but those of requests, and its open connections. */
export const exportMetrics = async (
  parts: ServingParts,
  listeners: Listeners | undefined,
): Promise<MetricsState> => {
  const counts = (await listeners?.connections()) ?? {}
  const ends = certificatesFamily(listeners?.certificateEndsMs() ?? new Map())
  return [...(await parts.exportMetrics()), connectionsFamily(counts), ends]
}
