// Declares every metric of the data plane: name, labels and buckets. No other file names a metric.

import { seriesOf, type FamilyState } from '../telemetry/metrics-state.ts'
import { createMetrics, type Metrics, type MetricsTable } from '../telemetry/metrics.ts'
import { measureProcess } from '../telemetry/process-metrics.ts'
import { createRequestMetrics, type RequestMetrics } from '../telemetry/request-metrics.ts'

const METRICS = {
  loads: {
    kind: 'counter',
    name: 'svc_gateway_loads_total',
    help: 'Documents and realms that were put or deleted, by result.',
    labels: ['kind', 'result'],
  },
  refusals: {
    kind: 'counter',
    name: 'svc_gateway_refusals_total',
    help: 'Error records that the gateway itself responded with, by code.',
    labels: ['code'],
  },
  resultChecks: {
    kind: 'counter',
    name: 'svc_gateway_result_checks_total',
    help: 'Results of actions that schema.result of a document describes, by what checking them has found.',
    labels: ['outcome'],
  },
  connectionsRefused: {
    kind: 'counter',
    name: 'svc_gateway_connections_refused_total',
    help: 'Client connections that were closed without a response, by reason: full, share (its address has more than its share), made_room (idle, closed for a new address), proxy_header.',
    labels: ['reason'],
  },
  upstreamRequests: {
    kind: 'counter',
    name: 'svc_gateway_upstream_requests_total',
    help: 'Requests that were sent to upstreams, retries included, by origin: the first 200 that documents name, all others as other.',
    labels: ['origin'],
    isForgetful: true,
  },
  upstreamFailures: {
    kind: 'counter',
    name: 'svc_gateway_upstream_failures_total',
    help: 'Requests to upstreams that failed, by origin and failure: refused, no_service, no_endpoints, dns, tls, denied, connect_timeout, timeout, reset, malformed, aborted (by the client), status_502, status_503, status_504.',
    labels: ['origin', 'failure'],
    mostSeries: 3000,
    isForgetful: true,
  },
  credentialFailures: {
    kind: 'counter',
    name: 'svc_gateway_credential_failures_total',
    help: 'Attempts to reach an upstream that were not made, as there was nothing to authenticate with, by realm, name of the credential and reason: credential_missing, credential_origin, credential_token, credential_subject, credential_certificate.',
    labels: ['realm', 'credential', 'reason'],
    mostSeries: 1000,
    isForgetful: true,
  },
  upstreamConnections: {
    kind: 'gauge',
    name: 'svc_gateway_upstream_connections',
    help: 'Per origin, as in upstream_requests_total: connections open (connected) and busy (running), requests that wait (queued).',
    labels: ['origin', 'state'],
  },
  upstreamEndpoints: {
    kind: 'gauge',
    name: 'svc_gateway_upstream_endpoints',
    help: 'Addresses of upstreams in use, per origin, as in upstream_requests_total: healthy, ejected (no requests for a while), ejected_for_realms (for requests of some realms).',
    labels: ['origin', 'state'],
    merge: 'max',
  },
  upstreamEjections: {
    kind: 'counter',
    name: 'svc_gateway_upstream_ejections_total',
    help: 'Addresses of upstreams that were ejected, by fault: refused, no_service, no_endpoints, unreachable, connect_timeout, tls, reset, status (502 to 504), timeout, malformed.',
    labels: ['fault'],
  },
  wampSessions: {
    kind: 'gauge',
    name: 'svc_gateway_wamp_sessions',
    help: 'Sessions with routers, by realm and state: connecting, open, waiting, refused.',
    labels: ['realm', 'state'],
  },
  wampCallbacks: {
    kind: 'gauge',
    name: 'svc_gateway_wamp_callbacks',
    help: 'Registrations and subscriptions that exist for HTTP callbacks, by realm.',
    labels: ['realm', 'kind'],
  },
  callbacksLost: {
    kind: 'counter',
    name: 'svc_gateway_callbacks_lost_total',
    help: 'Events that could not be delivered to an HTTP callback: overloaded (the queue was full) or failed.',
    labels: ['why'],
  },
  eventStreams: {
    kind: 'gauge',
    name: 'svc_gateway_event_streams',
    help: 'Open streams of server-sent events.',
    labels: [],
  },
  eventStreamsCutOff: {
    kind: 'counter',
    name: 'svc_gateway_event_streams_cut_off_total',
    help: 'Streams of server-sent events that were ended because their client was too slow.',
    labels: [],
  },
  sharedBuckets: {
    kind: 'counter',
    name: 'svc_gateway_rate_limit_shared_buckets_total',
    help: 'Requests that were counted in the bucket that all without one of their own share, by cause: no_key (by gave none), no_room (there are too many buckets).',
    labels: ['cause'],
  },
  authentications: {
    kind: 'counter',
    name: 'svc_gateway_authentications_total',
    help: 'Requests whose caller was authenticated, by scheme and outcome: identity, csrf, why a token was refused, or the code of the rejection.',
    labels: ['scheme', 'outcome'],
  },
  oidc: {
    kind: 'counter',
    name: 'svc_gateway_oidc_total',
    help: 'Requests to the OIDC endpoints, by endpoint and outcome, and notable events while they were handled.',
    labels: ['endpoint', 'outcome'],
  },
  sharedState: {
    kind: 'gauge',
    name: 'svc_gateway_shared_state',
    help: '1 while the state that processes and replicas share can be reached, by where it is: memory, redis.',
    labels: ['home'],
    merge: 'min',
  },
  webSockets: {
    kind: 'gauge',
    name: 'svc_gateway_websockets',
    help: 'WebSocket connections that are relayed to routers and upstreams.',
    labels: [],
  },
  memoryBudget: {
    kind: 'gauge',
    name: 'svc_gateway_memory_budget_bytes',
    help: 'Memory that the serving processes may use, from the limits of the heap and of the container.',
    labels: [],
  },
  memoryInUse: {
    kind: 'gauge',
    name: 'svc_gateway_memory_in_use_bytes',
    help: 'Memory in use of the memory budget: held for clients and peers (bodies, decoded values, responses that wait to be sent), and the rest of the heap.',
    labels: ['what'],
  },
  memoryRefusals: {
    kind: 'counter',
    name: 'svc_gateway_memory_refusals_total',
    help: 'Bodies and responses that were rejected (503) because memory was short.',
    labels: [],
  },
  memoryClosed: {
    kind: 'counter',
    name: 'svc_gateway_memory_closed_total',
    help: 'Client connections that were closed because they held most of the memory when it ran out.',
    labels: [],
  },
  requestsInFlight: {
    kind: 'gauge',
    name: 'svc_gateway_requests_in_flight',
    help: 'Requests that are being handled.',
    labels: [],
  },
  documents: {
    kind: 'gauge',
    name: 'svc_gateway_documents',
    help: 'API Specifications loaded.',
    labels: [],
    merge: 'max',
  },
  realms: {
    kind: 'gauge',
    name: 'svc_gateway_realms',
    help: 'Realms loaded.',
    labels: [],
    merge: 'max',
  },
  ready: {
    kind: 'gauge',
    name: 'svc_gateway_ready',
    help: '1 while /ready answers 204.',
    labels: [],
    merge: 'min',
  },
  snapshot: {
    kind: 'gauge',
    name: 'svc_gateway_snapshot',
    help: '1 for the state the snapshot is in: off, empty, restored (served from it), written, failed.',
    labels: ['state'],
    merge: 'max',
  },
  traceSpans: {
    kind: 'counter',
    name: 'svc_gateway_trace_spans_total',
    help: 'Spans of traces that ended, by outcome: exported, failed (not accepted by the collector), dropped (the queue was full).',
    labels: ['outcome'],
  },
  traceSpansWaiting: {
    kind: 'gauge',
    name: 'svc_gateway_trace_spans_waiting',
    help: 'Spans of traces that ended and are not exported yet.',
    labels: [],
  },
  workers: {
    kind: 'gauge',
    name: 'svc_gateway_workers',
    help: 'Serving processes of a cluster.',
    labels: [],
  },
  workerRestarts: {
    kind: 'counter',
    name: 'svc_gateway_worker_restarts_total',
    help: 'Serving processes that ended and were replaced.',
    labels: [],
  },
} as const satisfies MetricsTable

