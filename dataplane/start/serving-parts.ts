// Composes one serving process: the route table, what its requests use, and the metrics. It is the same in a process
// that does everything and in each worker of a cluster.

import { setImmediate as yieldTurn } from 'node:timers/promises'
import type { Log } from '../../telemetry/log.ts'
import type { Tracer } from '../../telemetry/tracer.ts'
import { followDocuments } from './follow-documents.ts'
import { endpointsOf, endpointsOfSettings } from '../listen/own-addresses.ts'
import { createPerformer } from '../actions/action-table.ts'
import type { ForwardCredentials } from '../actions/forward/forward-credential.ts'
import type { BridgePeers } from './cluster/process-status.ts'
import type { GatewaySettings } from '../config.ts'
import { type Confinements, createConfinements } from '../confinements.ts'
import type { CredentialRegistry } from '../credentials/credential-registry.ts'
import type { PreparedOperation, Preparation } from '../http/prepared-operation.ts'
import { createMeasurements, type GatewayMetrics, type Measurements } from '../metrics.ts'
import type { MemoryBudget } from '../memory/memory-budget.ts'
import { oncePer } from '../../base/once.ts'
import type { ServingParts } from './plane.ts'
import { RealmRegistry } from '../realm/realm-registry.ts'
import type { SpanOf } from '../request-spans.ts'
import type { ServedVersion } from '../served.ts'
import type { Traces } from './traces.ts'
import { createServingHttp } from './serving-http.ts'
import { createServingMemory } from './serving-memory.ts'
import { createServingSecurity, type ServingSecurity } from './serving-security.ts'
import { createServingUpstream, type ServingUpstream } from './serving-upstream.ts'
import { createServingWamp, type ServingWamp } from './serving-wamp.ts'
import { createRouterDial } from '../wamp/transport/router-dial.ts'
import type { SecretRings } from './security-state.ts'
import type { RateLimiter } from '../shared/rate-buckets.ts'
import type { SharedState } from '../shared/shared-state.ts'
import type { PackedDocument } from '../store/packed/packed-document.ts'
import type { Serving } from '../store/serving.ts'
import { createTableServing } from '../store/table-serving.ts'
import type { SocketEndpoint } from '../upstream/destinations/guard.ts'
import { createPoolScope } from '../upstream/limiter.ts'
import { createRetryBudget } from '../upstream/retry-budget.ts'
import type { ServiceDirectory } from '../upstream/endpoints/service-directory.ts'
import type { WampBridge } from '../wamp/realm/wamp-client.ts'

export interface ServingEnvironment {
  readonly settings: GatewaySettings
  readonly log: Log
  /** Takes access-log lines. */
  readonly writeLines: (lines: string) => void
  readonly home: ServingHome
  /** If left out, no request is traced. */
  readonly traces?: Traces | undefined
}

/** What a serving process gets from the gateway that it belongs to. */
export interface ServingHome {
  /** The other serving processes. */
  readonly peers: BridgePeers
  readonly shared: SharedState
  /** Counts requests for all processes of this gateway, where there is no Redis. */
  readonly limiter: RateLimiter
  readonly rings: SecretRings
  /** What the operator reports of Services. */
  readonly services: ServiceDirectory
}

export interface ServingProcess extends ServingParts {
  readonly measurements: Measurements
}

/** Opens nothing yet: the caller opens the listeners. */
export const createServingParts = (environment: ServingEnvironment): ServingProcess => {
  const { settings, log, traces } = environment
  const { peers, rings, services, shared } = environment.home
  const spanOf = traces?.spans.of
  const measurements = createMeasurements()
  const { metrics } = measurements
  const { memory, stopWatching } = createServingMemory(settings, metrics, log)
  let own: readonly SocketEndpoint[] = []
  const realms = new RealmRegistry()
  const reach = createServingUpstream(settings, { metrics, log, memory, services }, () => own)
  const { upstream, fetch, extraCa } = reach
  const dial = createRouterDial(extraCa, { names: reach.names, guard: reach.routerGuard })
  const confinements = createConfinements()
  const wamp = createServingWamp({
    realms,
    upstream,
    metrics,
    log,
    peers,
    dial,
    memory,
    confinements,
    spanOf,
  })
  const security = createServingSecurity({
    settings,
    log,
    realms,
    metrics,
    fetch,
    rings,
    shared,
    peers,
    extraCa,
  })
  const table = createTableServing<PreparedOperation>(realms, () => yieldTurn())
  const http = createServingHttp({
    settings,
    log,
    writeLines: environment.writeLines,
    table,
    preparation: createPreparation({ reach, wamp, security, realms, measurements, memory, spanOf }),
    realms,
    measurements,
    security,
    dial,
    memory,
    traces,
    limiter: security.limiter ?? environment.home.limiter,
  })
  if (traces !== undefined) countSpans(metrics, traces.tracer)
  return {
    serving: following(table, { bridge: wamp.bridge, confinements, security, measurements }),
    measurements,
    announce: (urls) => {
      own = [...endpointsOf(urls), ...endpointsOfSettings(settings)]
    },
    publicHandlers: http.publicHandlers,
    onConnectionRefused: (reason) => {
      metrics.count('connectionsRefused', { reason })
    },
    exportMetrics: () => measurements.metrics.exportState(),
    requests: measurements.requests,
    viewUpstreams: reach.view,
    findDecisions: http.findDecisions,
    findFailures: http.findFailures,
    explain: http.explain,
    releaseHere: ({ realmUri, kind, id }) =>
      wamp.bridge.releaseHere(realmUri, kind, id).catch(() => false),
    endStreams: http.endStreams,
    close: async () => {
      http.flush()
      stopWatching()
      await Promise.all([upstream, wamp.bridge, security].map((part) => part.close()))
      await traces?.tracer.close()
    },
  }
}

