// Composes the control half of the gateway: the store, the management and health listeners, readiness and the totals
// of metrics. There is one of it, however many processes serve.

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { BoundedCompiler } from '../../compiler/bounded-compiler.ts'
import { SYSTEM_CLOCK } from '../../base/clock.ts'
import { fileBeside } from '../../compiler/compile-thread.ts'
import { limitsFrom } from '../../compiler/limits.ts'
import type { Log } from '../../telemetry/log.ts'
import { mergeStates, renderInPieces } from '../../telemetry/metrics-state.ts'
import { isLocal } from '../../telemetry/bound-address.ts'
import { readVersion } from '../../telemetry/version.ts'
import { allowLocal, allowLocalHost, type Authorize } from '../../web/browser-access.ts'
import { measureBusy } from '../../base/event-loop-busy.ts'
import { collectGarbage } from '../../base/collect-garbage.ts'
import { collectAfterLoads, type IdleCollection } from './collect-after-loads.ts'
import type { ProcessStatusRegistry } from './cluster/process-status.ts'
import type { GatewaySettings } from '../config.ts'
import type { ConnectionRefusal } from '../connections/connection-gate.ts'
import type { HealthListener } from '../listen/health-listener.ts'
import type { ServerHandlers } from '../listen/http-server.ts'
import { type Listeners, openListeners } from '../listen/listeners.ts'
import { createHealthApp, createManagementApp } from '../management/app.ts'
import { createMetricsResponse } from '../management/metrics-response.ts'
import {
  allowAll,
  bearerAuthorizer,
  clientCertificateAuthorizer,
  openTokenFile,
} from '../management/credentials.ts'
import type { ProbeDeps } from '../management/endpoint.ts'
import { Readiness } from '../management/readiness.ts'
import type { GatewayMetrics } from '../metrics.ts'
import type { Plane } from './plane.ts'
import { StartError } from '../start-error.ts'
import { reportUpstreams } from '../upstream-report.ts'
import { type UpstreamWatch, watchUpstreams } from './upstream-watch.ts'
import {
  atGateway,
  compileDocument,
  type CompileResult,
  validateInProcess,
  validateWith,
  refuseDocument,
} from '../store/change/validate-document.ts'
import { foldTask, foldWith } from '../store/fold-loaded.ts'
import type { FoldedResult } from '../../language/explain/complete-explanation.ts'
import { Snapshot } from '../store/snapshot/snapshot.ts'
import { openSnapshotFiles, type SnapshotFiles } from '../store/snapshot/snapshot-files.ts'
import { Store, type StoreOptions } from '../store/store.ts'
import { messageOf } from '../../base/thrown.ts'

export interface Control {
  readonly readiness: Readiness
  /** Opens the management and health listeners; the documents of the snapshot are served already. */
  listen(): Promise<Listeners>
  /** Call it after the last request. */
  close(): Promise<void>
}

export interface ControlOptions {
  readonly settings: GatewaySettings
  readonly log: Log
  readonly plane: Plane
  /** The status of the WAMP bridges of the plane. */
  readonly processStatus: ProcessStatusRegistry
  /** The metrics of this process; those of the plane are read at each scrape. */
  readonly metrics: GatewayMetrics
  readonly isOwnMetricsApart: boolean
  /** Opened already; if left out, opened with the others. */
  readonly health?: HealthListener
}

