// The serving half of the program behind one interface, so that the control half (store, management,
// metrics, shutdown) does not know whether it serves itself or through the workers of a cluster.

import { mergeStates, type MetricsState } from '../../telemetry/metrics-state.ts'
import type { UpstreamsView } from '../upstream/upstream-view.ts'
import type { Log } from '../../telemetry/log.ts'
import type { HeldName } from './cluster/process-status.ts'
import type { GatewaySettings } from '../config.ts'
import type { ConnectionRefusal } from '../connections/connection-gate.ts'
import type { ServerHandlers } from '../listen/http-server.ts'
import { openListeners, type ListenerName, type Listeners } from '../listen/listeners.ts'
import { certificatesFamily, connectionsFamily } from '../metrics.ts'
import type { Drainable } from './shutdown.ts'
import type { Serving } from '../store/serving.ts'
import type { ServiceDirectory, ToldEndpoints } from '../upstream/endpoints/service-directory.ts'

/** What one serving process is made of; built by the composition root, the same in every process. */
export interface ServingParts {
  readonly serving: Serving
  readonly publicHandlers: (scheme: 'http' | 'https') => ServerHandlers
  readonly onConnectionRefused?: (reason: ConnectionRefusal) => void
  readonly exportMetrics: () => Promise<MetricsState>
  /** What is known of upstreams; without detail only what has failed of late. Nothing if left out. */
  readonly viewUpstreams?: (isDetailed: boolean) => UpstreamsView
  /** URLs of all listeners of this gateway, the control half's too: what no upstream may be. */
  readonly announce?: (urls: readonly string[]) => void
  /** Lets go of a registration or subscription for a callback, where this process holds it. Never rejects. */
  readonly releaseHere: (name: HeldName) => Promise<boolean>
  /** Event streams and WebSocket connections would outlive any drain: they end now, and clients come again. */
  readonly endStreams: () => void
  /** After the last request: pools, sessions, access log. */
  readonly close: () => Promise<void>
}

export interface Plane extends Drainable {
  readonly serving: Serving
  /**
   * Opens the public listeners; what was applied before is served from the first request on.
   * @throws StartError when an address cannot be had
   */
  listen(): Promise<Readonly<Partial<Record<ListenerName, string>>>>
  /** To be told once everything listens; every serving process learns it, also one that starts later. */
  announce(urls: readonly string[]): void
  /** What the operator tells of Services. */
  readonly endpoints: ToldEndpoints
  /** Of all serving processes together. */
  exportMetrics(): Promise<MetricsState>
  /** Of each serving process; undefined: it has not answered in time. Never rejects. */
  viewUpstreams(isDetailed: boolean): Promise<readonly (UpstreamsView | undefined)[]>
}

export interface HereOptions {
  readonly settings: GatewaySettings
  readonly log: Log
  /** What the parts know of Services. */
  readonly services: ServiceDirectory
}

/** Everything in this process: `--processes 1`. */
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
    exportMetrics: async () => mergeStates([await exportMetrics(parts, listeners)]),
    viewUpstreams: (isDetailed) => Promise.resolve([parts.viewUpstreams?.(isDetailed)]),
    beginDraining: () => {
      listeners?.beginDraining()
    },
    letGo: () => {
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

/** What one serving process counted, and who is connected to it. */
export const exportMetrics = async (
  parts: ServingParts,
  listeners: Listeners | undefined,
): Promise<MetricsState> => {
  const counts = (await listeners?.connections()) ?? {}
  const ends = certificatesFamily(listeners?.certificateEndsMs() ?? new Map())
  return [...(await parts.exportMetrics()), connectionsFamily(counts), ends]
}
