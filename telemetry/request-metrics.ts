// Counts requests by operation, and their durations by document, as counters and histograms that are read at scrape.
// Bounded, whatever documents are called and however they respond.

import { labelText, type LazyFamily, type Sample } from './metrics-state.ts'
import {
  ERROR_STATUSES,
  OTHER,
  OTHER_API,
  type RequestCounts,
  type RequestLabels,
  type RowCounts,
  STATUS_CLASSES,
  type TotalsCounts,
} from './request-counts.ts'
import { type CountedDocument, namespaceOf, RequestPlaces } from './request-places.ts'
import {
  type CountedRow,
  createStatusCounts,
  type RequestRow,
  RequestTotals,
} from './request-row.ts'

export interface RequestMetrics {
  /** Where requests with these labels count: empty ones are those of requests that no document serves. */
  rowFor(labels: RequestLabels): RequestRow
  /**
   * The document was loaded again, from this resource (`namespace/name`) or from none: it counts on, without the paths
   * that it has lost, which `keeps` rejects.
   */
  replace(
    api: string,
    resource: string | undefined,
    keeps: (labels: RequestLabels) => boolean,
  ): void
  /** The document was removed, and its series with it. */
  remove(api: string): void
  /** As they are now, for a scrape. */
  families(): readonly LazyFamily[]
  /** What was counted since the last call, to be added to what another process shows at a scrape. */
  takeCounts(): RequestCounts
  /** Adds what another process has counted. */
  add(counts: RequestCounts): void
}

interface Named {
  readonly name: string
  readonly help: string
}

export interface RequestMetricsOptions {
  /** A counter by `api`, `version`, `path`, `method` and the class of the `status`. */
  readonly requests: Named
  /** A histogram by `api`. */
  readonly durations: Named & {
    /** Ascending upper bounds, seconds. */
    readonly buckets: readonly number[]
  }
  /** A counter of failed requests by `api` and `status`. */
  readonly errors: Named
  /** A counter of all requests by exact `status`. */
  readonly responses: Named
  /** 1 for each document that was called, with its resource. */
  readonly documents: Named
  /** Operations of one document with series of their own. */
  readonly maxRowsOfDocument?: number
  /** Operations of all documents with series of their own. */
  readonly maxRows?: number
  /** Documents with series of their own. */
  readonly maxDocuments?: number
}

/** @example createRequestMetrics(options).rowFor({ api: 'orders', version: 'v1', path: '/v1/:id', method: 'GET' }) */
export const createRequestMetrics = (options: RequestMetricsOptions): RequestMetrics => {
  const { durations, maxRowsOfDocument = 200, maxRows = 10_000, maxDocuments = 1000 } = options
  const statuses = createStatusCounts()
  const sentStatuses = createStatusCounts()
  const createTotals = (): RequestTotals => new RequestTotals(durations.buckets, statuses)
  const places = new RequestPlaces({
    maxRowsOfDocument,
    maxRows,
    maxDocuments,
    createTotals,
  })
  return {
    rowFor: (labels) => places.rowFor(labels),
    replace: (api, resource, keeps) => {
      places.replace(api, resource, keeps)
    },
    remove: (api) => {
      places.remove(api)
    },
    families: () => familiesOf(options, places, statuses),
    takeCounts: () => takeCounts(places, statuses, sentStatuses),
    add: (counts) => {
      for (const { classes, ...labels } of counts.rows) places.rowFor(labels).add(classes)
      for (const added of counts.totals) totalsFor(added.api, places).add(added)
      for (const [status, count] of counts.statuses)
        statuses[status] = (statuses[status] ?? 0) + count
    },
  }
}

interface OwnedRow extends Pick<RequestLabels, 'api' | 'resource'> {
  readonly row: CountedRow
}

function* rowsIn({ documents, others, unmatched }: RequestPlaces): Iterable<OwnedRow> {
  for (const document of documents.values()) {
    const { api, resource } = document
    for (const row of document.allRows()) yield { api, resource, row }
  }
  yield { api: OTHER_API, row: others }
  yield { api: '', row: unmatched }
}

interface OwnedTotals {
  readonly api: string
  readonly totals: RequestTotals
}

function* totalsIn({ documents, others, unmatched }: RequestPlaces): Iterable<OwnedTotals> {
  yield* documents.values()
  yield { api: OTHER_API, totals: others.totals }
  yield { api: '', totals: unmatched.totals }
}

const totalsFor = (api: string, { documents, others, unmatched }: RequestPlaces): RequestTotals => {
  if (api === '') return unmatched.totals
  return documents.get(api)?.totals ?? others.totals
}

