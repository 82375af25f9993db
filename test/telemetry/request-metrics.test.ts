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
    metrics.prune('a', ({ path }) => path === '/y')
    expect(linesWith(metrics, 'path="/x"')).toHaveLength(2)
    expect(render(metrics)).toContain('responses_total{status="500"} 3\n')
    expect(metrics.rowFor(labelsOf({ path: '/y' }))).toBe(kept)
    metrics.prune('a', () => false)
    metrics.prune('never called', () => false)
    expect(linesWith(metrics, 'api="a"')).toEqual([])
    expect(sumOf(metrics, 'api="b"')).toBe(2)
    metrics.prune('b', () => false)
    expect(linesOf(metrics)).toEqual([])
    expect(render(metrics)).toContain('responses_total{status="200"} 3\n')
    expect(render(metrics)).toContain('responses_total{status="500"} 3\n')
    // A reserved word.
    call(metrics, labelsOf({ api: 'constructor' }))
    expect(sumOf(metrics)).toBe(1)
  })

  it('count a request that ends after its document was removed nowhere', () => {
    const metrics = createRequestMetrics(OPTIONS)
    const row = metrics.rowFor(labelsOf())
    metrics.prune('a', () => false)
    row.observe(200, 0)
    expect(linesOf(metrics)).toEqual([])
  })

  it.each<[string, readonly RequestLabels[], (labels: RequestLabels) => boolean]>([
    ['a document that was removed', [], () => false],
    ['a document that was removed and had no series', [labelsOf({ api: 'b' })], () => false],
    ['a path that was removed', [labelsOf({ path: '/y' })], ({ path }) => path === '/y'],
    [
      'a path that was removed and had no series',
      [labelsOf({ api: 'b' }), labelsOf({ path: '/y' })],
      ({ path }) => path !== '/x',
    ],
  ])('are not made by a late request to %s', (_, called, keeps) => {
    // Room for one operation more than is called: none, where the last is to have no series.
    const maxRows = called.some(({ api }) => api === 'b') ? called.length : 10
    const metrics = createRequestMetrics({ ...OPTIONS, maxRows, maxDocuments: 1 })
    for (const labels of called) call(metrics, labels)
    const row = metrics.rowFor(labelsOf({ path: '/x' }))
    metrics.prune('a', keeps)
    metrics.prune('b', () => false)
    linesOf(metrics)
    row.observe(200, 0)
    expect(linesWith(metrics, 'path="/x"')).toEqual([])
    metrics.prune('a', () => false)
    expect(linesWith(metrics, 'api="a"')).toEqual([])
    // Nothing of it takes the only histogram there is.
    call(metrics, labelsOf({ api: 'c' }))
    expect(linesWith(metrics, 'seconds_count{api="c"}')).toHaveLength(1)
  })

  it('name the resource that a document comes from now', () => {
    const metrics = createRequestMetrics(OPTIONS)
    call(metrics, labelsOf())
    const named = (): readonly string[] => linesWith(metrics, 'document_info')
    expect(named()).toEqual(['document_info{api="a",resource_namespace="",resource_name=""} 1'])
    metrics.assign('a', 'shop/orders')
    metrics.assign('never called', 'shop/others')
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
    const metrics = createRequestMetrics({ ...OPTIONS, maxRows: 1, maxDocuments: 1 })
    for (const api of ['a', 'b', '']) call(metrics, labelsOf({ api }), 404)
    call(metrics, { api: '', version: '', path: '', method: '' }, 404)
    expect(linesWith(metrics, 'requests_total{api=""')).toEqual([
      'requests_total{api="",version="",path="",method="",status="4xx"} 2',
    ])
    expect(linesWith(metrics, 'seconds_count{api=""}')).toEqual(['seconds_count{api=""} 2'])
  })
})

