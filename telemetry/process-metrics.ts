// Measures the figures of this process (CPU, memory, event-loop lag, garbage collection) under the names every
// dashboard knows. The only door to prom-client.

import type { Registry } from 'prom-client'
import { loadOnce } from '../base/single-flight.ts'
import { seriesOf, type FamilyState, type Merge } from './metrics-state.ts'

/**
 * Starts to measure, once for the process; call it when nothing waits, as prom-client is loaded for it: 80 modules, 30 ms.
 * The measuring itself never keeps a process alive.
 */
export const startToMeasure: () => Promise<Registry> = loadOnce(async () => {
  const { collectDefaultMetrics, Counter, Registry } = await import('prom-client')
  const registry = new Registry()
  const { user, system } = process.cpuUsage()
  collectDefaultMetrics({ register: registry })
  // It counts CPU time from here on, not what the start of the process has taken.
  for (const [name, microseconds] of [
    ['process_cpu_user_seconds_total', user],
    ['process_cpu_system_seconds_total', system],
    ['process_cpu_seconds_total', user + system],
  ] as const) {
    const metric = registry.getSingleMetric(name)
    if (metric instanceof Counter) metric.inc(microseconds / 1e6)
  }
  return registry
})

/** A function that reads, and starts to measure at its first call. */
export const measureProcess = (): (() => Promise<readonly FamilyState[]>) => {
  return async () => {
    const registry = await startToMeasure()
    const metrics = await registry.getMetricsAsJSON()
    return metrics.map((metric) => {
      const values: readonly Value[] = metric.values
      return {
        name: metric.name,
        help: metric.help,
        // A string at run time; the package's types say a numeric enum.
        type: String(metric.type) as FamilyState['type'],
        merge: mergeOf(metric.name, metric.aggregator),
        series: values.map(({ labels, metricName }) =>
          seriesOf(metricName ?? metric.name, pick(labels)),
        ),
        values: values.map(({ value }) => value),
      }
    })
  }
}

interface Value {
  readonly value: number
  readonly labels: Readonly<Record<string, string | number | undefined>>
  /** Set by histograms: `…_bucket`, `…_sum`, `…_count`. */
  readonly metricName?: string
}

/** The lag of the worst process is what a client feels; an average hides it. */
const mergeOf = (name: string, aggregator: string): Merge => {
  if (name.startsWith('nodejs_eventloop_lag')) return 'max'
  if (name === 'process_start_time_seconds') return 'min'
  return aggregator === 'sum' || aggregator === 'max' || aggregator === 'min' ? aggregator : 'first'
}

const pick = (labels: Value['labels']): Record<string, string | number> =>
  Object.fromEntries(
    Object.entries(labels).filter(
      (entry): entry is [string, string | number] => entry[1] !== undefined,
    ),
  )
