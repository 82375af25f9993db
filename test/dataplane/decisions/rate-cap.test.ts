// How many events of a kind are admitted in a second, and how the others are counted.

import { describe, expect, it } from '@jest/globals'
import { createRateCap } from '../../../dataplane/decisions/rate-cap.ts'
import { createManualClock } from '../../support/manual-clock.ts'

const open = (mostInAll = 100) => {
  const clock = createManualClock({ startMs: 10_000 })
  const cap = createRateCap({ mostOfKind: 3, mostInAll, now: () => clock.now() })
  const admitted = (kind: string, count: number): number =>
    Array.from({ length: count }, () => cap.admits(kind)).filter(Boolean).length
  return { clock, cap, admitted }
}

describe('a cap on a rate', () => {
  it('admits so many of each kind in a second', () => {
    const { clock, admitted } = open()
    expect([admitted('a', 5), admitted('b', 2), admitted('a', 5)]).toEqual([3, 2, 0])
    clock.advance(1000)
    expect([admitted('a', 5), admitted('b', 5)]).toEqual([3, 3])
  })

  it('admits so many in all', () => {
    const { clock, admitted } = open(4)
    expect([admitted('a', 3), admitted('b', 3), admitted('c', 3)]).toEqual([3, 1, 0])
    clock.advance(1000)
    expect(admitted('c', 3)).toBe(3)
  })

  it('counts what it does not admit, once', () => {
    const { clock, cap, admitted } = open()
    expect(cap.takeLeftOut('a')).toBeUndefined()
    admitted('a', 10)
    clock.advance(5000)
    admitted('a', 4)
    expect([cap.takeLeftOut('a'), cap.takeLeftOut('a'), cap.takeLeftOut('b')]).toEqual([
      8,
      undefined,
      undefined,
    ])
  })

  it('keeps a bounded number of kinds', () => {
    const { cap, admitted } = open(1_000_000)
    admitted('a', 10)
    for (let kind = 0; kind < 4000; kind++) cap.admits(`k${kind}`)
    expect(cap.takeLeftOut('a')).toBeUndefined()
    expect(admitted('a', 5)).toBe(3)
  })
})
