import { describe, expect, it } from '@jest/globals'
import { renderMetrics } from '../../telemetry/metrics-state.ts'
import { NO_COUNTS, type RequestLabels } from '../../telemetry/request-counts.ts'
import type { RequestRow } from '../../telemetry/request-row.ts'
import {
  createRequestMetrics,
  type RequestMetrics,
  type RequestMetricsOptions,
} from '../../telemetry/request-metrics.ts'
import { seededRandom } from '../support/seeded-random.ts'

const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

const OPTIONS: RequestMetricsOptions = {
  requests: { name: 'requests_total', help: 'R.' },
  durations: { name: 'seconds', help: 'S.', buckets: BUCKETS },
  errors: { name: 'errors_total', help: 'E.' },
  responses: { name: 'responses_total', help: 'A.' },
  documents: { name: 'document_info', help: 'D.' },
}

const labelsOf = (more: Partial<RequestLabels> = {}): RequestLabels => ({
  api: 'a',
  version: 'v1',
  path: '/x',
  method: 'GET',
  ...more,
})

/** The document of a namespace: `shop/orders` has the id `orders`. */
const operationOf = (resource: string, path = '/x'): RequestLabels =>
  labelsOf({ api: resource.split('/')[1] ?? '', resource, path })

const render = (metrics: Pick<RequestMetrics, 'families'>): string =>
  renderMetrics(metrics.families())

/** Lines of the exposition, without those of exact statuses, which all documents share. */
const linesOf = (metrics: Pick<RequestMetrics, 'families'>): readonly string[] =>
  render(metrics)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#') && !line.startsWith('responses_total'))

const linesWith = (metrics: Pick<RequestMetrics, 'families'>, part: string): readonly string[] =>
  linesOf(metrics).filter((line) => line.includes(part))

/** Sum of all `requests_total`, by class or by document. */
const sumOf = (metrics: Pick<RequestMetrics, 'families'>, part = ''): number =>
  linesWith(metrics, part)
    .filter((line) => line.startsWith('requests_total'))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)

/** Operations with series of their own, and those that stand for the rest of a document. */
const rowsOf = (metrics: RequestMetrics, part = ''): number =>
  new Set(
    linesWith(metrics, part)
      .filter((line) => line.startsWith('requests_total'))
      .map((line) => line.replace(/,status=.*/, '')),
  ).size

const call = (
  metrics: RequestMetrics,
  labels: RequestLabels,
  ...statuses: readonly number[]
): void => {
  const row = metrics.rowFor(labels)
  for (const status of statuses.length === 0 ? [200] : statuses) row.observe(status, 0.01)
}

/** Every status there can be, and more that a client may bring about. */
const ALL_STATUSES = Array.from({ length: 400 }, (_, index) => index + 200)

