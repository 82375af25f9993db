import { describe, expect, it } from '@jest/globals'
import { waitAfter } from '../../../../operator/kubernetes/watch/back-off.ts'

describe('the wait after failures', () => {
  it.each([
    [1, 1, undefined, 800],
    [1, 0, undefined, 400],
    [2, 1, undefined, 1600],
    [6, 1, undefined, 25_600],
    [7, 1, undefined, 30_000],
    [7, 0, undefined, 15_000],
    [1_000_000, 1, undefined, 30_000],
    [0, 1, undefined, 800],
    [1, 1, 5_000, 5_000],
    [1, 1, 3_600_000, 30_000],
    [7, 1, 1_000, 30_000],
  ])('%d failures, chance %d, asked for %s ms: %d ms', (failures, chance, askedMs, expected) => {
    expect(waitAfter(failures, { random: () => chance, askedMs })).toBe(expected)
  })

  it('is as long as one wants', () => {
    expect(waitAfter(3, { random: () => 1, firstMs: 1, capMs: 3 })).toBe(3)
  })
})
