// Sends a request and returns the response or its stream, over pooled connections to one API server and with the
// current credentials. Requests share a few connections; each watch, and what must never wait behind others, has its
// own. One try only; it does not interpret responses.

import { Agent, buildConnector, ProxyAgent, type Dispatcher } from 'undici'
import type { Cluster, ClusterCredentials, ClusterTls } from '../config/cluster.ts'
import { connectionGivenUp, unconnected } from './api-error.ts'

export interface TransportOptions {
  readonly cluster: Cluster
  readonly userAgent: string
  readonly timeouts: Timeouts
}

export interface Timeouts {
  readonly connectMs: number
  /** Until a response begins, and between any two pieces of it. */
  readonly responseMs: number
  /** The same in the lane of its own: the holder of a Lease must learn soon that the server does not respond. */
  readonly ownResponseMs: number
  /** Between any two pieces of a watch: bookmarks come once a minute, the first one after two. */
  readonly watchSilenceMs: number
}

export interface WireRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With its query. */
  readonly path: string
  readonly accept?: string
  readonly contentType?: string
  readonly body?: string
  /** `shared`: one of a few connections. `own`: never waits for one. `watch`: as `own`, for a long response. */
  readonly pool: 'shared' | 'own' | 'watch'
  readonly signal: AbortSignal
}

export interface Transport {
  /** @throws what undici or the cluster's credentials throw, or the reason of `signal` */
  send(request: WireRequest, credentials: ClusterCredentials): Promise<Dispatcher.ResponseData>
  /**
   * Uses new connections from now on: the old ones may be dead without any sign of it.
   * @returns breaks off what is still under way on the connections from before
   */
  renew(): () => void
  /** Breaks off what is under way. */
  close(): Promise<void>
}

const SHARED_CONNECTIONS = 8
/** A load balancer forgets an idle connection after a minute or more; the API server after one and a half. */
const IDLE_MS = 30_000

interface Pools {
  readonly tls: string
  readonly shared: Dispatcher
  readonly own: Dispatcher
}

export const createTransport = (options: TransportOptions): Transport => {
  const { cluster, userAgent, timeouts } = options
  const { origin, pathname } = new URL(cluster.server)
  const prefix = pathname.replace(/\/+$/, '')
  const open = new Set<Pools>()
  let current: Pools | undefined
  let lastCredentials: ClusterCredentials | undefined

  const poolsFor = (credentials: ClusterCredentials): Pools => {
    if (current !== undefined && credentials === lastCredentials) return current
    lastCredentials = credentials
    const tls = JSON.stringify(credentials.tls)
    if (current?.tls === tls) return current
    if (current !== undefined) retire(current, open)
    current = openPools(options, credentials.tls, tls)
    open.add(current)
    return current
  }

  return {
    send: (request, credentials) => {
      const { shared, own } = poolsFor(credentials)
      const { method, path, body, pool, signal, accept = 'application/json' } = request
      return (pool === 'shared' ? shared : own).request({
        origin,
        path: prefix + path,
        method,
        headers: {
          ...credentials.headers,
          accept,
          'user-agent': userAgent,
          ...(body !== undefined && { 'content-type': request.contentType ?? 'application/json' }),
        },
        body: body ?? null,
        signal,
        headersTimeout: pool === 'own' ? timeouts.ownResponseMs : timeouts.responseMs,
        bodyTimeout: bodyTimeoutOf(pool, timeouts),
      })
    },
    renew: () => {
      const before = current
      current = undefined
      return () => {
        if (before !== undefined) breakOff(before, open)
      }
    },
    close: async () => {
      const all = [...open].flatMap(({ shared, own }) => [shared.destroy(), own.destroy()])
      open.clear()
      await Promise.all(all)
    },
  }
}

const bodyTimeoutOf = (pool: WireRequest['pool'], timeouts: Timeouts): number => {
  if (pool === 'watch') return timeouts.watchSilenceMs
  return pool === 'own' ? timeouts.ownResponseMs : timeouts.responseMs
}

/** Requests under way on the old connections end there: a watch within minutes. */
const retire = (pools: Pools, open: Set<Pools>): void => {
  Promise.all([pools.shared.close(), pools.own.close()]).then(
    () => open.delete(pools),
    () => open.delete(pools),
  )
}

const breakOff = (pools: Pools, open: Set<Pools>): void => {
  const error = connectionGivenUp()
  Promise.all([pools.shared.destroy(error), pools.own.destroy(error)]).then(
    () => open.delete(pools),
    () => open.delete(pools),
  )
}

const openPools = (
  { cluster: { proxyUrl }, timeouts }: TransportOptions,
  credentials: ClusterTls,
  tls: string,
): Pools => {
  const open = (connections: number | null): Dispatcher => {
    const pool = { connections, keepAliveTimeout: IDLE_MS, allowH2: false }
    const connect = { ...credentials, timeout: timeouts.connectMs, allowH2: false }
    return proxyUrl === undefined
      ? new Agent({ ...pool, connect: connector(connect) })
      : new ProxyAgent({ ...pool, uri: proxyUrl, requestTls: connect })
  }
  return { tls, shared: open(SHARED_CONNECTIONS), own: open(null) }
}

/** Marks the error of a connection that ended before it was established. */
const connector = (options: buildConnector.BuildOptions): buildConnector.connector => {
  const open = buildConnector(options)
  return (options, callback) => {
    open(options, (...results) => {
      const [error] = results
      if (error === null) callback(...results)
      else callback(unconnected(error), null)
    })
  }
}