describe('the series of requests', () => {
  it('count by class of status, and put durations in buckets, bounds included', () => {
    const metrics = createRequestMetrics({
      ...OPTIONS,
      durations: { ...OPTIONS.durations, buckets: [0.1, 1] },
    })
    const row = metrics.rowFor(labelsOf({ resource: 'shop/orders' }))
    expect(metrics.rowFor(labelsOf())).toBe(row)
    row.observe(200, 0.1)
    row.observe(204, 0.5)
    row.observe(404, 7)
    row.observe(504, 0.1)
    expect(render(metrics)).toBe(
      [
        '# HELP requests_total R.',
        '# TYPE requests_total counter',
        'requests_total{api="a",version="v1",path="/x",method="GET",status="2xx"} 2',
        'requests_total{api="a",version="v1",path="/x",method="GET",status="4xx"} 1',
        'requests_total{api="a",version="v1",path="/x",method="GET",status="5xx"} 1',
        '# HELP seconds S.',
        '# TYPE seconds histogram',
        'seconds_bucket{api="a",le="0.1"} 2',
        'seconds_bucket{api="a",le="1"} 3',
        'seconds_bucket{api="a",le="+Inf"} 4',
        'seconds_sum{api="a"} 7.699999999999999',
        'seconds_count{api="a"} 4',
        '# HELP errors_total E.',
        '# TYPE errors_total counter',
        'errors_total{api="a",status="504"} 1',
        '# HELP responses_total A.',
        '# TYPE responses_total counter',
        'responses_total{status="200"} 1',
        'responses_total{status="204"} 1',
        'responses_total{status="404"} 1',
        'responses_total{status="504"} 1',
        '# HELP document_info D.',
        '# TYPE document_info gauge',
        'document_info{api="a",resource_namespace="shop",resource_name="orders"} 1',
        '',
      ].join('\n'),
    )
  })

  it.each<[string, (metrics: RequestMetrics) => void, number]>([
    ['a document that no client has called', (metrics) => metrics.rowFor(labelsOf()), 0],
    [
      'one operation, one status',
      (metrics) => {
        call(metrics, labelsOf())
      },
      19 + 1,
    ],
    [
      'one operation, every status',
      (metrics) => {
        call(metrics, labelsOf(), ...ALL_STATUSES)
      },
      25 + 4,
    ],
    [
      'five operations of three versions, every status',
      (metrics) => {
        for (let index = 0; index < 5; index++)
          call(metrics, labelsOf({ version: `v${index % 3}`, path: `/${index}` }), ...ALL_STATUSES)
      },
      25 + 5 * 4,
    ],
    [
      'a WebSocket that opens, and others that are rejected',
      (metrics) => {
        call(metrics, labelsOf({ path: '/ws' }), 101, 302, 401, 503)
      },
      18 + 1 + 1 + 4,
    ],
    [
      'one operation that is called and one that is not',
      (metrics) => {
        call(metrics, labelsOf())
        metrics.rowFor(labelsOf({ path: '/y' }))
      },
      19 + 1,
    ],
  ])('%s: as many as they may be', (_, act, expected) => {
    const metrics = createRequestMetrics(OPTIONS)
    act(metrics)
    expect(linesOf(metrics)).toHaveLength(expected)
  })

  it('tell the failures of a document apart', () => {
    const metrics = createRequestMetrics(OPTIONS)
    call(metrics, labelsOf(), 200, 404, 499, 500, 501, 502, 503, 504, 504, 599)
    expect(linesWith(metrics, 'errors_total').join('\n')).toBe(
      ['499', '500', '502', '503', '504', '5xx']
        .map((status, index) => `errors_total{api="a",status="${status}"} ${index < 4 ? 1 : 2}`)
        .join('\n'),
    )
  })

  it('go with their document, and with a path that it has lost; others count on', () => {
    const metrics = createRequestMetrics(OPTIONS)
    for (const [api, path] of [
      ['a', '/x'],
      ['a', '/y'],
      ['b', '/x'],
    ] as const)
      call(metrics, labelsOf({ api, path }), 200, 500)
    const kept = metrics.rowFor(labelsOf({ path: '/y' }))
    metrics.replace('a', undefined, ({ path }) => path === '/y')
    expect(linesWith(metrics, 'path="/x"')).toHaveLength(2)
    expect(render(metrics)).toContain('responses_total{status="500"} 3\n')
    expect(metrics.rowFor(labelsOf({ path: '/y' }))).toBe(kept)
    // Durations are those of the document, which has had the path.
    expect(linesWith(metrics, 'seconds_count{api="a"}')).toEqual(['seconds_count{api="a"} 4'])
    metrics.remove('a')
    metrics.remove('never called')
    metrics.replace('never called', undefined, () => false)
    expect(linesWith(metrics, 'api="a"')).toEqual([])
    expect(sumOf(metrics, 'api="b"')).toBe(2)
    metrics.remove('b')
    expect(linesOf(metrics)).toEqual([])
    expect(render(metrics)).toContain('responses_total{status="200"} 3\n')
    expect(render(metrics)).toContain('responses_total{status="500"} 3\n')
    // A reserved word.
    call(metrics, labelsOf({ api: 'constructor' }))
    expect(sumOf(metrics)).toBe(1)
  })

  it('count a request that ends after its document was removed by its exact status alone', () => {
    const metrics = createRequestMetrics({ ...OPTIONS, maxDocuments: 1 })
    const row = metrics.rowFor(labelsOf())
    metrics.remove('a')
    row.observe(200, 0)
    expect(linesOf(metrics)).toEqual([])
    expect(render(metrics)).toContain('responses_total{status="200"} 1\n')
    // Nothing of it takes the only place there is.
    call(metrics, labelsOf({ api: 'c' }))
    expect(linesWith(metrics, 'seconds_count{api="c"}')).toHaveLength(1)
  })

  it('count a request that ends after its path was removed with the document alone', () => {
    const metrics = createRequestMetrics(OPTIONS)
    const row = metrics.rowFor(labelsOf())
    metrics.replace('a', undefined, () => false)
    row.observe(200, 0)
    expect(linesWith(metrics, 'requests_total')).toEqual([])
    expect(linesWith(metrics, 'seconds_count')).toEqual(['seconds_count{api="a"} 1'])
  })

  it('name the resource that a document comes from now', () => {
    const metrics = createRequestMetrics(OPTIONS)
    call(metrics, labelsOf())
    const named = (): readonly string[] => linesWith(metrics, 'document_info')
    expect(named()).toEqual(['document_info{api="a",resource_namespace="",resource_name=""} 1'])
    metrics.replace('a', 'shop/orders', () => true)
    expect(named()).toEqual([
      'document_info{api="a",resource_namespace="shop",resource_name="orders"} 1',
    ])
    expect(sumOf(metrics)).toBe(1)
  })

  it('are as many as the operations, also where long paths begin alike', () => {
    const metrics = createRequestMetrics(OPTIONS)
    const beginning = `/${'x'.repeat(300)}`
    call(metrics, labelsOf({ path: `${beginning}/a` }))
    call(metrics, labelsOf({ path: `${beginning}/b` }), 200, 200)
    const names = linesOf(metrics).map((line) => line.slice(0, line.lastIndexOf(' ')))
    expect(new Set(names).size).toBe(names.length)
    expect(sumOf(metrics)).toBe(3)
  })

  it('count what no document serves, whatever the bound', () => {
    const metrics = createRequestMetrics({ ...OPTIONS, maxRows: 0, maxDocuments: 0 })
    for (const api of ['a', 'b', '']) call(metrics, labelsOf({ api }), 404)
    call(metrics, { api: '', version: '', path: '', method: '' }, 404)
    expect(linesWith(metrics, 'requests_total{api=""')).toEqual([
      'requests_total{api="",version="",path="",method="",status="4xx"} 2',
    ])
    expect(linesWith(metrics, 'seconds_count{api=""}')).toEqual(['seconds_count{api=""} 2'])
  })
})

