// The `Upstream` over undici: requests come in, connections per origin are shared by everyone who
// names that origin and live over reloads. It follows no redirect and retries nothing.

import { createDeadlines } from '../deadlines.ts'
import type { Resolve } from '../name-lookup.ts'
import { trustBeside } from '../trust.ts'
import { createConnector } from './connector.ts'
import type { DestinationGuard } from './guard.ts'
import { createOriginPool, type OriginPool } from './origin-pool.ts'
import {
  UpstreamError,
  type Upstream,
  type UpstreamFailure,
  type UpstreamRequest,
  type UpstreamStats,
} from './upstream.ts'
import { DispatchedCall } from './upstream-call.ts'

export interface UpstreamOptions {
  readonly guard: DestinationGuard
  /** `--upstream-ca`: PEM texts, trusted beside the system's. */
  readonly extraCa?: readonly string[]
  /** How long an idle connection is kept where the upstream names no time. */
  readonly keepAliveMs?: number
  /** Told of each request that failed or was given up. */
  readonly onFailure?: (failure: UpstreamFailure) => void
  /** Names to addresses; `dns.lookup` if left out. */
  readonly resolve?: Resolve
  /** For requests that are confined to a namespace; `cluster.local` if left out. */
  readonly clusterDomain?: string
}

/**
 * @throws Error for a CA that is none
 * @example
 * const upstream = createUpstream({ guard: createGuard() })
 * const call = upstream.send({ origin: 'http://orders:8080', method: 'GET', … }, sink)
 * call.abort()
 */
export const createUpstream = (options: UpstreamOptions): Upstream => {
  const pools = new Map<string, OriginPool>()
  const deadlines = createDeadlines()
  const secureContext = trustBeside(options.extraCa ?? [])
  let whenEmpty: (() => void) | undefined

  const openPool = (key: string, { origin, confinedTo }: UpstreamRequest): OriginPool => {
    const { guard, resolve, onFailure, keepAliveMs = 4000 } = options
    const { clusterDomain = 'cluster.local' } = options
    const pool = createOriginPool({
      origin,
      connector: createConnector({
        guard,
        ...(secureContext && { secureContext }),
        ...(resolve && { resolve }),
        ...(confinedTo !== undefined && { confinement: { namespace: confinedTo, clusterDomain } }),
      }),
      keepAliveMs,
      ...(onFailure && { onFailure }),
      onEmpty: () => {
        if (pools.get(key) === pool) pools.delete(key)
        if (pools.size === 0) whenEmpty?.()
      },
    })
    pools.set(key, pool)
    return pool
  }

  return {
    send(request, sink) {
      if (whenEmpty !== undefined) {
        queueMicrotask(() => {
          sink.onError(new UpstreamError('refused', 'The gateway is shutting down.', false))
        })
        return { abort: () => undefined, resume: () => undefined }
      }
      const key = poolKey(request)
      const pool = pools.get(key) ?? openPool(key, request)
      return new DispatchedCall(request, sink, pool, deadlines).dispatch()
    },
    stats: () => sumByOrigin(pools),
    close() {
      return new Promise((resolve) => {
        whenEmpty = resolve
        for (const pool of [...pools.values()]) pool.close()
        if (pools.size === 0) resolve()
      })
    },
  }
}

/** A connection that one document may open must not serve another that may not. No origin has a blank in it. */
const poolKey = ({ origin, confinedTo }: UpstreamRequest): string =>
  confinedTo === undefined ? origin : `${origin} ${confinedTo}`

const sumByOrigin = (pools: ReadonlyMap<string, OriginPool>): readonly UpstreamStats[] => {
  const sums = new Map<string, UpstreamStats>()
  for (const [key, pool] of pools) {
    const [origin = ''] = key.split(' ')
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