/** Follows changes of documents with their sessions with routers and the counts of their paths. */
const following = (
  serving: Serving,
  { bridge, confinements, security, measurements }: Followers,
): Serving => ({
  apply: async (change) => {
    await serving.apply(change)
    confinements.follow(change)
    bridge.follow(change)
    // So that the first login does not wait for lazy loading.
    if (change.put.some(hasEndpoints)) void security.endpoints.warmUp()
    followDocuments(measurements.requests, change)
  },
})

interface Followers {
  readonly bridge: WampBridge
  readonly confinements: Confinements
  readonly security: ServingSecurity
  readonly measurements: Measurements
}

const hasEndpoints = ({ versions }: PackedDocument): boolean =>
  versions.some(({ endpoints }) => endpoints.length > 0)

/** Exports the tracer's counts of spans. */
const countSpans = (metrics: GatewayMetrics, tracer: Tracer): void => {
  metrics.total('traceSpans', () => {
    const { exported, failed, dropped } = tracer.counts()
    return [
      [{ outcome: 'exported' }, exported],
      [{ outcome: 'failed' }, failed],
      [{ outcome: 'dropped' }, dropped],
    ]
  })
  metrics.gauge('traceSpansWaiting', () => [[{}, tracer.counts().waiting]])
}

interface Reach {
  readonly reach: ServingUpstream
  readonly wamp: ServingWamp
  readonly security: Pick<ServingSecurity, 'credentials'>
  readonly realms: RealmRegistry
  readonly measurements: Measurements
  readonly memory: MemoryBudget
  readonly spanOf: SpanOf | undefined
}

/** Those of its realm that the document of a version may use. */
const credentialsFor = (
  { realmUri: realm, credentials: allowed = [] }: ServedVersion,
  { authorize }: CredentialRegistry,
  metrics: GatewayMetrics,
): ForwardCredentials => ({
  authorize,
  mayUse: (name) => allowed === 'any' || allowed.includes(name),
  onFailure: (credential, reason) => {
    metrics.count('credentialFailures', { realm, credential, reason })
  },
})

/** One pool scope per loaded version: it is dropped when the version's document is replaced. */
const createPreparation = ({
  reach: { upstream, onHostHealth },
  wamp,
  security: { credentials },
  realms,
  measurements,
  memory,
  spanOf,
}: Reach): Preparation => {
  const retryBudget = createRetryBudget(() => performance.now())
  const scopeOf = oncePer(({ poolSize }: ServedVersion) => createPoolScope(poolSize))
  return {
    createPerformer: (operation, { version }) =>
      createPerformer(operation, {
        forward: {
          upstream,
          scope: scopeOf(version),
          confinedTo: version.confinedTo,
          realm: version.realmUri,
          retryBudget,
          credentials: credentialsFor(version, credentials, measurements.metrics),
          onHostHealth: (event) => {
            onHostHealth(event, version.realmUri)
          },
          callTimeoutMs: () => realms.callTimeoutMs(version.realmUri),
          isScarce: () => memory.isScarce,
          spanOf,
        },
        wamp: wamp.environmentOf(version),
      }),
    rowFor: (version, path, method) =>
      measurements.requests.rowFor({
        api: version.apiId,
        version: version.name,
        path,
        method: method.toUpperCase(),
        resource: version.resource,
      }),
  }
}