describe('the bounds', () => {
  const bounded = (
    bounds: Pick<RequestMetricsOptions, 'maxRowsOfDocument' | 'maxRows' | 'maxDocuments'>,
  ): RequestMetrics => createRequestMetrics({ ...OPTIONS, ...bounds })

  it.each([
    ['of one document', { maxRowsOfDocument: 3 }],
    ['of all documents', { maxRows: 3 }],
  ])('%s: the operations beyond it count as the rest of their document', (_, bounds) => {
    const metrics = bounded(bounds)
    for (let index = 0; index < 10; index++)
      call(metrics, labelsOf({ path: `/${index}` }), ...(index === 9 ? [500] : [200]))
    expect(rowsOf(metrics)).toBe(3 + 1)
    expect(sumOf(metrics)).toBe(10)
    expect(linesWith(metrics, 'path="other"')).toEqual([
      'requests_total{api="a",version="other",path="other",method="other",status="2xx"} 6',
      'requests_total{api="a",version="other",path="other",method="other",status="5xx"} 1',
    ])
    // Durations and failures are those of the document, whichever series its operations have.
    expect(linesWith(metrics, 'seconds_count')).toEqual(['seconds_count{api="a"} 10'])
    expect(linesWith(metrics, 'errors_total')).toEqual(['errors_total{api="a",status="500"} 1'])
  })

  it('of one document is 200 operations where nothing else is said', () => {
    const metrics = bounded({})
    for (let index = 0; index < 210; index++) call(metrics, labelsOf({ path: `/${index}` }))
    expect(rowsOf(metrics)).toBe(200 + 1)
  })

  it('of one document leaves the others room', () => {
    const metrics = bounded({ maxRowsOfDocument: 10, maxRows: 15 })
    for (let index = 0; index < 100; index++) {
      call(metrics, labelsOf({ api: 'big', path: `/${index}` }))
      if (index < 5) call(metrics, labelsOf({ api: 'small', path: `/${index}` }))
    }
    expect(rowsOf(metrics, 'api="big"')).toBe(10 + 1)
    expect(rowsOf(metrics, 'api="small"')).toBe(5)
  })

  it('of documents: those beyond it count together', () => {
    const metrics = bounded({ maxDocuments: 2 })
    for (const api of ['a', 'b', 'c', 'd']) call(metrics, labelsOf({ api }), 503)
    expect(rowsOf(metrics)).toBe(3)
    expect(linesWith(metrics, 'requests_total{api="_other"')).toEqual([
      'requests_total{api="_other",version="other",path="other",method="other",status="5xx"} 2',
    ])
    expect(linesWith(metrics, 'errors_total{api="_other"')).toEqual([
      'errors_total{api="_other",status="503"} 2',
    ])
    expect(linesWith(metrics, 'seconds_count').toSorted()).toEqual([
      'seconds_count{api="_other"} 2',
      'seconds_count{api="a"} 1',
      'seconds_count{api="b"} 1',
    ])
    expect(linesWith(metrics, 'document_info')).toHaveLength(2)
  })

  it('count what another process had no place for in the same series', () => {
    const [worker, total] = [bounded({ maxDocuments: 1 }), bounded({ maxDocuments: 1 })]
    for (const api of ['a', 'b', 'other']) call(worker, labelsOf({ api }), 503)
    total.add(worker.takeCounts())
    total.remove('other')
    expect(linesOf(total)).toEqual(linesOf(worker))
  })

  it('have room again where a document or a path was removed, not where it was replaced', () => {
    const metrics = bounded({ maxRowsOfDocument: 2, maxRows: 2, maxDocuments: 2 })
    call(metrics, labelsOf({ api: 'a', path: '/0' }))
    call(metrics, labelsOf({ api: 'a', path: '/1' }))
    call(metrics, labelsOf({ api: 'b' }))
    metrics.replace('a', undefined, () => true)
    call(metrics, labelsOf({ api: 'b' }))
    call(metrics, labelsOf({ api: 'c' }))
    expect(rowsOf(metrics, 'path="/')).toBe(2)
    expect(sumOf(metrics, 'api="b",version="other"')).toBe(2)
    expect(sumOf(metrics, 'api="_other"')).toBe(1)
    metrics.replace('a', undefined, ({ path }) => path === '/0')
    call(metrics, labelsOf({ api: 'b' }))
    expect(sumOf(metrics, 'api="b",version="v1"')).toBe(1)
    metrics.remove('a')
    for (const api of ['c', 'd']) call(metrics, labelsOf({ api }))
    expect(sumOf(metrics, 'api="c",version="v1"')).toBe(1)
    expect(sumOf(metrics, 'api="_other"')).toBe(2)
  })

  it('hold, and every request is seen once, whatever is called, replaced and removed', () => {
    const random = seededRandom(7)
    const pick = (most: number): number => Math.floor(random() * most)
    const metrics = bounded({ maxRowsOfDocument: 4, maxRows: 20, maxDocuments: 6 })
    const seen = createScraper(metrics)
    /** As operations hold theirs from one load of their document to the next. */
    const rows = new Map<string, RequestRow>()
    const api = (): string => `d${pick(10)}`
    let [calls, errors] = [0, 0]
    for (let step = 0; step < 2000; step++) {
      const labels = operationOf(`n${pick(4)}/${api()}`, `/${pick(6)}`)
      if (pick(60) === 0) metrics.replace(labels.api, labels.resource, () => true)
      const isError = pick(2) === 0
      const row = rows.get(`${labels.api}${labels.path}`) ?? metrics.rowFor(labels)
      rows.set(`${labels.api}${labels.path}`, row)
      row.observe(isError ? 502 : 200, 0.01)
      calls += 1
      errors += isError ? 1 : 0
      if (pick(8) > 0) continue
      expect(seen()).toEqual({ requests_total: calls, seconds_count: calls, errors_total: errors })
      expect(rowsOf(metrics)).toBeLessThanOrEqual(20 + 6 + 1)
      expect(linesWith(metrics, 'seconds_count').length).toBeLessThanOrEqual(6 + 1)
      if (pick(4) > 0) continue
      // Between two scrapes, so that it takes nothing away that was not read.
      const removed = api()
      metrics.remove(removed)
      seen()
      for (const key of rows.keys()) if (key.startsWith(`${removed}/`)) rows.delete(key)
    }
  })
})

