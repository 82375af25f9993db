// Everything one serving process is made of: the table, what requests of it reach, and what they count.
// The same in a process that does it all and in each worker of a cluster.

import { randomFillSync, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setImmediate as yieldTurn } from 'node:timers/promises'
import { createAccessLog } from '../telemetry/access-log.ts'
import type { Log } from '../telemetry/log.ts'
import { rowsToKeep } from './forget-rows.ts'
import { endpointsOf } from './own-listeners.ts'
import { createCallbackPoster } from './actions/callback-poster.ts'
import { createPerformer } from './actions/create-performer.ts'
import { type CallQuota, createCallQuota } from './actions/wamp-quota.ts'
import type { GatewaySettings } from './config.ts'
import { createClientErrorHandler } from './http/client-error.ts'
import { createDispatch } from './http/dispatch.ts'
import { createClientReader } from './http/forwarded.ts'
import type { PreparedOperation, Preparation } from './http/prepared-operation.ts'
import { createRequestIds } from './http/request-id.ts'
import { createMeasurements, type Measurements } from './metrics.ts'
import type { ServingParts } from './plane.ts'
import { RealmRegistry } from './realm/realm-registry.ts'
import type { ServedVersion } from './served.ts'
import { messageOf, StartError } from './start-error.ts'
import type { Serving } from './store/serving.ts'
import { createTableServing } from './store/table-serving.ts'
import { createDeadlines } from './upstream/deadlines.ts'
import { createGuard, readRules, type SocketEndpoint } from './upstream/guard.ts'
import { createPoolScope, type PoolScope } from './upstream/limiter.ts'
import { SYSTEM_CLOCK } from './upstream/retry.ts'
import { createUpstream } from './upstream/undici-upstream.ts'
import type { Upstream } from './upstream/upstream.ts'
import type { WampClient } from './wamp/wamp-client.ts'
import { WampFault } from './wamp/wamp-session.ts'

export interface ServingEnvironment {
  readonly settings: GatewaySettings
  readonly log: Log
  /** Takes access-log lines. */
  readonly writeLines: (lines: string) => void
}

export interface ServingProcess extends ServingParts {
  readonly measurements: Measurements
}

/** Opens nothing yet: listeners are opened by whoever runs it. */
export const createServingParts = (environment: ServingEnvironment): ServingProcess => {
  const { settings, log } = environment
  const measurements = createMeasurements()
  const { metrics } = measurements
  const inFlight = { count: 0 }
  metrics.gauge('requestsInFlight', () => [[{}, inFlight.count]])
  let own: readonly SocketEndpoint[] = []
  const realms = new RealmRegistry()
  const upstream = createUpstream({
    guard: createGuard({
      allow: readRules(settings.upstreamAllow).rules,
      deny: readRules(settings.upstreamDeny).rules,
      ownListeners: () => own,
    }),
    onFailure: (failure) => {
      metrics.count('upstreamFailures', { failure })
    },
    extraCa: settings.upstreamCa === null ? [] : [readCa(settings.upstreamCa)],
  })
  gaugeUpstream(measurements, upstream)
  const table = createTableServing<PreparedOperation>(realms, () => yieldTurn())
  const accessLog = createAccessLog({ share: settings.accessLog, sink: environment.writeLines })
  const nextRequestId = createRequestIds(Date.now, randomFillSync)
  const onClientError = createClientErrorHandler(nextRequestId)
  const dispatchOptions = {
    table: () => table.table(),
    preparation: createPreparation(upstream, realms, measurements),
    readClient: createClientReader(settings.trustedProxies),
    nextRequestId,
    now: () => performance.now(),
    wallClock: Date.now,
    accessLog,
    inFlight,
    onRefused: (code: string) => {
      metrics.count('refusals', { code })
    },
    unmatched: measurements.requests.rowFor({ api: '', version: '', path: '', method: '' }),
    onUnexpected: (error: unknown, requestId: string) => {
      log.error('a request failed unexpectedly', { requestId, error })
    },
  }
  return {
    serving: forgettingRows(table, measurements),
    measurements,
    announce: (urls) => {
      own = endpointsOf(urls)
    },
    publicHandlers: (scheme) => ({
      onRequest: createDispatch(dispatchOptions, scheme),
      onClientError,
    }),
    exportMetrics: () => measurements.metrics.exportState(),
    close: async () => {
      accessLog?.flush()
      await upstream.close()
    },
  }
}

