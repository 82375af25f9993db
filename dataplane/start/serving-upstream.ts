// Composes the client for HTTP upstreams from the settings: guarded, counted, and with the additional certificate
// authorities. Every serving process has one.

import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Log } from '../../telemetry/log.ts'
import { apiServerOf, type GatewaySettings } from '../config.ts'
import type { GatewayMetrics } from '../metrics.ts'
import type { MemoryBudget } from '../memory/memory-budget.ts'
import { createNameLookup, type Resolve } from '../name-lookup.ts'
import { StartError } from '../start-error.ts'
import {
  type ClusterDestinations,
  createClusterDestinations,
} from '../upstream/destinations/cluster-destinations.ts'
import {
  createGuard,
  createRouterGuard,
  localAddresses,
  readRules,
  type RouterGuard,
  type SocketEndpoint,
} from '../upstream/destinations/guard.ts'
import { createGuardedFetch, type GuardedFetch } from '../upstream/destinations/guarded-fetch.ts'
import type { ServiceDirectory } from '../upstream/endpoints/service-directory.ts'
import { createEjectionReport, type EjectionReport } from '../upstream-ejections.ts'
import { type BalancingUpstream, createUpstream } from '../upstream/pooled-upstream.ts'
import type { UpstreamsView } from '../upstream/upstream-view.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { messageOf } from '../../base/thrown.ts'

export interface ServingUpstream {
  readonly upstream: Upstream
  /** Called for each of several hosts of a forward that cannot be reached. */
  readonly onHostHealth: EjectionReport['onHost']
  /** What is known of upstreams; without detail only recent failures. */
  readonly view: (isDetailed: boolean) => UpstreamsView
  /** Reaches identity providers and key sets, with the same guard. */
  readonly fetch: GuardedFetch
  /** CA certificates, PEM, for connections to routers too. */
  readonly extraCa: readonly string[]
  /** For routers too: a process has one queue of lookups. */
  readonly names: Resolve
  readonly routerGuard: RouterGuard
}

export interface UpstreamDeps {
  readonly metrics: GatewayMetrics
  readonly log: Log
  readonly memory: MemoryBudget
  /** What the operator reports of Services. */
  readonly services: ServiceDirectory
}

/**
 * @param ownListeners the addresses that no upstream may have
 * @throws StartError for a file of certificates that cannot be used
 */
export const createServingUpstream = (
  settings: GatewaySettings,
  { metrics, log, memory, services }: UpstreamDeps,
  ownListeners: () => readonly SocketEndpoint[],
): ServingUpstream => {
  const extraCa = readExtraCa(settings)
  const allow = readRules(settings.upstreamAllow).rules
  const cluster = clusterOf(settings)
  const guard = createGuard({
    allow,
    deny: readRules(settings.upstreamDeny).rules,
    ...(settings.upstreamLocalPorts.length > 0 && {
      localPorts: settings.upstreamLocalPorts.map(Number),
    }),
    ownListeners,
    cluster,
  })
  const names = createNameLookup()
  const ejections = createEjectionReport({ metrics, log }, () => performance.now())
  const upstream = createUpstream({
    guard,
    resolve: names,
    clusterDomain: settings.clusterDomain,
    services,
    onHealth: ejections.onAddress,
    maxAgeMs: settings.upstreamConnectionAge * 1000,
    memory,
    extraCa,
  })
  gaugeUpstream(metrics, upstream)
  const fetch = createGuardedFetch({ guard, extraCa, resolve: names })
  const routerGuard = createRouterGuard({ allow, ownListeners, cluster })
  const view = upstream.view.bind(upstream)
  const { onHost: onHostHealth } = ejections
  return { upstream, view, onHostHealth, fetch, extraCa, names, routerGuard }
}

const clusterOf = (settings: GatewaySettings): ClusterDestinations => {
  const { gatewayPorts, clusterNetworks, management } = settings
  const apiServer = apiServerOf()
  const ownPort = apiServer !== undefined && management.kind === 'tcp' ? [management.port] : []
  return createClusterDestinations({
    ...(apiServer !== undefined && { apiServer }),
    gatewayPorts: gatewayPorts.length > 0 ? gatewayPorts.map(Number) : ownPort,
    networks: clusterNetworks,
    ownAddresses: localAddresses(),
  })
}

/**
 * The certificates of `--upstream-ca`.
 * @throws StartError for a file of certificates that cannot be used
 */
export const readExtraCa = ({
  upstreamCa,
}: Pick<GatewaySettings, 'upstreamCa'>): readonly string[] =>
  upstreamCa === null ? [] : [readCa(upstreamCa)]

/** RFC 7468, §5. */
const CERTIFICATES = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

const readCa = (path: string): string => {
  try {
    const text = readFileSync(path, 'utf8')
    const certificates = text.match(CERTIFICATES)
    if (certificates === null) throw new Error('it contains no certificate')
    // TLS would silently ignore a certificate that cannot be read.
    for (const certificate of certificates) new X509Certificate(certificate)
    return text
  } catch (cause) {
    throw new StartError(`--upstream-ca ${path}: cannot use the file: ${messageOf(cause)}`, cause)
  }
}

const gaugeUpstream = (metrics: GatewayMetrics, upstream: BalancingUpstream): void => {
  metrics.gauge('upstreamConnections', () =>
    upstream
      .stats()
      .flatMap(({ origin, connected, running, queued }) => [
        [{ origin, state: 'connected' }, connected] as const,
        [{ origin, state: 'running' }, running] as const,
        [{ origin, state: 'queued' }, queued] as const,
      ]),
  )
  metrics.total('upstreamRequests', () =>
    upstream
      .counts()
      .read()
      .map(({ label, requests }) => [{ origin: label }, requests] as const),
  )
  metrics.total('upstreamFailures', () =>
    upstream
      .counts()
      .readFailures()
      .map(({ origin, cause, count }) => [{ origin, failure: cause }, count] as const),
  )
  metrics.gauge('upstreamEndpoints', () =>
    upstream.endpoints().map(({ origin, state, count }) => [{ origin, state }, count] as const),
  )
}
