// A table of counters and gauges in, a book to count in and to read from out. Bounded: a metric holds at
// most 1000 series, whatever labels it is given.

import { seriesOf, type FamilyState, type Merge, type MetricsState } from './metrics-state.ts'

export interface MetricDefinition {
  readonly kind: 'counter' | 'gauge'
  readonly name: string
  readonly help: string
  readonly labels: readonly string[]
  /** Across processes; `sum` if left out. */
  readonly merge?: Merge
}

/** Every metric of a program; the key is how its code calls it. */
export type MetricsTable = Readonly<Record<string, MetricDefinition>>

type Named<T extends MetricsTable, Kind extends MetricDefinition['kind']> = {
  [K in keyof T & string]: T[K]['kind'] extends Kind ? K : never
}[keyof T & string]

export type LabelsOf<D extends MetricDefinition> = Readonly<Record<D['labels'][number], string>>

export interface Metrics<T extends MetricsTable> {
  /** Adds to a counter. For what happens seldom: it builds the series' name (0.3 µs). */
  count<K extends Named<T, 'counter'>>(metric: K, labels: LabelsOf<T[K]>, by?: number): void
  /** A gauge is read at scrape. Several readers of one gauge add up. A reader that throws is left out. */
  gauge<K extends Named<T, 'gauge'>>(
    metric: K,
    read: () => Iterable<readonly [labels: LabelsOf<T[K]>, value: number]>,
  ): void
  /** More families, read at scrape: request rows, the figures of the process. */
  include(read: () => readonly FamilyState[] | Promise<readonly FamilyState[]>): void
  exportState(): Promise<MetricsState>
}

/**
 * @example
 * const metrics = createMetrics({ loads: { kind: 'counter', name: 'loads_total', help: 'Loads', labels: ['result'] } })
 * metrics.count('loads', { result: 'loaded' })
 */
export const createMetrics = <const T extends MetricsTable>(table: T): Metrics<T> => {
  const counted = new Map<string, Map<string, number>>()
  const readers = new Map<string, (() => Iterable<readonly [Labels, number]>)[]>()
  const included: (() => readonly FamilyState[] | Promise<readonly FamilyState[]>)[] = []

  const familyOf = (key: string, definition: MetricDefinition): FamilyState => {
    const { name, help, kind, merge = 'sum' } = definition
    const values =
      kind === 'counter'
        ? (counted.get(key) ?? EMPTY)
        : readGauge(definition, readers.get(key) ?? [])
    return {
      name,
      help,
      type: kind,
      merge,
      series: [...values.keys()],
      values: [...values.values()],
    }
  }

  return {
    count: (metric, labels, by = 1) => {
      const definition = table[metric]
      if (definition === undefined) return
      const values = counted.get(metric) ?? new Map<string, number>()
      counted.set(metric, values)
      add(values, definition, labels, by)
    },
    gauge: (metric, read) => {
      readers.set(metric, [...(readers.get(metric) ?? []), read])
    },
    include: (read) => {
      included.push(read)
    },
    exportState: async () => {
      const own = Object.entries(table).map(([key, definition]) => familyOf(key, definition))
      const more = await Promise.all(included.map(async (read) => read()))
      return [...own, ...more.flat()]
    },
  }
}

type Labels = Readonly<Record<string, string>>

const EMPTY: ReadonlyMap<string, number> = new Map()

const MAX_SERIES = 1000

const add = (
  values: Map<string, number>,
  definition: MetricDefinition,
  labels: Labels,
  value: number,
): void => {
  let series = seriesOf(
    definition.name,
    ordered(definition, (label) => labels[label] ?? ''),
  )
  if (!values.has(series) && values.size >= MAX_SERIES) {
    series = seriesOf(
      definition.name,
      ordered(definition, () => 'other'),
    )
  }
  values.set(series, (values.get(series) ?? 0) + value)
}

/** One order of labels per metric, so that equal labels are one series. */
const ordered = (definition: MetricDefinition, valueOf: (label: string) => string): Labels =>
  Object.fromEntries(definition.labels.map((label) => [label, valueOf(label)]))

const readGauge = (
  definition: MetricDefinition,
  readers: readonly (() => Iterable<readonly [Labels, number]>)[],
): ReadonlyMap<string, number> => {
  const values = new Map<string, number>()
  for (const read of readers) {
    try {
      for (const [labels, value] of read()) add(values, definition, labels, value)
    } catch {
      // A part that is closing must not cost the scrape its other figures.
    }
  }
  return values
}
