import { describe, expect, it } from '@jest/globals'
import { createRetryBudget } from '../../../dataplane/upstream/retry-budget.ts'

const rig = () => {
  let nowMs = 0
  const budget = createRetryBudget(() => nowMs)
  /** @returns how many of so many requests may be retried */
  const retried = (requests: number, realm = 'a', origin = 'http://up'): number => {
    let count = 0
    for (let request = 0; request < requests; request++) {
      const account = budget.open(realm, origin)
      if (!account.hasLeft) continue
      account.spend()
      count++
    }
    return count
  }
  return {
    budget,
    retried,
    pass: (ms: number): void => {
      nowMs += ms
    },
  }
}

describe('retries', () => {
  it.each([
    [1, 1],
    [30, 30],
    [35, 30 + 5],
    [1000, 30 + 200],
  ])('of %d requests at once are %d', (requests, count) => {
    expect(rig().retried(requests)).toBe(count)
  })

  it('are three a second at least', () => {
    const { budget, pass } = rig()
    const account = budget.open('a', 'http://up')
    let count = 0
    for (let tenth = 0; tenth < 100; tenth++) {
      if (account.hasLeft) {
        account.spend()
        count++
      }
      pass(100)
    }
    expect(count).toBeGreaterThanOrEqual(30 + 29)
    expect(count).toBeLessThanOrEqual(30 + 33)
  })

  it('are what others have not needed, up to a hundred', () => {
    const { budget } = rig()
    for (let request = 0; request < 10_000; request++) budget.open('a', 'http://up')
    const account = budget.open('a', 'http://up')
    let count = 0
    while (account.hasLeft) {
      account.spend()
      count++
    }
    expect(count).toBe(130)
  })

  it('are counted by realm and origin, and not for more of those than there is room', () => {
    const { retried } = rig()
    expect(retried(40)).toBe(30 + 8)
    expect(retried(30, 'b')).toBe(30)
    expect(retried(30, 'a', 'http://other')).toBe(30)
    for (let at = 0; at < 10_000; at++) retried(1, 'c', `http://o${at}`)
    expect(retried(30)).toBe(30)
  })
})
