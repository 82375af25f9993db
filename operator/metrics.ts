// Defines the metrics of the operator: gauges of the fleet and the resources, read from the status at scrape.

import { createMetrics, type Metrics, type MetricsTable } from '../telemetry/metrics.ts'
import {
  METRICS_CONTENT_TYPE,
  type MetricsState,
  renderMetrics,
} from '../telemetry/metrics-state.ts'
import { measureProcess } from '../telemetry/process-metrics.ts'
import type { OperatorStatus } from './controller/controller.ts'

const TABLE = {
  resources: {
    kind: 'gauge',
    name: 'svc_operator_resources',
    help: 'Resources by kind and status of their Ready condition',
    labels: ['kind', 'ready'],
  },
  quotaExceeded: {
    kind: 'gauge',
    name: 'svc_operator_quota_exceeded',
    help: 'Resources by kind that exceed the quota of their namespace',
    labels: ['kind'],
  },
  dataPlanes: {
    kind: 'gauge',
    name: 'svc_operator_data_planes',
    help: 'Data planes by phase',
    labels: ['phase'],
  },
  documents: {
    kind: 'gauge',
    name: 'svc_operator_data_plane_documents',
    help: 'Documents of ours that a data plane has loaded',
    labels: ['data_plane'],
  },
  rejected: {
    kind: 'gauge',
    name: 'svc_operator_data_plane_rejected',
    help: 'Documents and realms that a data plane rejects',
    labels: ['data_plane'],
  },
  notes: {
    kind: 'gauge',
    name: 'svc_operator_source_notes',
    help: 'Notes about the files that resources come from',
    labels: ['severity'],
  },
} as const satisfies MetricsTable

/** `status` and `more` are called at every scrape. */
export const createOperatorMetrics = (
  status: () => OperatorStatus,
  more: readonly (() => Promise<MetricsState>)[] = [],
): (() => Promise<{ readonly contentType: string; readonly text: string }>) => {
  const metrics: Metrics<typeof TABLE> = createMetrics(TABLE)
  metrics.include(measureProcess())
  for (const read of more) metrics.include(read)
  metrics.gauge('resources', () =>
    tally(
      [...status().resources.values()].map(({ result, conditions }) => ({
        kind: result.resource.kind,
        ready: conditions.find(({ type }) => type === 'Ready')?.status ?? 'Unknown',
      })),
    ),
  )
  metrics.gauge('quotaExceeded', () =>
    tally(
      [...status().resources.values()]
        .filter(({ result }) => result.accepted.reason === 'QuotaExceeded')
        .map(({ result }) => ({ kind: result.resource.kind })),
    ),
  )
  metrics.gauge('dataPlanes', () => tally(status().dataPlanes.map(({ phase }) => ({ phase }))))
  metrics.gauge('documents', () =>
    status().dataPlanes.map(({ dataPlane, documents }) => [
      { data_plane: dataPlane.name },
      documents.size,
    ]),
  )
  metrics.gauge('rejected', () =>
    status().dataPlanes.map(({ dataPlane, rejected }) => [
      { data_plane: dataPlane.name },
      rejected.documents.size + rejected.realms.size,
    ]),
  )
  metrics.gauge('notes', () => tally(status().notes.map(({ severity }) => ({ severity }))))
  return async () => ({
    contentType: METRICS_CONTENT_TYPE,
    text: renderMetrics(await metrics.exportState()),
  })
}

/** The number of items for each combination of labels. */
const tally = <Labels extends Readonly<Record<string, string>>>(
  rows: readonly Labels[],
): readonly (readonly [Labels, number])[] => {
  const counts = new Map<string, readonly [Labels, number]>()
  for (const labels of rows) {
    const key = JSON.stringify(labels)
    counts.set(key, [labels, (counts.get(key)?.[1] ?? 0) + 1])
  }
  return [...counts.values()]
}
