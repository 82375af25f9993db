// Implements `Upstream` with pools of connections: all requests to an origin share them, and they outlive reloads. It
// follows no redirect and retries nothing.

import { lookup } from 'node:dns'
import { createDeadlines } from '../deadlines.ts'
import { createUnboundedMemory, type MemoryBudget } from '../memory/memory-budget.ts'
import type { Resolve } from '../name-lookup.ts'
import { trustBeside } from '../trust.ts'
import { createFindAllowed } from './destinations/allowed-addresses.ts'
import { createListedEndpoints } from './endpoints/listed-endpoints.ts'
import { createConnector, destinationOf, portOf } from './destinations/connector.ts'
import type { DestinationGuard } from './destinations/guard.ts'
import { type AddressesOptions, OriginAddresses } from './endpoints/origin-addresses.ts'
import { type EndpointState, type HealthEvent, HealthRegistry } from './endpoints/origin-health.ts'
import { type CountsTable, OTHER } from './origin-counts.ts'
import { OriginLedger } from './origin-ledger.ts'
import { OriginPool, type PoolClock } from './origin-pool.ts'
import { createOpenHttp1Client } from './http1/client.ts'
import type { Connection } from './connection.ts'
import { IdleConnections } from './idle-connections.ts'
import { createIdlePools } from './idle-pools.ts'
import { ServiceDirectory } from './endpoints/service-directory.ts'
import {
  UpstreamError,
  type Upstream,
  type UpstreamRequest,
  type UpstreamStats,
} from './upstream.ts'
import { DispatchedCall } from './upstream-call.ts'
import { type Dispatch, QueuedCall } from './queued-call.ts'
import { type UpstreamsView, viewFailingOrigins, viewUpstreams } from './upstream-view.ts'

export interface UpstreamOptions {
  readonly guard: DestinationGuard
  /** What the buffers of connections are charged to; if left out, they are not. */
  readonly memory?: MemoryBudget
  /** `--upstream-ca`: PEM texts, trusted beside the system's. */
  readonly extraCa?: readonly string[]
  /** How long an idle connection is kept if the upstream names no time. */
  readonly keepAliveMs?: number
  /**
   * A connection gets no new request after this time, or up to a quarter earlier; if left out, a minute; 0: no bound.
   */
  readonly maxAgeMs?: number
  /** Called for each address that gets no requests for a while, and for its readmission. */
  readonly onHealth?: (event: HealthEvent) => void
  /** Resolves names; if left out, `dns.lookup`. */
  readonly resolve?: Resolve
  /** For requests that are confined to a namespace; if left out, `cluster.local`. */
  readonly clusterDomain?: string
  /** What the operator reports of Services; if left out, nothing. */
  readonly services?: ServiceDirectory
  readonly clock?: PoolClock
  /** Most idle connections to all origins; if left out, 2000. */
  readonly mostIdle?: number
}

export interface EndpointCount {
  readonly origin: string
  readonly state: EndpointState
  readonly count: number
}

export interface BalancingUpstream extends Upstream {
  /** For gauges: how many addresses each origin has by state, of a bounded number of origins. */
  endpoints(): readonly EndpointCount[]
  /** For counters: a bounded number of origins that documents name, and `other`. */
  counts(): CountsTable
  /** For people; without detail only recent failures. */
  view(isDetailed: boolean): UpstreamsView
}

const KEEP_ALIVE_MS = 4000
const MAX_AGE_MS = 60_000
/** The bound of all origins together, as far as each can have two. */
const MOST_ADDRESSES = 20_000
const MOST_OF_ORIGIN = { lookup: 64, list: 250 }
const SYSTEM: PoolClock = { now: () => performance.now(), random: Math.random }

/**
 * @throws Error for a CA that is not valid
 * @example
 * const upstream = createUpstream({ guard: createGuard() })
 * const call = upstream.send({ origin: 'http://orders:8080', method: 'GET', … }, sink)
 * call.abort()
 */
export const createUpstream = (options: UpstreamOptions): BalancingUpstream => {
  const { clock = SYSTEM, onHealth = () => undefined } = options
  const registry = new HealthRegistry({ now: clock.now, onEvent: onHealth })
  const ledger = new OriginLedger(clock.now)
  const pools = new Map<string, OriginPool>()
  const idlePools = createIdlePools(clock.now, (pool) => {
    registry.release(pool.health)
    ledger.release(pool.record)
  })
  const most: OpeningTools['most'] = (of) => mostAddresses(of, pools.size + idlePools.size)
  const deadlines = createDeadlines()
  const idleConnections = new IdleConnections<Connection>(options.mostIdle)
  const heardMs = (): number => deadlines.elapsedMs
  const tools = { registry, ledger, clock, most, heardMs, idleConnections }
  const open = createOpener(options, tools)
  const allPools = (): OriginPool[] => [...pools.values(), ...idlePools.pools()]
  let whenEmpty: (() => void) | undefined

  const openPool = (key: string, request: UpstreamRequest): OriginPool => {
    const pool = idlePools.take(key) ?? open(request, onEmpty)
    pools.set(key, pool)
    function onEmpty(): void {
      if (pools.get(key) !== pool) return
      pools.delete(key)
      idlePools.put(key, pool)
      if (pools.size === 0) whenEmpty?.()
    }
    return pool
  }

  /** @param limiter that has granted a slot */
  const dispatch: Dispatch = (request, sink, limiter) => {
    if (whenEmpty !== undefined) return refuse(request, sink, limiter)
    const key = poolKey(request)
    const pool = pools.get(key) ?? openPool(key, request)
    if (request.isNamed === true && pool.record.namedBy === undefined)
      ledger.name(pool.record, request.realm ?? '')
    return new DispatchedCall(request, sink, pool, { deadlines, limiter }).dispatch()
  }

  return {
    send(request, sink) {
      const limiter = request.scope?.limiterOf(request.origin)
      return limiter === undefined || limiter.tryAcquire(request.from)
        ? dispatch(request, sink, limiter)
        : new QueuedCall(request, sink, limiter, dispatch).enqueue()
    },
    stats: () => sumByOrigin(pools.values()),
    counts: () => ledger.counts,
    view(isDetailed) {
      const times = { nowMs: clock.now(), unixMs: Date.now() }
      const sources = { records: ledger.records(), pools: allPools(), ...times }
      return isDetailed ? viewUpstreams(sources) : viewFailingOrigins(sources)
    },
    endpoints: () => countEndpoints(allPools()),
    close() {
      return new Promise((resolve) => {
        whenEmpty = resolve
        for (const pool of [...pools.values()]) pool.close()
        if (pools.size === 0) resolve()
      })
    },
  }
}