/** Counts of documents and paths that are served no more are let go. */
const forgettingRows = (serving: Serving, { requests }: Measurements): Serving => ({
  apply: async (change) => {
    await serving.apply(change)
    requests.prune(rowsToKeep(change))
  },
})

const readCa = (path: string): string => {
  try {
    const text = readFileSync(path, 'utf8')
    if (!text.includes('-----BEGIN CERTIFICATE-----')) throw new Error('it holds no certificate')
    return text
  } catch (cause) {
    throw new StartError(`--upstream-ca ${path}: cannot use the file: ${messageOf(cause)}`, cause)
  }
}

/** One pool scope per loaded version: it goes when the version's document is replaced. */
const createPreparation = (
  upstream: Upstream,
  realms: RealmRegistry,
  measurements: Measurements,
): Preparation => {
  const scopes = new WeakMap<ServedVersion, PoolScope>()
  const scopeOf = (version: ServedVersion): PoolScope => {
    const known = scopes.get(version)
    if (known !== undefined) return known
    const scope = createPoolScope(version.poolSize)
    scopes.set(version, scope)
    return scope
  }
  const quotas = new WeakMap<ServedVersion, CallQuota>()
  const callsOf = (version: ServedVersion): CallQuota => {
    const known = quotas.get(version)
    if (known !== undefined) return known
    const quota = createCallQuota(version.poolSize)
    quotas.set(version, quota)
    return quota
  }
  const deadlines = createDeadlines()
  const callbacks = createCallbackPoster({
    upstream,
    clock: SYSTEM_CLOCK,
    wallClock: Date.now,
    newId: randomUUID,
    onLost: () => undefined,
  })
  return {
    createPerformer: (operation, { version }) =>
      createPerformer(operation, {
        forward: {
          upstream,
          scope: scopeOf(version),
          callTimeoutMs: () => realms.callTimeoutMs(version.realmUri),
        },
        wamp: {
          realmUri: version.realmUri,
          client: () => unbridgedClient(() => realms.get(version.realmUri) !== undefined),
          calls: callsOf(version),
          callTimeoutMs: () => realms.callTimeoutMs(version.realmUri),
          deadlines,
          callbacks,
          realm: () => realms.get(version.realmUri),
        },
      }),
    rowFor: (version, path, method) =>
      measurements.requests.rowFor({
        api: version.apiId,
        version: version.name,
        path,
        method: method.toUpperCase(),
      }),
  }
}

/** Until the bridge is wired in: as if the router of every realm were away. */
const unbridgedClient = (hasRealm: () => boolean): WampClient => {
  const away = (): WampFault =>
    new WampFault(
      hasRealm() ? 'wamp.error.net_failure' : 'wamp.error.no_such_realm',
      'The WAMP router of the realm is not reachable',
      { wasSent: false },
    )
  return {
    callTimeoutUnit: undefined,
    call: () => {
      throw away()
    },
    publish: () => Promise.reject(away()),
    follow: (_topic, _options, follower) => {
      queueMicrotask(() => {
        follower.onFailure(away())
      })
      return { end: () => undefined }
    },
    register: () => Promise.reject(away()),
    subscribe: () => Promise.reject(away()),
    release: () => Promise.reject(away()),
  }
}

const gaugeUpstream = ({ metrics }: Measurements, upstream: Upstream): void => {
  metrics.gauge('upstreamConnections', () =>
    upstream
      .stats()
      .flatMap(({ origin, connected, running, queued }) => [
        [{ origin, state: 'connected' }, connected] as const,
        [{ origin, state: 'running' }, running] as const,
        [{ origin, state: 'queued' }, queued] as const,
      ]),
  )
}
