// Two processes that take tokens from the buckets of a third: together they let through what one limit allows.

import { describe, expect, it } from '@jest/globals'
import { type LimitTake, RateBuckets } from '../../../dataplane/shared/rate-buckets.ts'
import { TokenLeases } from '../../../dataplane/shared/token-leases.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { seededRandom } from '../../support/seeded-random.ts'

const take = (more: Partial<LimitTake> = {}): LimitTake => ({
  key: 'key',
  sharedKey: 'shared',
  tenant: 'shop',
  room: 'anyone',
  requests: 1000,
  seconds: 10,
  capacity: 1000,
  cost: 1,
  ...more,
})

const open = () => {
  const clock = createManualClock()
  const now = (): number => clock.now()
  const buckets = new RateBuckets(now)
  const asked = { count: 0, isAway: false }
  const home = {
    lease: (takes: readonly LimitTake[], ahead: readonly number[]) => {
      asked.count++
      return asked.isAway
        ? Promise.reject(new Error('away'))
        : Promise.resolve(buckets.lease(takes, ahead))
    },
    giveBack: buckets.giveBack.bind(buckets),
  }
  const processes = [new TokenLeases(home, now), new TokenLeases(home, now)] as const
  return { clock, buckets, asked, processes }
}

const passes = async (leases: TokenLeases, ...takes: readonly LimitTake[]): Promise<boolean> =>
  (await leases.take(takes)).every((state) => state?.isAllowed !== false)

const passed = async (
  processes: readonly TokenLeases[],
  times: number,
  ...takes: readonly LimitTake[]
): Promise<number> => {
  let count = 0
  for (let at = 0; at < times; at++) {
    const leases = processes[at % processes.length]
    if (leases !== undefined && (await passes(leases, ...takes))) count++
  }
  return count
}

describe('limits of several sizes on one bucket', () => {
  it('are apart: one that lets nothing pass refuses no other', async () => {
    const { clock, processes } = open()
    const [leases] = processes
    for (let second = 0; second < 3; second++) {
      expect(await passes(leases, take({ requests: 0, capacity: 0 }))).toBe(false)
      expect(await passes(leases, take())).toBe(true)
      clock.advance(1000)
    }
  })

  it('are apart: what a small one has used up a large one still has', async () => {
    const { processes } = open()
    const [leases] = processes
    const small = take({ requests: 10, capacity: 10 })
    expect(await passed([leases], 12, small)).toBe(10)
    expect(await passes(leases, take())).toBe(true)
    expect(await passes(leases, small)).toBe(false)
  })
})

describe('two processes', () => {
  it.each([
    [1000, 980],
    [50, 50],
    [1, 1],
  ])('let through no more than %d requests together, and at least %d', async (requests, least) => {
    const { processes } = open()
    const count = await passed(processes, 3 * requests, take({ requests, capacity: requests }))
    expect(count).toBeLessThanOrEqual(requests)
    expect(count).toBeGreaterThanOrEqual(least)
  })

  it('come within 2 % of a limit over a long time', async () => {
    const { clock, processes } = open()
    const random = seededRandom(7)
    let count = 0
    for (let ms = 0; ms < 60_000; ms += 5) {
      clock.advance(5)
      const leases = processes[random() < 0.3 ? 0 : 1]
      if (await passes(leases, take())) count++
      if (ms % 250 === 0) for (const each of processes) each.sweep()
    }
    const allowed = 1000 + 100 * 60
    expect(count).toBeLessThanOrEqual(allowed)
    expect(count).toBeGreaterThanOrEqual(allowed * 0.98)
  })

  it('ask for most requests only once in several', async () => {
    const { asked, processes } = open()
    const large = take({ requests: 100_000, capacity: 100_000 })
    await passed(processes, 10_000, large)
    expect(asked.count).toBeLessThanOrEqual(500)
  })

  it('do not ask again while a bucket is empty', async () => {
    const { asked, processes } = open()
    const one = take({ requests: 1, capacity: 1 })
    await passed(processes, 1000, one)
    expect(asked.count).toBeLessThanOrEqual(3)
  })

  it('use every token of a bucket that is refilled faster than once a second', async () => {
    const { clock, processes } = open()
    const quick = take({ requests: 10, seconds: 1, capacity: 1 })
    let count = 0
    for (let ms = 0; ms < 10_000; ms += 10) {
      clock.advance(10)
      if (await passes(processes[0], quick)) count++
    }
    expect(count).toBeGreaterThanOrEqual(98)
    expect(count).toBeLessThanOrEqual(101)
  })

  it('give back what they do not use, so that another process has it', async () => {
    const { clock, processes } = open()
    const [first, second] = processes
    const slow = take({ seconds: 86_400 })
    await passed([first], 1, slow)
    clock.advance(1000)
    first.sweep()
    expect(await passed([second], 2000, slow)).toBeGreaterThanOrEqual(999)
  })

  it('take nothing of any limit where one refuses', async () => {
    const { clock, processes } = open()
    const [first] = processes
    const slow = take({ seconds: 86_400 })
    const small = take({ key: 'small', requests: 1, capacity: 1, seconds: 86_400 })
    await passed([first], 1, slow)
    expect(await passed([first], 500, slow, small)).toBe(1)
    clock.advance(2000)
    first.sweep()
    expect(await passed([first], 2000, slow)).toBe(998)
  })

  it('say how long a bucket stays empty, and not how long they remember it', async () => {
    const { processes } = open()
    const hourly = take({ requests: 1, seconds: 3600, capacity: 1 })
    const states: unknown[] = []
    for (let at = 0; at < 3; at++) states.push(...(await processes[0].take([hourly])))
    expect(states).toMatchObject([
      { isAllowed: true, seconds: 3600 },
      { isAllowed: false, seconds: 3600 },
      { isAllowed: false, seconds: 3600 },
    ])
  })

  it('let nothing through that they cannot ask for', async () => {
    const { asked, processes } = open()
    asked.isAway = true
    await expect(passes(processes[0], take())).rejects.toThrow('away')
  })
})
