// Creates the counters and gauges of a program from a table. Bounded: a metric holds at most 1000 series, or as many as
// its row says, whatever labels it is given.

import { seriesOf, type FamilyState, type Merge, type MetricsState } from './metrics-state.ts'

export interface MetricDefinition {
  readonly kind: 'counter' | 'gauge'
  readonly name: string
  readonly help: string
  readonly labels: readonly string[]
  /** Across processes; `sum` if left out. */
  readonly merge?: Merge
  /** 1000 if left out. */
  readonly mostSeries?: number
  /** Set for a counter that is kept elsewhere: see `FamilyState`. */
  readonly isForgetful?: boolean
}

/** Every metric of a program; the key is how its code calls it. */
export type MetricsTable = Readonly<Record<string, MetricDefinition>>

type Named<T extends MetricsTable, Kind extends MetricDefinition['kind']> = {
  [K in keyof T & string]: T[K]['kind'] extends Kind ? K : never
}[keyof T & string]

export type LabelsOf<D extends MetricDefinition> = Readonly<Record<D['labels'][number], string>>

export interface Metrics<T extends MetricsTable> {
  /** Adds to a counter. For what happens seldom: it builds the series' name (1 µs). */
  count<K extends Named<T, 'counter'>>(metric: K, labels: LabelsOf<T[K]>, by?: number): void
  /** One series of a counter, for what happens at every request: each call adds one. */
  counter<K extends Named<T, 'counter'>>(metric: K, labels: LabelsOf<T[K]>): () => void
  /** A gauge is read at scrape. Several readers of one gauge add up. A reader that throws is left out. */
  gauge<K extends Named<T, 'gauge'>>(
    metric: K,
    read: () => Iterable<readonly [labels: LabelsOf<T[K]>, value: number]>,
  ): void
  /** A counter that is kept elsewhere, read at scrape. It may begin at 0 again, as after a restart. */
  total<K extends Named<T, 'counter'>>(
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
  const counted = new Map<string, Map<string, Cell>>()
  const readers = new Map<string, (() => Iterable<readonly [Labels, number]>)[]>()
  const included: (() => readonly FamilyState[] | Promise<readonly FamilyState[]>)[] = []

  const familyOf = (key: string, definition: MetricDefinition): FamilyState => {
    const { name, help, kind, merge = 'sum', isForgetful } = definition
    const read = readers.get(key)
    const cells = read === undefined ? (counted.get(key) ?? EMPTY) : readAll(definition, read)
    return {
      name,
      help,
      type: kind,
      merge,
      ...(isForgetful === true && { isForgetful }),
      series: [...cells.keys()],
      values: Array.from(cells.values(), ({ value }) => value),
    }
  }

  const counterCell = (key: string, labels: Labels): Cell => {
    const definition = table[key]
    if (definition === undefined) return { value: 0 }
    const cells = counted.get(key) ?? new Map<string, Cell>()
    counted.set(key, cells)
    return cellOf(cells, definition, labels)
  }

  const addReader = (
    metric: string,
    read: () => Iterable<readonly [labels: Labels, value: number]>,
  ): void => {
    readers.set(metric, [...(readers.get(metric) ?? []), read])
  }

  return {
    count: (metric, labels, by = 1) => {
      counterCell(metric, labels).value += by
    },
    counter: (metric, labels) => {
      const cell = counterCell(metric, labels)
      return () => {
        cell.value++
      }
    },
    gauge: addReader,
    total: addReader,
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

interface Cell {
  value: number
}

const EMPTY: ReadonlyMap<string, Cell> = new Map()

const MAX_SERIES = 1000

const cellOf = (cells: Map<string, Cell>, definition: MetricDefinition, labels: Labels): Cell => {
  let series = seriesOf(
    definition.name,
    ordered(definition, (label) => labels[label] ?? ''),
  )
  if (!cells.has(series) && cells.size >= (definition.mostSeries ?? MAX_SERIES)) {
    series = seriesOf(
      definition.name,
      ordered(definition, () => 'other'),
    )
  }
  const cell = cells.get(series) ?? { value: 0 }
  cells.set(series, cell)
  return cell
}

/** One order of labels per metric, so that equal labels are one series. */
const ordered = (definition: MetricDefinition, valueOf: (label: string) => string): Labels =>
  Object.fromEntries(definition.labels.map((label) => [label, valueOf(label)]))

const readAll = (
  definition: MetricDefinition,
  readers: readonly (() => Iterable<readonly [Labels, number]>)[],
): ReadonlyMap<string, Cell> => {
  const cells = new Map<string, Cell>()
  for (const read of readers) {
    try {
      for (const [labels, value] of read()) cellOf(cells, definition, labels).value += value
    } catch {
      // A part that is closing must not cost the scrape its other figures.
    }
  }
  return cells
}
