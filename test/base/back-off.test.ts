import { describe, expect, it } from '@jest/globals'
import { backOffMs } from '../../base/back-off.ts'

describe('backOffMs', () => {
  it.each([
    // failures, first, cap, random, expected
    [1, 100, 1000, 0, 50],
    [1, 100, 1000, 0.5, 75],
    [2, 100, 1000, 0, 100],
    [4, 100, 1000, 0, 400],
    [5, 100, 1000, 0, 500],
    [5, 100, 1000, 0.999, 1000],
    [9, 100, 30_000, 0, 12_800],
    [6, 800, 30_000, 1, 25_600],
    [7, 800, 30_000, 1, 30_000],
    [7, 800, 30_000, 0, 15_000],
    [1, 800, 100, 1, 100],
    [0, 800, 30_000, 1, 800],
    [1_000_000, 800, 30_000, 1, 30_000],
    [Infinity, 800, 30_000, 1, 30_000],
  ])('%d failures from %d ms to %d ms with random %d: %d ms', (failures, ...rest) => {
    const [firstMs, capMs, random, expected] = rest
    expect(backOffMs(failures, { firstMs, capMs }, random)).toBe(expected)
  })
})
