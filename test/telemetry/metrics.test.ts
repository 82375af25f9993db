import { describe, expect, it } from '@jest/globals'
import { createMetrics } from '../../telemetry/metrics.ts'
import {
  forgottenSeries,
  type LazyFamily,
  mergeStates,
  renderInPieces,
  renderMetrics,
  seriesOf,
  type MetricsState,
  withoutAbandoned,
} from '../../telemetry/metrics-state.ts'
import { measureProcess } from '../../telemetry/process-metrics.ts'

const TABLE = {
  loads: { kind: 'counter', name: 'loads_total', help: 'Loads.', labels: ['kind', 'result'] },
  documents: { kind: 'gauge', name: 'documents', help: 'Documents.', labels: [], merge: 'max' },
  connections: { kind: 'gauge', name: 'connections', help: 'By origin.', labels: ['origin'] },
} as const

describe('createMetrics', () => {
  it('counts, whatever the order of the labels', async () => {
    const metrics = createMetrics(TABLE)
    metrics.count('loads', { kind: 'spec', result: 'loaded' })
    metrics.count('loads', { result: 'loaded', kind: 'spec' })
    // The same series, kept by who counts in it often.
    metrics.counter('loads', { result: 'loaded', kind: 'spec' })()
    expect(renderMetrics(await metrics.exportState())).toBe(
      '# HELP loads_total Loads.\n# TYPE loads_total counter\nloads_total{kind="spec",result="loaded"} 3\n',
    )
  })

  it('reads gauges at scrape, adds up readers and leaves out one that throws', async () => {
    const metrics = createMetrics(TABLE)
    let open = 1
    metrics.gauge('connections', () => [[{ origin: 'a' }, open]])
    metrics.gauge('connections', () => [[{ origin: 'a' }, 10]])
    metrics.gauge('connections', () => {
      throw new Error('closing')
    })
    metrics.gauge('documents', () => [[{}, 7]])
    open = 2
    const text = renderMetrics(await metrics.exportState())
    expect(text).toContain('connections{origin="a"} 12\n')
    expect(text).toContain('documents 7\n')
  })

  it('bounds its series', async () => {
    const metrics = createMetrics(TABLE)
    metrics.gauge('connections', () =>
      Array.from({ length: 3000 }, (_, i) => [{ origin: `o${i}` }, 1] as const),
    )
    const [family] = (await metrics.exportState()).filter(({ name }) => name === 'connections')
    expect(family?.series).toHaveLength(1001)
    expect(family?.values.at(-1)).toBe(2000)
    expect(family?.series.at(-1)).toBe('connections{origin="other"}')
  })

  it('lets a metric have more series than others, and says which may be forgotten', async () => {
    const metrics = createMetrics({
      failures: {
        kind: 'counter',
        name: 'failures_total',
        help: 'F.',
        labels: ['origin'],
        mostSeries: 2000,
        isForgetful: true,
      },
    } as const)
    metrics.total('failures', () =>
      Array.from({ length: 3000 }, (_, i) => [{ origin: `o${i}` }, 1] as const),
    )
    const [family] = await metrics.exportState()
    expect([family?.isForgetful, family?.series.length]).toEqual([true, 2001])
  })

  it('includes families of others', async () => {
    const metrics = createMetrics({})
    metrics.include(measureProcess())
    const { user, system } = process.cpuUsage()
    const text = renderMetrics(await metrics.exportState())
    // With what the process took before anybody measured it; between two looks of prom-client some microseconds go.
    const [, counted = ''] = /^process_cpu_seconds_total (\S+)$/m.exec(text) ?? []
    expect(Number(counted)).toBeGreaterThan((user + system) / 1e6 - 0.01)
    expect(text).toMatch(/^process_resident_memory_bytes \d+$/m)
    expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds /m)
    expect(text).toMatch(/^nodejs_gc_duration_seconds_bucket\{|^nodejs_version_info\{version=/m)
  })
})

describe('states', () => {
  const state = (merge: 'sum' | 'max' | 'min' | 'first', value: number): MetricsState => [
    { name: 'm', help: 'M.', type: 'gauge', merge, series: ['m{a="1"}'], values: [value] },
  ]

  it.each([
    ['sum', 5],
    ['max', 3],
    ['min', 2],
    ['first', 2],
  ] as const)('%s of 2 and 3 is %d', (merge, value) => {
    expect(mergeStates([state(merge, 2), state(merge, 3)])).toEqual(state(merge, value))
  })

  it('keeps series apart and survives structuredClone', () => {
    const other: MetricsState = [
      { name: 'm', help: 'M.', type: 'gauge', merge: 'sum', series: ['m{a="2"}'], values: [1] },
    ]
    expect(mergeStates(structuredClone([state('sum', 2), other]))).toMatchObject([
      { series: ['m{a="1"}', 'm{a="2"}'], values: [2, 1] },
    ])
  })

  const forgetful = (values: Readonly<Record<string, number>>): MetricsState => [
    {
      name: 'f',
      help: 'F.',
      type: 'counter',
      merge: 'sum',
      isForgetful: true,
      series: Object.keys(values),
      values: Object.values(values),
    },
  ]

  it('tells what a process has forgotten, of families that may', () => {
    expect(forgottenSeries(forgetful({ a: 1, b: 2, c: 3 }), forgetful({ b: 2 }))).toEqual(
      forgetful({ a: 1, c: 3 }),
    )
    expect(forgottenSeries(forgetful({ a: 1 }), [])).toEqual(forgetful({ a: 1 }))
    expect(forgottenSeries(state('sum', 1), [])).toEqual([])
  })

  it('drops of what was forgotten what no process counts any more', () => {
    const kept = [...forgetful({ a: 1, b: 2 }), ...state('sum', 7)]
    expect(withoutAbandoned(kept, [forgetful({ b: 5 }), forgetful({ c: 1 })])).toEqual([
      ...forgetful({ b: 2 }),
      ...state('sum', 7),
    ])
  })

  it('renders infinities and escapes', () => {
    const text = renderMetrics([
      {
        name: 'm',
        help: 'a\nb\\c',
        type: 'gauge',
        merge: 'sum',
        series: ['m', 'n', 'o'],
        values: [Infinity, -Infinity, NaN],
      },
      { name: 'empty', help: '', type: 'gauge', merge: 'sum', series: [], values: [] },
    ])
    expect(text).toBe('# HELP m a\\nb\\\\c\n# TYPE m gauge\nm +Inf\nn -Inf\no NaN\n')
  })

  it.each([
    [{ a: 'x"y\\z\n' }, 'n{a="x\\"y\\\\z\\n"}'],
    [{}, 'n'],
    [{ a: 1, b: 'c' }, 'n{a="1",b="c"}'],
  ])('series of %j', (labels, expected) => {
    expect(seriesOf('n', labels)).toBe(expected)
  })

  it('cuts a long label', () => {
    expect(seriesOf('n', { a: 'x'.repeat(1000) })).toHaveLength('n{a=""}'.length + 256)
  })
})

it('renders many series in pieces, and all that was counted when they were read', () => {
  let named = 0
  const family: LazyFamily = {
    name: 'many',
    help: 'M.',
    type: 'counter',
    *samples() {
      for (; named < 1000; named++) yield [`many{at="${named}"}`, named]
    },
  }
  const pieces = renderInPieces([family])
  const first = pieces.next().value ?? ''
  expect(named).toBeLessThan(300)
  const text = first + [...pieces].join('')
  expect(text.match(/^# HELP/gm)).toHaveLength(1)
  expect(text.match(/^many\{at="\d+"\} \d+$/gm)).toHaveLength(1000)
})