/** Restores the snapshot before it resolves. */
export const createControl = async (options: ControlOptions): Promise<Control> => {
  const { settings, log, plane, metrics } = options
  const readiness = new Readiness({
    isManaged: settings.managed !== null,
    readyFromSnapshotMs: settings.readyFromSnapshot * 1000,
    now: () => performance.now(),
  })
  const progress = progressOf(settings)
  const compiler = createCompiler(settings)
  const folder = createFolder(settings)
  let watch: UpstreamWatch | undefined
  const store: Store = new Store({
    ...(await storeOptions(options, readiness, progress)),
    upstreamProblems: () => watch?.problems() ?? new Map<string, never>(),
    ...validatesOf(settings, compiler),
  })
  // Only an operator reads it.
  if (settings.managed !== null) watch = watchStore(store, plane)
  options.processStatus.onChange(() => {
    store.touch()
  })
  readiness.restored((await store.restore()).complete)
  if (store.documents().length + store.realms().length > 0) progress.snapshot = 'restored'
  metrics.gauge('snapshot', () => [[{ state: progress.snapshot }, 1]])
  gaugeState(metrics, store, readiness)
  const access = await createAccess(settings, log)
  let listeners: Listeners | undefined
  const probes: ProbeDeps = {
    readiness,
    log,
    isManagementAwaited: () =>
      progress.isAwaited && listeners?.addresses().management === undefined,
    hasManagement: () => listeners?.addresses().management !== undefined,
    degradations: () => (options.processStatus.isSharedStateAway ? ['shared-state'] : []),
    metrics: createMetricsResponse(() => readMetrics(plane, options)),
  }
  return {
    readiness,
    listen: async () => {
      const onRequest = createManagementApp({
        ...probes,
        store,
        endpoints: plane.endpoints,
        callbacksOf: (uri) => options.processStatus.durableOf(uri),
        upstreams: async () => reportUpstreams(await plane.viewUpstreams(true)),
        decisions: (id) => plane.findDecisions(id),
        failures: (query) => plane.findFailures(query),
        name: settings.nodeName ?? hostname(),
        fold: foldWith(folder),
        explain: (request) => plane.explain(request),
        authorize: access.authorize,
        page: access.page,
      })
      return (listeners = await openControl(options, { onRequest }, probes, progress))
    },
    close: async () => {
      listeners?.abort()
      await listeners?.close()
      access.close()
      watch?.stop()
      await store.close()
      await compiler.close()
      await folder.close()
    },
  }
}

const progressOf = ({ stateDir }: GatewaySettings): Progress => ({
  snapshot: stateDir === null ? 'off' : 'empty',
  isAwaited: false,
})

const watchStore = (store: Store, plane: Plane): UpstreamWatch =>
  watchUpstreams({
    read: () => plane.viewUpstreams(false),
    documents: () => store.documents(),
    onChange: () => {
      store.touch()
    },
    now: () => performance.now(),
    every: (ms, look) => {
      const timer = setInterval(look, ms).unref()
      return () => {
        clearInterval(timer)
      }
    },
  })

/** An operator connects when it has written the certificate; the kubelet mounts it a moment later. */
const AFTER_OPERATOR_MS = 500

const openControl = (
  { settings, log, metrics, health }: ControlOptions,
  managementHandlers: ServerHandlers,
  probes: ProbeDeps,
  progress: Progress,
): Promise<Listeners> => {
  const onConnectionRefused = (reason: ConnectionRefusal): void => {
    metrics.count('connectionsRefused', { reason })
  }
  const onRequest = createHealthApp(probes)
  health?.answer(onRequest, onConnectionRefused)
  return openListeners({
    settings,
    log,
    managementHandlers,
    onConnectionRefused,
    ...(health === undefined ? { healthHandlers: { onRequest } } : { health: health.listener }),
    onManagementAwaited: () => {
      setTimeout(() => (progress.isAwaited = true), AFTER_OPERATOR_MS).unref()
    },
  })
}

const createCompiler = (settings: GatewaySettings): BoundedCompiler<CompileResult> =>
  new BoundedCompiler({
    limits: limitsFrom(settings),
    work: compileDocument,
    refuse: refuseDocument,
    entry: fileBeside(import.meta.url, 'compile-entry'),
    timers: SYSTEM_CLOCK,
  })

/** Apart from the compiler, so that no load waits for a person who reads. */
const createFolder = (settings: GatewaySettings): BoundedCompiler<FoldedResult> =>
  new BoundedCompiler({
    limits: limitsFrom(settings),
    work: foldTask,
    refuse: ({ message }) => ({ problem: message }),
    entry: fileBeside(import.meta.url, 'fold-entry'),
    timers: SYSTEM_CLOCK,
  })

/**
 * The content of a snapshot was within limits when it was loaded, and there are no requests yet that compiling could
 * delay.
 */
const validatesOf = (
  { redis, maxRoutes, trustedProxies, publicProxyProtocol }: GatewaySettings,
  compiler: BoundedCompiler<CompileResult>,
): Pick<StoreOptions, 'validate' | 'validateRestored'> => {
  const facts = {
    hasReplicas: redis !== null,
    hasConnectionsAlone: trustedProxies.length === 0 && publicProxyProtocol.length === 0,
  }
  return {
    validate: atGateway(validateWith(compiler), facts),
    validateRestored: atGateway(validateInProcess(maxRoutes), facts),
  }
}

interface Progress {
  /** The value of the snapshot gauge. */
  snapshot: 'off' | 'empty' | 'restored' | 'written' | 'failed'
  /** Whether a client tried to connect to the management API, which has no certificate yet. */
  isAwaited: boolean
}

