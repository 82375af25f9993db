import { describe, expect, it } from '@jest/globals'
import { parseCpuTicks, parseRssMegabytes, readFigures } from './process-figures.ts'

const stat = (name: string): string =>
  `42 (${name}) S 1 42 42 0 -1 4194304 100 0 0 0 250 50 7 8 20 0 11 0 100 1000000 5000`

describe('parseCpuTicks', () => {
  it.each(['node', 'node (worker)', 'a) S 9 9 9'])('adds user and system time of (%s)', (name) => {
    expect(parseCpuTicks(stat(name))).toBe(300)
  })
})

describe('parseRssMegabytes', () => {
  it.each([
    ['VmPeak:\t  999 kB\nVmRSS:\t  2048 kB\nRssAnon:\t 1 kB\n', 2],
    ['', NaN],
  ])('%#', (status, expected) => {
    expect(parseRssMegabytes(status)).toBe(expected)
  })
})

describe('readFigures', () => {
  it('knows nothing of a process that is not there', () => {
    expect(readFigures(2 ** 30)).toEqual({ cpuMicros: NaN, rssMegabytes: NaN })
  })
})
