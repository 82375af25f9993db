// Defines the metrics that only an operator on Kubernetes has: its leader term, its requests to the API server, its
// work with the data planes. Labels are of closed sets: no pod and no document is among them.

import { createMetrics, type Metrics, type MetricsTable } from '../telemetry/metrics.ts'
import type { MetricsState } from '../telemetry/metrics-state.ts'
import type { DesiredSet } from './desired-set.ts'
import type { FleetCounters } from './fleet/sync/counters.ts'
import type { RequestFacts } from './kubernetes/client/request.ts'
import type { StatusWriterFacts } from './status/kubernetes-status.ts'

const TABLE = {
  leading: {
    kind: 'gauge',
    name: 'svc_operator_leading',
    help: '1 while this operator leads',
    labels: [],
  },
  apiRequests: {
    kind: 'counter',
    name: 'svc_operator_api_requests_total',
    help: 'Requests to the API server by verb and status (0: no response)',
    labels: ['verb', 'code'],
  },
  statusWrites: {
    kind: 'counter',
    name: 'svc_operator_status_writes_total',
    help: 'Writes of the status of a resource',
    labels: [],
  },
  statusPending: {
    kind: 'gauge',
    name: 'svc_operator_status_pending',
    help: 'Resources whose status is not written yet',
    labels: [],
  },
  holdsDeletes: {
    kind: 'gauge',
    name: 'svc_operator_holds_deletes',
    help: '1 while nothing is deleted from any data plane, as some resources cannot be read',
    labels: [],
  },
  certificateEnds: {
    kind: 'gauge',
    name: 'svc_operator_certificate_expiry_timestamp_seconds',
    help: 'Unix time when the certificate in a Secret expires; of those in many namespaces the first',
    labels: ['secret'],
  },
  failures: {
    kind: 'gauge',
    name: 'svc_operator_troubles',
    help: 'Things that the operator fails to do, by kind: pods (to read), certificates, webhook',
    labels: ['of'],
  },
  podsWithoutGateway: {
    kind: 'gauge',
    name: 'svc_operator_pods_without_gateway',
    help: 'Pods that ask for a gateway beside them and have none; 1000 at most, of the leader',
    labels: [],
  },
  pushes: {
    kind: 'counter',
    name: 'svc_operator_pushes_total',
    help: 'Sync calls to data planes by result',
    labels: ['result'],
  },
  pushedBytes: {
    kind: 'counter',
    name: 'svc_operator_pushed_bytes_total',
    help: 'Bytes of sync calls, as sent',
    labels: [],
  },
  polls: {
    kind: 'counter',
    name: 'svc_operator_polls_total',
    help: 'Reads of the state of a data plane by result',
    labels: ['result'],
  },
  excessiveResponses: {
    kind: 'counter',
    name: 'svc_operator_excessive_answers_total',
    help: 'Responses of data planes that were too large; such a data plane is not called for ten minutes',
    labels: [],
  },
  items: {
    kind: 'counter',
    name: 'svc_operator_items_total',
    help: 'Documents and realms by the result that data planes returned',
    labels: ['result'],
  },
  roundSeconds: {
    kind: 'counter',
    name: 'svc_operator_round_seconds_total',
    help: 'Time of rounds in which something was sent',
    labels: [],
  },
  rounds: {
    kind: 'counter',
    name: 'svc_operator_rounds_total',
    help: 'Rounds in which something was sent',
    labels: [],
  },
} as const satisfies MetricsTable

/** What may fail beside the resources. */
export type FailureKind = 'pods' | 'certificates' | 'webhook'

export interface KubernetesMetricsSources {
  readonly isLeading: () => boolean
  readonly desired: () => DesiredSet | undefined
  readonly status: () => StatusWriterFacts
  /** Name of the Secret → Unix time, ms. */
  readonly certificateEndsMs: () => ReadonlyMap<string, number>
  /** How many. */
  readonly failures: () => Readonly<Record<FailureKind, number>>
  /** Undefined: not known. */
  readonly podsWithoutGateway: () => number | undefined
  /** Undefined while another operator leads. */
  readonly fleet: () => FleetCounters | undefined
}

export interface KubernetesMetrics {
  readonly onRequest: (facts: RequestFacts) => void
  /** Returns the function to call at scrape; call this once. */
  readonly observe: (sources: KubernetesMetricsSources) => () => Promise<MetricsState>
}

/** Requests are counted from the start, before there is anything else to read. */
export const createKubernetesMetrics = (): KubernetesMetrics => {
  const metrics = createMetrics(TABLE)
  return {
    onRequest: ({ verb, code }) => {
      metrics.count('apiRequests', { verb, code: String(code) })
    },
    observe: (sources) => {
      observeOperator(metrics, sources)
      observeFailures(metrics, sources)
      observeFleet(metrics, sources.fleet)
      return () => metrics.exportState()
    },
  }
}

const observeOperator = (
  metrics: Metrics<typeof TABLE>,
  { isLeading, desired, status }: KubernetesMetricsSources,
): void => {
  metrics.gauge('leading', () => [[{}, isLeading() ? 1 : 0]])
  metrics.gauge('holdsDeletes', () => [[{}, desired()?.holdDeletes === undefined ? 0 : 1]])
  metrics.total('statusWrites', () => [[{}, status().writes]])
  metrics.gauge('statusPending', () => [[{}, status().pending]])
}

const observeFailures = (
  metrics: Metrics<typeof TABLE>,
  { certificateEndsMs, failures, podsWithoutGateway }: KubernetesMetricsSources,
): void => {
  metrics.gauge('podsWithoutGateway', () => alone(podsWithoutGateway()))
  metrics.gauge('certificateEnds', () =>
    Array.from(certificateEndsMs(), ([secret, endsMs]) => [{ secret }, endsMs / 1000]),
  )
  metrics.gauge('failures', () => Object.entries(failures()).map(([of, count]) => [{ of }, count]))
}

const observeFleet = (
  metrics: Metrics<typeof TABLE>,
  fleet: () => FleetCounters | undefined,
): void => {
  metrics.total('pushes', () => byResult(fleet()?.pushes))
  metrics.total('pushedBytes', () => alone(fleet()?.pushedBytes))
  metrics.total('polls', () => byResult(fleet()?.polls))
  metrics.total('excessiveResponses', () => alone(fleet()?.excessiveResponses))
  metrics.total('items', () => byResult(fleet()?.items))
  metrics.total('rounds', () => alone(fleet()?.rounds.count))
  metrics.total('roundSeconds', () => alone(fleet()?.rounds.sum))
}

const byResult = (
  counts: Readonly<Record<string, number>> | undefined,
): readonly (readonly [{ readonly result: string }, number])[] =>
  Object.entries(counts ?? {}).map(([result, count]) => [{ result }, count])

const alone = (
  count: number | undefined,
): readonly (readonly [object & Record<never, string>, number])[] =>
  count === undefined ? [] : [[{}, count]]
