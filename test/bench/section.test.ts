import { describe, expect, it } from '@jest/globals'
import {
  atLeast,
  atMost,
  comparisonRemarks,
  comparisonTable,
  fixed,
  ratioAtLeast,
  renderSection,
  renderTable,
  whole,
} from './section.ts'
import { type Repetition, summarise } from './statistics.ts'

const repetition = (lastPerSecond: number, socketErrors = 0): Repetition => {
  const measured = { perSecond: 1000, cpuMicros: 10, p50Ms: 1, p99Ms: 2, peakRssMegabytes: 50 }
  return [
    { name: 'raw', measured: { ...measured, socketErrors: 0 } },
    { name: 'gateway', measured: { ...measured, cpuMicros: 12.5, socketErrors } },
    { name: 'raw', measured: { ...measured, perSecond: lastPerSecond, socketErrors: 0 } },
  ]
}

describe('renderTable', () => {
  it('aligns its columns', () => {
    const table = { head: ['', 'requests/s'], rows: [['gateway', '1,234'], ['nginx']] }
    expect(renderTable(table)).toBe(
      [
        '|         | requests/s |',
        '| ------- | ---------: |',
        '| gateway |      1,234 |',
        '| nginx   |            |',
      ].join('\n'),
    )
  })
})

describe('numbers', () => {
  it.each([
    [whole(1234567.8), '1,234,568'],
    [whole(NaN), '–'],
    [fixed(1.005, 1), '1.0'],
    [fixed(NaN, 2), '–'],
    [fixed(Infinity, 2), '–'],
  ])('%s', (text, expected) => {
    expect(text).toBe(expected)
  })
})

describe('targets', () => {
  it.each([
    [atLeast('x', { bound: 0.95, measured: 0.95 }), '≥ 0.95', '0.95', true],
    [atLeast('x', { bound: 0.95, measured: 0.949 }), '≥ 0.95', '0.95', false],
    [atMost('x', { bound: 90, measured: 89.6, unit: ' MB', digits: 0 }), '≤ 90 MB', '90 MB', true],
    [atMost('x', { bound: 50, measured: 51, unit: ' ms' }), '≤ 50 ms', '51.00 ms', false],
    [atMost('x', { bound: 50, measured: NaN }), '≤ 50', '–', undefined],
  ])('%#', (made, target, measured, isReached) => {
    expect(made).toEqual({ what: 'x', target, measured, isReached })
  })

  it('are the CPU time for a ratio', () => {
    const targets = ratioAtLeast(summarise([repetition(1000)]), 'gateway', 'raw', 0.9)
    expect(targets.map(({ what, isReached }) => [what, isReached])).toEqual([
      ['gateway ÷ raw', false],
    ])
  })

  it('are none for a peer that was left out', () => {
    expect(ratioAtLeast(summarise([repetition(1000)]), 'gateway', 'nginx', 0.43)).toEqual([])
  })
})

describe('comparisonTable', () => {
  it('has a line for each server, and the columns requested', () => {
    const table = comparisonTable(summarise([repetition(1000)]), {
      'RSS MB': ({ peakRssMegabytes }) => fixed(peakRssMegabytes, 0),
    })
    expect(table.head.at(-1)).toBe('RSS MB')
    expect(table.rows).toEqual([
      ['raw', '1,000', '1.00', '10.0', '1.00', '50'],
      ['gateway', '1,000', '1.00', '12.5', '0.80', '50'],
    ])
  })
})

describe('comparisonRemarks', () => {
  it.each([
    [1000, 'The ratios hold.'],
    [1040, 'The ratios hold.'],
    [1060, 'more than 5 %'],
    [940, 'more than 5 %'],
  ])('validate the A/A control: 1000 and %d', (last, expected) => {
    expect(comparisonRemarks(summarise([repetition(last)]))[0]).toContain(expected)
  })

  it('tell of broken connections', () => {
    expect(comparisonRemarks(summarise([repetition(1000, 3)]))).toContain(
      'gateway: 3 connections failed or timed out.',
    )
  })
})

describe('renderSection', () => {
  it('has everything in its order, and nothing for what is empty', () => {
    const section = {
      title: 'Match',
      method: 'How.',
      tables: [{ head: ['a'], rows: [['b']] }],
      targets: [atMost('c', { bound: 1, measured: NaN })],
      remarks: ['d', 'e'],
    }
    const order = ['## Match', 'How.', '| b   |', '| c      |', '- d\n- e']
    const positions = order.map((part) => renderSection(section).indexOf(part))
    expect(positions).toEqual(positions.toSorted((a, b) => a - b))
    expect(positions).not.toContain(-1)
    const empty = { ...section, tables: [], targets: [], remarks: [] }
    expect(renderSection(empty)).toBe('## Match\n\nHow.')
  })
})