describe('the bound', () => {
  const bounded = (maxRows: number, maxDocuments = 1000): RequestMetrics =>
    createRequestMetrics({ ...OPTIONS, maxRows, maxDocuments })

  it('counts the operations beyond it as the rest of their document', () => {
    const metrics = bounded(3)
    for (let index = 0; index < 10; index++)
      call(metrics, labelsOf({ path: `/${index}` }), ...(index === 9 ? [500] : [200]))
    expect(rowsOf(metrics)).toBe(3)
    expect(sumOf(metrics)).toBe(10)
    expect(linesWith(metrics, 'path="other"')).toEqual([
      'requests_total{api="a",version="other",path="other",method="other",status="2xx"} 7',
      'requests_total{api="a",version="other",path="other",method="other",status="5xx"} 1',
    ])
    // Durations and failures are those of the document, whichever series its operations have.
    expect(linesWith(metrics, 'seconds_count')).toEqual(['seconds_count{api="a"} 10'])
    expect(linesWith(metrics, 'errors_total')).toEqual(['errors_total{api="a",status="500"} 1'])
  })

  it('counts documents beyond it together', () => {
    const metrics = bounded(2)
    for (const api of ['a', 'b', 'c', 'd']) call(metrics, labelsOf({ api }), 503)
    expect(rowsOf(metrics)).toBe(3)
    expect(linesWith(metrics, 'requests_total{api="_other"')).toEqual([
      'requests_total{api="_other",version="other",path="other",method="other",status="5xx"} 2',
    ])
    expect(linesWith(metrics, 'errors_total{api="_other"')).toEqual([
      'errors_total{api="_other",status="503"} 2',
    ])
    expect(linesWith(metrics, 'document_info')).toHaveLength(2)
  })

  it('counts what another process had no place for in the same series', () => {
    const [worker, total] = [bounded(1), bounded(1)]
    for (const api of ['a', 'b', 'other']) call(worker, labelsOf({ api }), 503)
    total.add(worker.takeCounts())
    total.prune('other', () => false)
    expect(linesWith(total, 'requests_total')).toEqual(linesWith(worker, 'requests_total'))
    expect(linesWith(total, 'document_info')).toEqual(linesWith(worker, 'document_info'))
  })

  it('is no use to one namespace against another: a thousand operations give way to ten', () => {
    const metrics = bounded(100)
    for (let index = 0; index < 1000; index++) call(metrics, operationOf('big/big', `/${index}`))
    expect(rowsOf(metrics, 'api="big"')).toBe(100)
    for (let index = 0; index < 10; index++)
      call(metrics, operationOf('small/small', `/${index}`), 500)
    expect(rowsOf(metrics, 'api="small"')).toBe(10)
    expect(rowsOf(metrics, 'api="big"')).toBe(90)
    expect(linesWith(metrics, 'api="small",version="other"')).toEqual([])
    // What has given way counts on as the rest of its document.
    const before = sumOf(metrics, 'api="big",version="other"')
    for (let index = 0; index < 1000; index++) call(metrics, operationOf('big/big', `/${index}`))
    expect(rowsOf(metrics)).toBe(100)
    expect(sumOf(metrics, 'api="big",version="other"') - before).toBe(911)
  })

  it('is shared equally by namespaces that all want more, and by documents of one namespace', () => {
    const metrics = bounded(120)
    const wanting = ['a/one', 'b/one-of-two', 'b/two-of-two', 'c/small']
    for (let index = 0; index < 200; index++)
      for (const resource of wanting)
        if (resource !== 'c/small' || index < 20) call(metrics, operationOf(resource, `/${index}`))
    const shares = Object.fromEntries(
      wanting.map((resource) => [
        resource,
        rowsOf(metrics, `api="${resource.split('/')[1] ?? ''}"`),
      ]),
    )
    expect(shares).toEqual({ 'a/one': 50, 'b/one-of-two': 25, 'b/two-of-two': 25, 'c/small': 20 })
  })

  it('takes the operations that are called least', () => {
    const metrics = bounded(10)
    for (let index = 0; index < 10; index++)
      for (let calls = 0; calls <= index; calls++) call(metrics, operationOf('a/a', `/${index}`))
    for (let index = 0; index < 3; index++) call(metrics, operationOf('b/b', `/${index}`))
    for (const [path, isThere] of [
      ['/9', true],
      ['/5', true],
      ['/3', false],
      ['/0', false],
    ] as const)
      expect([path, linesWith(metrics, `api="a",version="v1",path="${path}"`).length > 0]).toEqual([
        path,
        isThere,
      ])
  })

  it('never makes two namespaces exchange series without end', () => {
    const metrics = bounded(10)
    const all = ['a/a', 'b/b', 'c/c'].flatMap((resource) =>
      Array.from({ length: 20 }, (_, index) => operationOf(resource, `/${index}`)),
    )
    const rows = all.map((labels) => metrics.rowFor(labels))
    const callAll = (): void => {
      for (const labels of all) call(metrics, labels)
      for (const row of rows) row.observe(200, 0.01)
    }
    const shown = (): readonly string[] => linesOf(metrics).map((line) => line.replace(/ \S+$/, ''))
    for (let round = 0; round < 3; round++) {
      callAll()
      shown()
    }
    const before = shown()
    for (let round = 0; round < 5; round++) {
      callAll()
      expect(shown()).toEqual(before)
    }
  })

  it('lets what counts as the rest come back once there is room, with its first request after a scrape', () => {
    const metrics = bounded(4)
    const rows = ['/0', '/1', '/2'].map((path) => metrics.rowFor(operationOf('big/big', path)))
    const callAll = (): void => {
      for (const row of rows) row.observe(200, 0.01)
    }
    const shown = (): readonly string[] =>
      linesWith(metrics, 'requests_total{api="big"').map((line) =>
        line.replace(/.*path="(.*)",method.* (?=\d+$)/, '$1 '),
      )
    callAll()
    expect(shown()).toEqual(['/0 1', '/1 1', '/2 1'])
    for (const path of ['/0', '/1']) call(metrics, operationOf('small/small', path))
    callAll()
    expect(shown()).toEqual(['/0 2', 'other 2'])
    metrics.prune('small', () => false)
    expect(shown()).toEqual(['/0 2', 'other 2'])
    // They count on from what they showed last: a counter that began at 0 would hide as much.
    callAll()
    expect(shown().toSorted()).toEqual(['/0 3', '/1 2', '/2 2', 'other 2'])
  })

  it('gives no room away before the next scrape, so that a document may be replaced', () => {
    const metrics = bounded(2)
    call(metrics, operationOf('a/first'))
    call(metrics, operationOf('b/second'))
    const late = metrics.rowFor(operationOf('c/late'))
    late.observe(200, 0.01)
    metrics.prune('first', () => false)
    late.observe(200, 0.01)
    call(metrics, operationOf('a/first'))
    expect(rowsOf(metrics, 'api="first"')).toBe(1)
    late.observe(200, 0.01)
    expect(rowsOf(metrics, 'api="late"')).toBe(0)
    metrics.prune('first', () => false)
    linesOf(metrics)
    late.observe(200, 0.01)
    expect(rowsOf(metrics, 'api="late"')).toBe(1)
    expect(linesWith(metrics, 'document_info')).toContain(
      'document_info{api="late",resource_namespace="c",resource_name="late"} 1',
    )
  })

  it('gives a histogram back likewise, which counts on', () => {
    const metrics = bounded(1000, 2)
    const rows = ['a/one', 'a/two'].map((resource) => metrics.rowFor(operationOf(resource)))
    for (const row of rows) row.observe(503, 0.01)
    linesOf(metrics)
    call(metrics, operationOf('b/three'))
    const shown = (): readonly string[] =>
      [...linesWith(metrics, 'seconds_count'), ...linesWith(metrics, 'errors_total')].toSorted()
    for (const row of rows) row.observe(503, 0.01)
    expect(shown()).toEqual([
      'errors_total{api="_other",status="503"} 1',
      'errors_total{api="one",status="503"} 2',
      'seconds_count{api="_other"} 1',
      'seconds_count{api="one"} 2',
      'seconds_count{api="three"} 1',
    ])
    metrics.prune('three', () => false)
    linesOf(metrics)
    for (const row of rows) row.observe(503, 0.01)
    expect(shown()).toEqual([
      'errors_total{api="_other",status="503"} 1',
      'errors_total{api="one",status="503"} 3',
      'errors_total{api="two",status="503"} 2',
      'seconds_count{api="_other"} 1',
      'seconds_count{api="one"} 3',
      'seconds_count{api="two"} 2',
    ])
  })

  it('of what is remembered of former series holds too', () => {
    const metrics = bounded(2, 2)
    for (let index = 0; index < 5; index++) {
      call(metrics, labelsOf({ api: `d${index}` }))
      linesOf(metrics)
      metrics.prune(`d${index}`, () => false)
    }
    for (let index = 0; index < 5; index += 4) call(metrics, labelsOf({ api: `d${index}` }))
    expect([sumOf(metrics, 'api="d0"'), sumOf(metrics, 'api="d4"')]).toEqual([1, 2])
  })

  it('shares histograms likewise, while requests go on being counted by document', () => {
    const metrics = bounded(1000, 4)
    for (let index = 0; index < 8; index++) call(metrics, operationOf(`big/big-${index}`), 200, 500)
    call(metrics, operationOf('small/small'), 500)
    expect(linesWith(metrics, 'seconds_count').toSorted()).toEqual([
      'seconds_count{api="_other"} 10',
      'seconds_count{api="big-0"} 2',
      'seconds_count{api="big-1"} 2',
      'seconds_count{api="big-2"} 2',
      'seconds_count{api="small"} 1',
    ])
    expect(rowsOf(metrics)).toBe(9)
    expect(linesWith(metrics, 'document_info')).toHaveLength(9)
    // There is room again: at its next load a document has its own.
    metrics.prune('big-0', () => false)
    call(metrics, operationOf('big/big-7'))
    expect(linesWith(metrics, 'seconds_count{api="big-7"}')).toEqual([
      'seconds_count{api="big-7"} 1',
    ])
  })

  it('counts a document with the namespace that it moves to', () => {
    const metrics = bounded(20)
    for (let index = 0; index < 10; index++) call(metrics, operationOf('a/moved', `/${index}`))
    for (let index = 0; index < 10; index++) call(metrics, operationOf('b/stays', `/${index}`))
    metrics.assign('moved', 'b/moved')
    for (let index = 0; index < 10; index++) call(metrics, operationOf('a/new', `/${index}`))
    for (const resource of ['b/moved', 'b/stays'])
      for (let index = 0; index < 10; index++) call(metrics, operationOf(resource, `/${index}`))
    expect(rowsOf(metrics, 'api="new"')).toBe(10)
    expect(rowsOf(metrics, 'api="moved"')).toBe(5)
    expect(rowsOf(metrics, 'api="stays"')).toBe(5)
  })

  it('holds, and every request is seen once, whatever gives way to what and comes back', () => {
    const random = seededRandom(7)
    const pick = (most: number): number => Math.floor(random() * most)
    const metrics = bounded(40, 6)
    const seen = createScraper(metrics)
    /** As operations hold theirs from one load of their document to the next. */
    const rows = new Map<string, RequestRow>()
    const api = (): string => `d${pick(10)}`
    let [calls, errors] = [0, 0]
    for (let step = 0; step < 6000; step++) {
      const labels = operationOf(`n${pick(4)}/${api()}`, `/${pick(5)}`)
      if (pick(60) === 0) metrics.assign(labels.api, labels.resource)
      const isError = pick(2) === 0
      const row = rows.get(`${labels.api}${labels.path}`) ?? metrics.rowFor(labels)
      rows.set(`${labels.api}${labels.path}`, row)
      row.observe(isError ? 502 : 200, 0.01)
      calls += 1
      errors += isError ? 1 : 0
      if (pick(8) > 0) continue
      expect(seen()).toEqual({ requests_total: calls, seconds_count: calls, errors_total: errors })
      expect(rowsOf(metrics)).toBeLessThanOrEqual(40 + 1)
      expect(linesWith(metrics, 'seconds_count').length).toBeLessThanOrEqual(6 + 1)
      if (pick(4) > 0) continue
      // Right after a scrape, so that it takes nothing away that was not read.
      const removed = api()
      metrics.prune(removed, () => false)
      for (const key of rows.keys()) if (key.startsWith(`${removed}/`)) rows.delete(key)
    }
  })
})

