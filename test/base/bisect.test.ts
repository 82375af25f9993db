import { describe, expect, it } from '@jest/globals'
import { countFirst } from '../../base/bisect.ts'

describe('bisection', () => {
  it('finds every place of every list, from wherever it may start', () => {
    for (let length = 0; length <= 17; length++) {
      const list = Array.from({ length }, (_, at) => at)
      for (let place = 0; place <= length; place++)
        for (let from = 0; from <= place; from++)
          expect(countFirst(list, (item) => item < place, from)).toBe(place)
    }
  })

  it('compares with few of many', () => {
    const list = Array.from({ length: 10_000 }, (_, at) => at)
    let comparisons = 0
    countFirst(list, (item) => {
      comparisons += 1
      return item < 7001
    })
    expect(comparisons).toBeLessThanOrEqual(14)
  })
})