/** Adds up the increases as Prometheus does, over the whole time: a series that was away begins at 0. */
const createScraper = (
  metrics: RequestMetrics,
): (() => Readonly<Record<(typeof COUNTERS)[number], number>>) => {
  const sums = { requests_total: 0, seconds_count: 0, errors_total: 0 }
  const last = new Map<string, number>()
  return () => {
    const values = valuesOf(metrics)
    for (const series of last.keys()) if (!values.has(series)) last.delete(series)
    for (const [series, value] of values) {
      const increase = value - (last.get(series) ?? 0)
      if (increase < 0) throw new Error(`${series} has fallen by ${-increase}`)
      const name = COUNTERS.find((each) => series.startsWith(each))
      if (name !== undefined) sums[name] += increase
      last.set(series, value)
    }
    return sums
  }
}

const COUNTERS = ['requests_total', 'seconds_count', 'errors_total'] as const

const valuesOf = (metrics: RequestMetrics): ReadonlyMap<string, number> =>
  new Map(
    linesOf(metrics).map((line) => {
      const [series = '', value = ''] = line.split(/ (?=\S+$)/)
      return [series, Number(value)]
    }),
  )

it('shows what was counted when it was read, though it is rendered later', () => {
  const metrics = createRequestMetrics(OPTIONS)
  call(metrics, labelsOf(), 200)
  const families = metrics.families()
  call(metrics, labelsOf(), 200, 503)
  call(metrics, labelsOf({ api: 'b' }), 200)
  const text = renderMetrics(families)
  expect(text).toContain(
    'requests_total{api="a",version="v1",path="/x",method="GET",status="2xx"} 1',
  )
  expect(text).toContain('seconds_count{api="a"} 1')
  expect(text).toContain('responses_total{status="200"} 1')
  expect(text).not.toMatch(/api="b"|503/)
})

