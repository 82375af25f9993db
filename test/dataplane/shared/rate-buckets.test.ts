// What token buckets let through, and how many of them there may be.

import { describe, expect, it } from '@jest/globals'
import { type LimitTake, RateBuckets } from '../../../dataplane/shared/rate-buckets.ts'
import { createManualClock } from '../../support/manual-clock.ts'

const take = (more: Partial<LimitTake> = {}): LimitTake => ({
  key: 'key',
  sharedKey: 'shared',
  tenant: 'shop',
  room: 'anyone',
  requests: 10,
  seconds: 10,
  capacity: 10,
  cost: 1,
  ...more,
})

const bucketsAt = (bounds?: { perRoom: number; inAll: number; reserved: number }) => {
  const clock = createManualClock()
  const buckets = new RateBuckets(() => clock.now(), bounds)
  const passes = (...takes: readonly LimitTake[]): boolean =>
    buckets.take(takes).every(({ isAllowed }) => isAllowed)
  const passed = (times: number, ...takes: readonly LimitTake[]): number =>
    Array.from({ length: times }, () => passes(...takes)).filter(Boolean).length
  return { clock, buckets, passes, passed }
}

describe('a bucket', () => {
  it.each<[string, Partial<LimitTake>, number]>([
    ['is full at first', {}, 10],
    ['holds as much as burst says, if that is more', { capacity: 25 }, 25],
    ['holds as much as burst says, if that is less', { capacity: 3 }, 3],
    ['gives what a request costs', { cost: 4 }, 2],
    ['gives nothing for a cost beyond its capacity', { cost: 11 }, 0],
    ['lets nothing pass where no requests are allowed', { requests: 0, cost: 0 }, 0],
    ['lets everything pass that costs nothing', { cost: 0 }, 30],
  ])('%s', (_, more, passed) => {
    expect(bucketsAt().passed(30, take(more))).toBe(passed)
  })

  it('is refilled steadily, and never beyond its capacity', () => {
    const { clock, passed } = bucketsAt()
    passed(10, take())
    clock.advance(999)
    expect(passed(5, take())).toBe(0)
    clock.advance(1)
    expect(passed(5, take())).toBe(1)
    clock.advance(2500)
    expect(passed(5, take())).toBe(2)
    clock.advance(1_000_000)
    expect(passed(30, take())).toBe(10)
  })

  it('loses nothing by requests that it refuses', () => {
    const { clock, passed } = bucketsAt()
    passed(10, take())
    for (let ms = 0; ms < 3000; ms += 100) {
      clock.advance(100)
      if (ms < 2900) passed(1, take({ cost: 3 }))
    }
    expect(passed(1, take({ cost: 3 }))).toBe(1)
  })

  it('is read by another number of requests without being filled or emptied', () => {
    const { passed } = bucketsAt()
    expect(passed(20, take({ requests: 5, capacity: 5 }))).toBe(5)
    expect(passed(20, take())).toBe(5)
    expect(passed(20, take({ requests: 1, capacity: 1 }))).toBe(0)
  })

  it.each<[string, number, Partial<LimitTake>, object]>([
    ['until it is full', 3, {}, { isAllowed: true, remaining: 7, seconds: 3 }],
    ['at least a second', 1, { seconds: 1 }, { isAllowed: true, remaining: 9, seconds: 1 }],
    ['until it has a token again', 11, {}, { isAllowed: false, remaining: 0, seconds: 1 }],
    [
      'until it has as many as a request costs',
      2,
      { cost: 7 },
      { isAllowed: false, remaining: 3, seconds: 4 },
    ],
    [
      'for its whole time where a request can never pass',
      1,
      { cost: 11 },
      { isAllowed: false, remaining: 10, seconds: 10 },
    ],
  ])('says how long it takes %s', (_, times, more, state) => {
    const { buckets } = bucketsAt()
    const states = Array.from({ length: times }, () => buckets.take([take(more)])[0])
    expect(states.at(-1)).toMatchObject(state)
  })
})

describe('several limits', () => {
  const small = take({ key: 'small', requests: 2, capacity: 2 })

  it('take nothing of any where one refuses', () => {
    const { passed } = bucketsAt()
    expect(passed(20, take(), small)).toBe(2)
    expect(passed(20, take())).toBe(8)
  })

  it('say of each what is left', () => {
    const { buckets, passed } = bucketsAt()
    passed(2, take(), small)
    expect(buckets.take([take(), small])).toMatchObject([
      { isAllowed: true, remaining: 8 },
      { isAllowed: false, remaining: 0 },
    ])
  })
})

describe('the number of buckets', () => {
  const BOUNDS = { perRoom: 20, inAll: 30, reserved: 5 }
  const flood = (passed: (times: number, each: LimitTake) => number, more: Partial<LimitTake>) =>
    Array.from({ length: 1000 }, (_, at) =>
      passed(1, take({ ...more, key: `${more.tenant} ${at}` })),
    ).reduce((sum, each) => sum + each, 0)

  it('is bounded for each tenant, and those beyond it share one', () => {
    const { buckets, passed } = bucketsAt(BOUNDS)
    expect(flood(passed, { tenant: 'flooder' })).toBe(20 + 10)
    expect(buckets.size).toBe(20)
    expect(buckets.take([take({ tenant: 'flooder', key: 'one more' })])).toMatchObject([
      { isAllowed: false, isShared: true },
    ])
  })

  it('of one tenant takes nothing from another, whose buckets stay as they are', () => {
    const { passed } = bucketsAt(BOUNDS)
    expect(passed(8, take())).toBe(8)
    flood(passed, { tenant: 'flooder' })
    flood(passed, { tenant: 'second flooder' })
    expect(passed(8, take())).toBe(2)
    expect(passed(20, take({ key: 'other' }))).toBe(10)
  })

  it('that anybody can invent takes nothing from what verified callers have', () => {
    const { passed } = bucketsAt(BOUNDS)
    flood(passed, { tenant: 'shop' })
    expect(passed(20, take({ key: 'alice', room: 'caller' }))).toBe(10)
  })

  it('is made smaller by those that are full again, and by no others', () => {
    const { clock, buckets, passed } = bucketsAt(BOUNDS)
    flood(passed, { tenant: 'shop', cost: 10 })
    clock.advance(10_000)
    passed(10, take({ key: 'slow' }))
    for (let at = 0; at < 20; at++) passed(1, take({ key: `later ${at}` }))
    expect(buckets.size).toBe(20)
    expect(passed(1, take({ key: 'slow' }))).toBe(0)
  })
})