const storeOptions = async (
  { settings, log, plane, metrics, processStatus }: ControlOptions,
  readiness: Readiness,
  progress: Progress,
): Promise<StoreOptions> => {
  const files = settings.stateDir === null ? undefined : await openState(settings.stateDir)
  return {
    serving: collectAfterLoads(plane.serving, IDLE_COLLECTION),
    log,
    now: Date.now,
    bootId: randomUUID(),
    gatewayVersion: readVersion(),
    manager: settings.managed,
    allowUnmanaged: settings.allowUnmanaged,
    sessionsOf: (uri) => processStatus.sessionsOf(uri),
    failingProvidersOf: (uri) => processStatus.failingProvidersOf(uri),
    failingCredentialsOf: (uri) => processStatus.failingCredentialsOf(uri),
    ...(files === undefined ? {} : { snapshot: new Snapshot({ files, log, now: Date.now }) }),
    observer: {
      item: ({ kind, result }) => {
        metrics.count('loads', { kind, result })
      },
      synced: (isComplete, items) => {
        readiness.synced(isComplete, items)
      },
      snapshotFailing: (isFailing) => {
        progress.snapshot = isFailing ? 'failed' : 'written'
      },
    },
  }
}

const IDLE_COLLECTION: IdleCollection = {
  clock: {
    after: (ms, callback) => {
      const timer = setTimeout(callback, ms).unref()
      return () => {
        clearTimeout(timer)
      }
    },
  },
  measureBusy,
  collect: () => {
    collectGarbage()
  },
}

const openState = async (directory: string): Promise<SnapshotFiles> => {
  try {
    const files = await openSnapshotFiles(directory)
    await files.list()
    return files
  } catch (error) {
    throw new StartError(`--state-dir ${directory}: cannot be used: ${messageOf(error)}`, error)
  }
}

const gaugeState = (metrics: GatewayMetrics, store: Store, readiness: Readiness): void => {
  metrics.gauge('documents', () => [[{}, store.documents().length]])
  metrics.gauge('realms', () => [[{}, store.realms().length]])
  metrics.gauge('ready', () => [[{}, readiness.isReady ? 1 : 0]])
}

/**
 * Totals of all processes; in a cluster the control process adds its own. That of a single process
 * is rendered as it is: merging takes about as long as rendering.
 */
const readMetrics = async (
  plane: Plane,
  { metrics, isOwnMetricsApart }: ControlOptions,
): Promise<Iterable<string>> => {
  const { state, requests } = await plane.exportMetrics()
  const families = isOwnMetricsApart ? mergeStates([state, await metrics.exportState()]) : state
  return renderInPieces([...families, ...requests])
}

interface Access {
  readonly authorize: Authorize
  /** Who may open the web page, which contains no data; undefined: it is not served, as no browser could read any data. */
  readonly page: Authorize | undefined
  readonly close: () => void
}

/** Without a token or certificates the listener is local: the settings are validated for that. */
const createAccess = async (settings: GatewaySettings, log: Log): Promise<Access> => {
  const ways: Authorize[] = []
  const { managementTokenFile, managementClientName } = settings
  const tokens =
    managementTokenFile === null
      ? undefined
      : await openTokenFile({ path: managementTokenFile, log })
  if (tokens !== undefined) ways.push(bearerAuthorizer(() => tokens.tokens()))
  if (managementClientName !== null) ways.push(clientCertificateAuthorizer(managementClientName))
  if (ways.length === 0 && !isLocal(settings.management))
    throw new Error('the management listener is open to others and asks for no credentials')
  return {
    authorize: ways.length === 0 ? withoutCredentials(settings) : anyOf(ways),
    page: pageAccess(ways.length > 0, tokens !== undefined),
    close: () => {
      tokens?.close()
    },
  }
}

/** With client certificates alone there is no page: what browsers send by themselves is not what data is given for. */
const pageAccess = (hasCredentials: boolean, hasTokens: boolean): Authorize | undefined => {
  if (!hasCredentials) return allowLocalHost
  return hasTokens ? allowAll : undefined
}

/** Browsers cannot reach a Unix socket. A browser that trusts the certificate of a TLS listener can reach that. */
const withoutCredentials = ({ management }: GatewaySettings): Authorize =>
  management.kind === 'unix' ? allowAll : allowLocal

/** Any one of them is enough; the rejection is that of the first. */
const anyOf =
  (ways: readonly Authorize[]): Authorize =>
  (request) => {
    const results = ways.map((way) => way(request))
    return results.find((result) => result === true) ?? results[0] ?? { status: 401, headers: {} }
  }