describe('several processes', () => {
  const feed = (): {
    readonly total: RequestMetrics
    readonly workers: readonly RequestMetrics[]
    readonly scrape: () => void
  } => {
    const bounds = { maxRows: 40, maxDocuments: 3 }
    const total = createRequestMetrics({ ...OPTIONS, ...bounds })
    const workers = [1, 2, 3].map(() => createRequestMetrics({ ...OPTIONS, ...bounds }))
    return {
      total,
      workers,
      scrape: () => {
        for (const worker of workers) total.add(structuredClone(worker.takeCounts()))
      },
    }
  }

  it('are one: each request counts once, however often they are called', () => {
    const { total, workers, scrape } = feed()
    for (const worker of workers) call(worker, operationOf('shop/orders'), 200, 404, 503)
    scrape()
    scrape()
    for (const worker of workers) call(worker, operationOf('shop/orders'), 200)
    scrape()
    expect(linesOf(total).filter((line) => !line.startsWith('seconds'))).toEqual([
      'requests_total{api="orders",version="v1",path="/x",method="GET",status="2xx"} 6',
      'requests_total{api="orders",version="v1",path="/x",method="GET",status="4xx"} 3',
      'requests_total{api="orders",version="v1",path="/x",method="GET",status="5xx"} 3',
      'errors_total{api="orders",status="503"} 3',
      'document_info{api="orders",resource_namespace="shop",resource_name="orders"} 1',
    ])
    expect(linesWith(total, 'seconds_count')).toEqual(['seconds_count{api="orders"} 12'])
    expect(render(total)).toContain('responses_total{status="200"} 6\n')
  })

  it('keep to one bound together, where each has seen other operations', () => {
    const { total, workers, scrape } = feed()
    workers.forEach((worker, at) => {
      for (let index = 0; index < 60; index++)
        call(worker, operationOf(`n${at}/d${at}-${index % 4}`, `/${index}`), 500)
    })
    scrape()
    expect(rowsOf(total, 'path="/')).toBe(40)
    expect(rowsOf(total)).toBeLessThanOrEqual(40 + 3 + 1)
    expect(linesWith(total, 'seconds_count').length).toBeLessThanOrEqual(3 + 1)
    expect(sumOf(total, 'status="5xx"')).toBe(180)
    expect(
      linesWith(total, 'errors_total').reduce(
        (sum, line) => sum + Number(line.split(' ').at(-1)),
        0,
      ),
    ).toBe(180)
  })

  it('send nothing twice', () => {
    const worker = createRequestMetrics(OPTIONS)
    call(worker, labelsOf(), 200, 200, 500)
    expect(worker.takeCounts()).toMatchObject({
      rows: [{ api: 'a', path: '/x', classes: [0, 2, 0, 0, 1] }],
      totals: [{ api: 'a', errors: [0, 1, 0, 0, 0, 0] }],
      statuses: [
        [200, 2],
        [500, 1],
      ],
    })
    expect(worker.takeCounts()).toEqual(NO_COUNTS)
    call(worker, labelsOf(), 200)
    expect(worker.takeCounts()).toMatchObject({
      rows: [{ classes: [0, 1, 0, 0, 0] }],
      totals: [{ errors: [0, 0, 0, 0, 0, 0] }],
      statuses: [[200, 1]],
    })
  })
})