const takeCounts = (
  places: RequestPlaces,
  statuses: Float64Array,
  sentStatuses: Float64Array,
): RequestCounts => {
  const counts: RequestCounts = {
    rows: Array.from(rowsIn(places), ({ row, ...labels }) => takeRowCounts(row, labels)).filter(
      ({ classes }) => classes.some((count) => count > 0),
    ),
    totals: Array.from(totalsIn(places), ({ api, totals }) => ({
      api,
      ...totals.takeUnsent(),
    })).filter(({ buckets }) => buckets.some((count) => count > 0)),
    statuses: countedStatuses(statuses.map((count, status) => count - (sentStatuses[status] ?? 0))),
  }
  sentStatuses.set(statuses)
  return counts
}

const takeRowCounts = (row: CountedRow, labels: Omit<OwnedRow, 'row'>): RowCounts => ({
  ...labels,
  ...row.place,
  classes: row.takeUnsent(),
})

const countedStatuses = (statuses: Float64Array): RequestCounts['statuses'] =>
  Array.from(statuses.entries()).filter(([, count]) => count > 0)

/** Counts are read at once, and series named later. */
const familiesOf = (
  { requests, durations, errors, responses, documents }: RequestMetricsOptions,
  places: RequestPlaces,
  statuses: Float64Array,
): readonly LazyFamily[] => {
  const rows = Array.from(rowsIn(places), ({ row, ...labels }) => toRowCounts(row, labels))
  const totals = Array.from(totalsIn(places), (each) => ({ api: each.api, ...each.totals.sums() }))
  const counted = countedStatuses(statuses)
  const called = Array.from(places.documents.values()).filter(isCalled)
  return [
    {
      ...named(requests),
      type: 'counter',
      samples: () => rowSamples(requests.name, rows),
    },
    { ...named(durations), type: 'histogram', samples: () => durationSamples(durations, totals) },
    { ...named(errors), type: 'counter', samples: () => errorSamples(errors.name, totals) },
    {
      ...named(responses),
      type: 'counter',
      samples: () =>
        counted.map(([status, count]): Sample => [`${responses.name}{status="${status}"}`, count]),
    },
    {
      ...named(documents),
      type: 'gauge',
      samples: () => documentSamples(documents.name, called),
    },
  ]
}

const named = ({ name, help }: Named): Named => ({ name, help })

const toRowCounts = (row: CountedRow, labels: Omit<OwnedRow, 'row'>): RowCounts => ({
  ...labels,
  ...row.place,
  classes: row.classes(),
})

function* rowSamples(name: string, rows: readonly RowCounts[]): Iterable<Sample> {
  for (const { api, version, path, method, classes } of rows) {
    const labels = labelText({ api, version, path, method })
    for (const [index, count] of classes.entries())
      if (count > 0) yield [`${name}{${labels},status="${STATUS_CLASSES[index] ?? OTHER}"}`, count]
  }
}

function* durationSamples(
  { name, buckets }: RequestMetricsOptions['durations'],
  documents: readonly TotalsCounts[],
): Iterable<Sample> {
  for (const { api, buckets: counts, seconds } of documents) {
    const total = counts.reduce((sum, count) => sum + count, 0)
    if (total === 0) continue
    const labels = labelText({ api })
    let count = 0
    for (const [bucket, added] of counts.entries()) {
      count += added
      yield [`${name}_bucket{${labels},le="${buckets[bucket] ?? '+Inf'}"}`, count]
    }
    yield [`${name}_sum{${labels}}`, seconds]
    yield [`${name}_count{${labels}}`, total]
  }
}

function* errorSamples(name: string, documents: readonly TotalsCounts[]): Iterable<Sample> {
  for (const { api, errors } of documents)
    for (const [index, count] of errors.entries())
      if (count > 0)
        yield [`${name}{${labelText({ api, status: ERROR_STATUSES[index] ?? OTHER })}}`, count]
}

const isCalled = ({ totals }: CountedDocument): boolean =>
  totals.sums().buckets.some((count) => count > 0)

/** Namespace and name stand here alone, so that they cost one series, and are joined to the others by `api`. */
function* documentSamples(name: string, documents: readonly CountedDocument[]): Iterable<Sample> {
  for (const { api, resource = '' } of documents) {
    const namespace = namespaceOf(resource)
    const resourceName = resource.slice(namespace.length + 1)
    const labels = { api, resource_namespace: namespace, resource_name: resourceName }
    yield [`${name}{${labelText(labels)}}`, 1]
  }
}