/** Adds up the increases as Prometheus does, over the whole time: a series that is away for a while is the same one. */
const createScraper = (
  metrics: RequestMetrics,
): (() => Readonly<Record<(typeof COUNTERS)[number], number>>) => {
  const sums = { requests_total: 0, seconds_count: 0, errors_total: 0 }
  const last = new Map<string, number>()
  return () => {
    for (const [series, value] of valuesOf(metrics)) {
      const increase = value - (last.get(series) ?? 0)
      expect([series, increase >= 0]).toEqual([series, true])
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
    const total = createRequestMetrics({ ...OPTIONS, maxRows: 40, maxDocuments: 3 })
    const workers = [1, 2, 3].map(() =>
      createRequestMetrics({ ...OPTIONS, maxRows: 40, maxDocuments: 3 }),
    )
    return {
      total,
      workers,
      scrape: () => {
        for (const worker of workers) total.add(structuredClone(worker.takeCounts()))
      },
    }
  }

  it('are one: each request counts once, however often they are asked', () => {
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
    expect(rowsOf(total)).toBe(40)
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

  it.each([
    ['one process', 0],
    ['three', 3],
  ])(
    'count all requests to a document that is removed and loaded again between two scrapes, in %s',
    (_, count) => {
      const { total, workers, scrape } = feed()
      const counting = count === 0 ? [total] : workers
      const callAll = (...statuses: readonly number[]): void => {
        for (const each of counting) call(each, operationOf('shop/orders'), ...statuses)
      }
      const seen = createScraper(total)
      callAll(200, 200, 503, 503, 503)
      scrape()
      seen()
      callAll(200, 503)
      for (const each of new Set([...workers, total])) each.prune('orders', () => false)
      callAll(200, 200, 200, 503, 503, 503, 503)
      scrape()
      const calls = 14 * counting.length
      const errors = 8 * counting.length
      expect(seen()).toEqual({ requests_total: calls, seconds_count: calls, errors_total: errors })
    },
  )

  it('lose nothing where a series of one of them ends right after it was sent', () => {
    const total = createRequestMetrics(OPTIONS)
    const worker = createRequestMetrics({ ...OPTIONS, maxRows: 2, maxDocuments: 1 })
    const seen = createScraper(total)
    for (const path of ['/0', '/1']) call(worker, operationOf('a/a', path), 500)
    const late = structuredClone(worker.takeCounts())
    call(worker, operationOf('b/b'), 500)
    for (const path of ['/0', '/1']) call(worker, operationOf('a/a', path), 500)
    const next = structuredClone(worker.takeCounts())
    for (const counts of [late, next]) total.add(counts)
    expect(seen()).toEqual({ requests_total: 5, seconds_count: 5, errors_total: 5 })
  })
})
