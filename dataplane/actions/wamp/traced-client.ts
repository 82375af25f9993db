// Wraps a realm's client so that each attempt of a call or publication has a span (OpenTelemetry's conventions for
// RPC and messaging) below the span of the request. It decides nothing.

import type { ValueMap } from '../../../language/expression/value.ts'
import type { TraceSpan } from '../../../telemetry/tracer.ts'
import type { WampClient } from '../../wamp/realm/wamp-client.ts'
import { type CallHandler, type PendingCall, WampError } from '../../wamp/session/joined-session.ts'

export type CallingClient = Pick<WampClient, 'awaitSession' | 'call' | 'publish'>

export interface TracedClientOptions {
  /** Called at each use. */
  readonly client: () => CallingClient
  readonly parent: TraceSpan
  readonly realmUri: string
  /** `options.forward_trace`: the context is sent as `kwargs._trace`, as WAMP has no field for it. */
  readonly isForwarded: boolean
}

export const traceClient = (options: TracedClientOptions): CallingClient => ({
  // Spans cover attempts, which begin when the wait is over.
  awaitSession: (longestMs, onOver) => options.client().awaitSession(longestMs, onOver),
  call: (request, handler) => {
    const lifetime = begin(options, 'call', request.procedure)
    const traced = { ...request, kwargs: withTrace(request.kwargs, options, lifetime) }
    try {
      return pendingOf(options.client().call(traced, observed(handler, lifetime)), lifetime)
    } catch (error) {
      endFailed(lifetime, error)
      throw error
    }
  },
  publish: async (topic, payload, sent) => {
    const lifetime = begin(options, 'publish', topic)
    const traced = { ...payload, kwargs: withTrace(payload.kwargs, options, lifetime) }
    try {
      const published = await options.client().publish(topic, traced, sent)
      lifetime.end(DONE)
      return published
    } catch (error) {
      endFailed(lifetime, error)
      throw error
    }
  },
})

const TRACE_KEY = '_trace'
const DONE = { attributes: {}, isError: false }
/** URIs may contain input of a client. */
const MAX_URI = 255

const begin = (
  { parent, realmUri }: TracedClientOptions,
  kind: 'call' | 'publish',
  uri: string,
): TraceSpan => {
  const subject = uri.slice(0, MAX_URI)
  if (kind === 'call') {
    const attributes = { 'rpc.system': 'wamp', 'rpc.method': subject, 'svc.realm': realmUri }
    return parent.child({ name: subject, kind: 'client', attributes })
  }
  const attributes = {
    'messaging.system': 'wamp',
    'messaging.operation.type': 'send',
    'messaging.operation.name': 'publish',
    'messaging.destination.name': subject,
    'svc.realm': realmUri,
  }
  return parent.child({ name: `publish ${subject}`, kind: 'producer', attributes })
}

const withTrace = (
  kwargs: ValueMap,
  { isForwarded }: TracedClientOptions,
  lifetime: TraceSpan,
): ValueMap => {
  if (!isForwarded) return kwargs
  const [, traceparent = '', , tracestate] = lifetime.headers()
  const context = tracestate === undefined ? { traceparent } : { traceparent, tracestate }
  return { ...kwargs, [TRACE_KEY]: context }
}

const observed = (handler: CallHandler, lifetime: TraceSpan): CallHandler => ({
  onResult: (result) => {
    lifetime.end(DONE)
    handler.onResult(result)
  },
  onFailure: (error) => {
    endFailed(lifetime, error)
    handler.onFailure(error)
  },
  // Its presence decides whether progressive results are requested.
  ...(handler.onProgress && {
    onProgress: (result) => {
      handler.onProgress?.(result)
    },
  }),
})

/** After `cancel` the handler is not called any more. */
const pendingOf = (pending: PendingCall, lifetime: TraceSpan): PendingCall => ({
  cancel: () => {
    pending.cancel()
    lifetime.end({ attributes: { 'error.type': 'cancelled' }, isError: true })
  },
})

const endFailed = (lifetime: TraceSpan, error: unknown): void => {
  const type = error instanceof WampError ? error.uri.slice(0, MAX_URI) : 'internal'
  lifetime.end({ attributes: { 'error.type': type }, isError: true })
}