export type GatewayMetrics = Metrics<typeof METRICS>

export interface Measurements {
  readonly metrics: GatewayMetrics
  readonly requests: RequestMetrics
}

/** The metrics of one process: the table above with those of the process itself, and those of requests. */
export const createMeasurements = (): Measurements => {
  const metrics = createMetrics(METRICS)
  metrics.include(measureProcess())
  return { metrics, requests: createGatewayRequests() }
}

/** Counts the requests of one process, or, in the primary of a cluster, of all processes. */
export const createGatewayRequests = (): RequestMetrics =>
  createRequestMetrics({
    requests: {
      name: 'svc_gateway_requests_total',
      help: 'Requests completed, by API, version, path of the document, method and class of the status (2xx); other stands for paths and documents beyond the bound.',
    },
    durations: {
      name: 'svc_gateway_request_seconds',
      help: 'Time from the head of a request to the end of its response, by API.',
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    },
    errors: {
      name: 'svc_gateway_request_errors_total',
      help: 'Requests that failed, by API and status: 500, 502, 503, 504, others of that class as 5xx, and 499, the client did not wait.',
    },
    responses: {
      name: 'svc_gateway_responses_total',
      help: 'Requests completed, by status.',
    },
    documents: {
      name: 'svc_gateway_document_info',
      help: '1 for each API that was called, with namespace and name of its resource; empty if it was loaded by hand.',
    },
  })

/** Open client connections by name of the listener. The system counts them, so they are read for each scrape. */
export const connectionsFamily = (counts: Readonly<Record<string, number>>): FamilyState => {
  const name = 'svc_gateway_connections'
  return {
    name,
    help: 'Open client connections, by listener.',
    type: 'gauge',
    merge: 'sum',
    series: Object.keys(counts).map((listener) => seriesOf(name, { listener })),
    values: Object.values(counts),
  }
}

/** Expiry of each certificate of the public TLS listener, Unix time in ms; with several processes the earliest. */
export const certificatesFamily = (endsMs: ReadonlyMap<string, number>): FamilyState => {
  const name = 'svc_gateway_tls_certificate_expiry_timestamp_seconds'
  return {
    name,
    help: 'Unix time when a served certificate expires, by folder in --tls-dir, or --tls-cert.',
    type: 'gauge',
    merge: 'min',
    series: Array.from(endsMs.keys(), (certificate) => seriesOf(name, { certificate })),
    values: Array.from(endsMs.values(), (ms) => ms / 1000),
  }
}
