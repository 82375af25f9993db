// Creates the API of a cluster as the operator uses it. Permits, credentials, connections and retries are done by
// `request.ts`; nothing here keeps an object.

import { isList, isMap, type ValueMap } from '../../../language/expression/value.ts'
import { guarded } from '../../../base/guarded.ts'
import type { Log } from '../../../telemetry/log.ts'
import type { Clock } from '../../../base/clock.ts'
import {
  ApiError,
  type KubernetesApi,
  type ObjectList,
  type ResourceType,
  type WatchEvent,
} from './api.ts'
import {
  applyCall,
  createCall,
  deleteCall,
  getCall,
  listCall,
  patchCall,
  replaceCall,
  watchCall,
  type ApiCall,
} from './calls.ts'
import type { Cluster } from '../config/cluster.ts'
import { errorFromNetwork, unreadable } from './api-error.ts'
import { createRateLimiter } from './rate-limiter.ts'
import { Reachability } from './reachability.ts'
import { createTransport, type Timeouts } from './transport.ts'
import { createRequester, type Call, type RequestFacts, type Requester } from './request.ts'
import { readWatchEvents } from './watch-stream.ts'

export interface KubernetesApiOptions {
  /** What `loadCluster` returned. */
  readonly cluster: Cluster
  readonly clock: Clock
  readonly log: Log
  /** @example svc-operator/1.2.0 */
  readonly userAgent: string
  /** For metrics: called for every try, also for those that are repeated. */
  readonly onRequest?: (facts: RequestFacts) => void
  readonly timeouts?: Partial<Timeouts>
  /** Requests a second, and in a burst; 200 and 300. */
  readonly rate?: { readonly perSecond: number; readonly burst: number }
}

/**
 * Silence: a watch without events gets its first bookmark after two minutes, every further one after one (measured on
 * Kubernetes 1.36).
 */
const TIMEOUTS: Timeouts = {
  connectMs: 5_000,
  responseMs: 15_000,
  ownResponseMs: 5_000,
  watchSilenceMs: 150_000,
}
/** How long requests that are under way when the API server is back may still get their response. */
const LATE_RESPONSE_MS = 500
/** Four statuses of five; the API server's own fairness protects it from more, this only bounds a fault of ours. */
const RATE = { perSecond: 200, burst: 300 }

/**
 * Connects at the first call.
 * @example
 * const cluster = await loadCluster({ env: process.env, clock })
 * const api = createKubernetesApi({ cluster, clock, log, userAgent: 'svc-operator/1.2.0' })
 */
export const createKubernetesApi = (options: KubernetesApiOptions): KubernetesApi => {
  const { cluster, clock, log, userAgent } = options
  const timeouts = { ...TIMEOUTS, ...options.timeouts }
  const transport = createTransport({ cluster, userAgent, timeouts })
  const limiter = createRateLimiter({ ...(options.rate ?? RATE), clock })
  const onRequest = guarded(options.onRequest ?? (() => undefined), (error) => {
    log.error('a metrics hook failed', { error })
  })
  const reachability = new Reachability(clock)
  reachability.onReturn((wasSilent) => {
    if (wasSilent) clock.after(LATE_RESPONSE_MS, transport.renew())
  })
  const requester = createRequester({
    cluster,
    transport,
    limiter,
    clock,
    onRequest,
    reachability,
  })
  const closing = new AbortController()
  const signalOf = (signal?: AbortSignal): AbortSignal =>
    signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal])

  const ask = async (call: ApiCall): Promise<ValueMap> => {
    const body = await requester.json({ ...call, signal: closing.signal })
    if (!isMap(body)) throw unreadable(call.type, 'it is not an object')
    return body
  }

  return {
    get: async (type, name) => ask(getCall(type, name)),
    list: async (type, params, signal) => {
      const call = { ...listCall(type, params), signal: signalOf(signal) }
      return readList(type, await requester.json(call))
    },
    watch: (type, params, signal) => {
      const call = { ...watchCall(type, params), signal: signalOf(signal) }
      return watch(requester, call, params.onOpen)
    },
    create: async (type, namespace, object) => ask(createCall(type, namespace, object)),
    replace: async (type, name, object) => ask(replaceCall(type, name, object)),
    apply: async (type, name, object, how) => ask(applyCall(type, { ...how, name, object })),
    patch: async (type, name, patch, how) => ask(patchCall(type, { ...how, name, patch })),
    delete: async (type, name, uid) => {
      await ask(deleteCall(type, name, uid))
    },
    onReturn: (listener) => reachability.onReturn(listener),
    close: async () => {
      closing.abort(new ApiError('the client is closed', { status: 0, reason: 'Closed' }))
      await transport.close()
    },
  }
}

const readList = (type: ResourceType, body: unknown): ObjectList => {
  const metadata = isMap(body) ? (body['metadata'] ?? null) : null
  // An API server written in Go sends `null` for an empty list.
  const items = isMap(body) ? (body['items'] ?? []) : null
  if (!isMap(metadata) || !isList(items)) throw unreadable(type, 'it is not a list')
  const { resourceVersion, continue: next } = metadata
  if (typeof resourceVersion !== 'string') throw unreadable(type, 'the list has no resourceVersion')
  const apiVersion = type.group === '' ? type.version : `${type.group}/${type.version}`
  return {
    resourceVersion,
    ...(typeof next === 'string' && next !== '' && { continue: next }),
    items: items.filter(isMap).map((item) => ({ apiVersion, kind: type.kind, ...item })),
  }
}

async function* watch(
  requester: Requester,
  call: Call,
  onOpen: (() => void) | undefined,
): AsyncGenerator<WatchEvent, void, undefined> {
  const { body } = await requester.open(call)
  try {
    onOpen?.()
    yield* readWatchEvents(call.type, body)
  } catch (error) {
    call.signal.throwIfAborted()
    throw errorFromNetwork(call.type, error)
  } finally {
    // A caller that stops reading leaves the connection in the middle of a response.
    body.on('error', () => undefined).destroy()
  }
}