/** How many addresses each of this many origins may have. */
const mostAddresses = (of: keyof typeof MOST_OF_ORIGIN, origins: number): number =>
  Math.max(2, Math.min(MOST_OF_ORIGIN[of], Math.floor(MOST_ADDRESSES / origins)))

const refuse: Dispatch = (request, sink, limiter) => {
  queueMicrotask(() => {
    limiter?.release(request.from)
    sink.onError(new UpstreamError('refused', 'The gateway is shutting down.', false))
  })
  return { abort: () => undefined, resume: () => undefined }
}

interface OpeningTools {
  readonly registry: HealthRegistry
  readonly ledger: OriginLedger
  readonly clock: PoolClock
  readonly most: AddressesOptions['most']
  readonly heardMs: () => number
  readonly idleConnections: IdleConnections<Connection>
}

type Opener = (request: UpstreamRequest, onEmpty: () => void) => OriginPool

/** All pools share one trust store. */
const createOpener = (
  options: UpstreamOptions,
  { registry, ledger, clock, most, heardMs, idleConnections }: OpeningTools,
): Opener => {
  const { guard, resolve = lookup, keepAliveMs = KEEP_ALIVE_MS } = options
  const { maxAgeMs = MAX_AGE_MS, clusterDomain = 'cluster.local' } = options
  const { services: directory = new ServiceDirectory() } = options
  const secureContext = trustBeside(options.extraCa ?? [])
  const openClient = createOpenHttp1Client(options.memory ?? createUnboundedMemory())
  return ({ origin, confinedTo, tls }, onEmpty) => {
    const confinement =
      confinedTo === undefined ? undefined : { namespace: confinedTo, clusterDomain }
    const { hostname, protocol, port } = destinationOf(origin)
    const to = { hostname, port: portOf(protocol, port) }
    const pool: OriginPool = new OriginPool({
      origin,
      openClient,
      connector: createConnector({
        guard,
        confinement,
        ...(secureContext && { secureContext }),
        ...(tls && { secureContext: tls.secureContext, serverName: tls.serverName }),
      }),
      addresses: new OriginAddresses({
        to,
        find: createFindAllowed({ guard, resolve, confinement }),
        listed: createListedEndpoints({
          directory,
          to,
          guard,
          confinement,
          clusterDomain,
          random: clock.random,
        }),
        now: clock.now,
        most,
        onChange: () => {
          pool.onAddresses()
        },
      }),
      health: registry.acquire(origin, tls?.id),
      record: ledger.acquire({ origin, confinedTo, tlsId: tls?.id }),
      ejectionCounter: registry.ejectionCounter,
      clock,
      heardMs,
      idleConnections,
      keepAliveMs,
      maxAgeMs,
      onEmpty,
    })
    return pool
  }
}

/**
 * A connection that one document may open must not serve another that may not, nor one that has shown a client
 * certificate a request without it. None of the parts contains a space.
 */
const poolKey = ({ origin, confinedTo, tls }: UpstreamRequest): string => {
  if (tls !== undefined) return `${origin} ${confinedTo ?? ''} ${tls.id}`
  return confinedTo === undefined ? origin : `${origin} ${confinedTo}`
}

const sumByOrigin = (pools: Iterable<OriginPool>): readonly UpstreamStats[] => {
  const sums = new Map<string, UpstreamStats>()
  for (const pool of pools) {
    const origin = pool.record.counts.label
    const { connected, running, queued } = pool.count()
    const sum = sums.get(origin) ?? { origin, connected: 0, running: 0, queued: 0 }
    sums.set(origin, {
      origin,
      connected: sum.connected + connected,
      running: sum.running + running,
      queued: sum.queued + queued,
    })
  }
  return [...sums.values()]
}

/** A confined document may see other addresses of an origin than others do: the longest list counts. */
const countEndpoints = (pools: readonly OriginPool[]): readonly EndpointCount[] => {
  const byOrigin = new Map<string, readonly EndpointState[]>()
  for (const { addresses, health, record } of pools) {
    const { label } = record.counts
    const states = addresses.set.members.map((each) => health.stateOf(each))
    const before = byOrigin.get(label) ?? []
    if (label === OTHER) byOrigin.set(label, [...before, ...states])
    else if (states.length > before.length) byOrigin.set(label, states)
  }
  return [...byOrigin].flatMap(([origin, states]) =>
    STATES.map((state) => ({
      origin,
      state,
      count: states.filter((each) => each === state).length,
    })),
  )
}

const STATES: readonly EndpointState[] = ['healthy', 'ejected', 'ejected_for_realms']
