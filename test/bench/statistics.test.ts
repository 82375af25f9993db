import { describe, expect, it } from '@jest/globals'
import { type Measured, median, percentile, type Run, summarise } from './statistics.ts'

describe('median', () => {
  it.each([
    [[], NaN],
    [[3], 3],
    [[9, 1, 5], 5],
    [[10, 2, 4, 8], 6],
    [[10, 9, 100], 10],
  ])('of %j is %d', (values, expected) => {
    expect(median(values)).toBe(expected)
  })

  it('leaves the values in their order', () => {
    const values = [3, 1, 2]
    median(values)
    expect(values).toEqual([3, 1, 2])
  })
})

describe('percentile', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index)

  it.each([
    [[], 0.5, NaN],
    [[7], 0.99, 7],
    [[1, 2], 0.5, 1],
    [hundred, 0.99, 99],
    [hundred, 1, 100],
    [hundred, 0, 1],
  ])('%#', (values, share, expected) => {
    expect(percentile(values, share)).toBe(expected)
  })
})

const run = (
  name: string,
  perSecond: number,
  cpuMicros: number,
  rest?: Partial<Measured>,
): Run => ({
  name,
  measured: {
    perSecond,
    cpuMicros,
    p50Ms: 1,
    p99Ms: 2,
    peakRssMegabytes: 50,
    socketErrors: 0,
    ...rest,
  },
})

describe('summarise', () => {
  const comparison = summarise([
    [run('raw', 100, 10), run('gateway', 80, 20), run('nginx', 200, 5), run('raw', 100, 10)],
    // Twice as slow a moment: the ratios within the repetition stay as they are.
    [run('raw', 50, 20), run('gateway', 40, 40), run('nginx', 100, 10), run('raw', 50, 20)],
    [run('raw', 90, 10), run('gateway', 90, 10), run('nginx', 200, 5), run('raw', 110, 10)],
  ])

  it('has a summary for each server, the reference first and once', () => {
    expect(comparison.summaries.map(({ name }) => name)).toEqual(['raw', 'gateway', 'nginx'])
  })

  it('takes medians over all repetitions', () => {
    expect(comparison.summaries[1]).toMatchObject({ perSecond: 80, cpuMicros: 20 })
  })

  it('takes ratios within each repetition, above 1 for the better one', () => {
    expect(comparison.summaries.map(({ ratio }) => ratio)).toEqual([
      { perSecond: 1, cpu: 1 },
      { perSecond: 0.8, cpu: 0.5 },
      { perSecond: 2, cpu: 2 },
    ])
  })

  it('compares any two', () => {
    expect(comparison.ratio('gateway', 'nginx')).toEqual({ perSecond: 0.4, cpu: 0.25 })
  })

  it('has no ratio to who was not measured', () => {
    expect(comparison.ratio('gateway', 'constructor')).toEqual({ perSecond: NaN, cpu: NaN })
  })

  it('takes the worst of memory and the sum of errors', () => {
    const { summaries } = summarise([
      [run('raw', 1, 1, { peakRssMegabytes: 90, socketErrors: 2 }), run('raw', 1, 1)],
      [run('raw', 1, 1), run('raw', 1, 1, { socketErrors: 1 })],
    ])
    expect(summaries[0]).toMatchObject({ peakRssMegabytes: 90, socketErrors: 3 })
  })

  it.each([
    [100, 100, 0],
    [100, 110, 0.1],
    [110, 100, 0.1],
  ])('sees how far the reference is from itself: %d and %d', (first, last, drift) => {
    const alone = summarise([[run('raw', first, 10), run('gateway', 1, 1), run('raw', last, 10)]])
    expect(alone.drift.perSecond).toBeCloseTo(drift)
    expect(alone.drift.cpu).toBe(0)
  })
})
