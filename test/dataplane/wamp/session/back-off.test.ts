import { describe, expect, it } from '@jest/globals'
import { backOffMs } from '../../../../dataplane/wamp/session/back-off.ts'

describe('backOffMs', () => {
  it.each([
    [1, 0, 1000, 50],
    [1, 0.5, 1000, 75],
    [2, 0, 1000, 100],
    [4, 0, 1000, 400],
    [5, 0, 1000, 500],
    [5, 0.999, 1000, 1000],
    [5000, 0, 1000, 500],
    [9, 0, 30_000, 12_800],
    [100, 0, 30_000, 15_000],
  ])('attempt %i, random %d, at most %i ms: %i ms', (attempt, random, longestMs, expected) => {
    expect(backOffMs(attempt, random, longestMs)).toBe(expected)
  })
})
