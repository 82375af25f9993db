// Several processes of several gateways that count in one Redis: together they let through what one limit allows, and while Redis
// is away each keeps its share.

import { describe, expect, it } from '@jest/globals'
import { type LimitTake, RateBuckets } from '../../../dataplane/shared/rate-buckets.ts'
import { RedisLimiter } from '../../../dataplane/shared/redis-limiter.ts'
import type { RoomBounds } from '../../../dataplane/shared/tenant-rooms.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { limitTake as take } from './limit-take.ts'

const TICK_MS = 250
const STEP_MS = 5

/** Buckets in memory stand for those in Redis; a reply takes `redis.replyMs`, and none comes while it is away. */
const open = (count: number, bounds?: RoomBounds) => {
  const clock = createManualClock()
  const buckets = new RateBuckets(() => clock.now())
  const redis = { isAway: false, replyMs: 2, asked: 0, ofProcesses: count }
  const reply = <T>(value: () => T): Promise<T> =>
    new Promise((resolve, reject) => {
      if (redis.isAway) reject(new Error('away'))
      else {
        const decided = value()
        clock.after(redis.replyMs, () => {
          resolve(decided)
        })
      }
    })
  const home = {
    lease: (takes: readonly LimitTake[], ahead: readonly number[]) => {
      redis.asked++
      return reply(() => buckets.lease(takes, ahead))
    },
    giveBack: (entries: Parameters<RateBuckets['giveBack']>[0]) => {
      if (!redis.isAway) buckets.giveBack(entries)
    },
    countProcesses: () => reply(() => redis.ofProcesses),
  }
  const processes = Array.from({ length: count }, () => new RedisLimiter(home, clock, bounds))
  const tick = async (): Promise<void> => {
    for (const each of processes) each.tick()
    await clock.run(5)
  }
  return { clock, redis, buckets, processes, tick }
}

type Rig = ReturnType<typeof open>

interface Load {
  readonly forMs: number
  /** Of all processes together. */
  readonly perSecond: number
  /** Which process gets a request, from a random number. */
  readonly pick?: (random: number, atMs: number) => number
  readonly each?: LimitTake
}

const random = seededRandom(7)

/** @returns how many were let through, by process */
const send = async (rig: Rig, { forMs, perSecond, pick, each = take() }: Load) => {
  const { clock, processes } = rig
  const passed = processes.map(() => 0)
  const choose = pick ?? ((chosen: number) => Math.floor(chosen * processes.length))
  let owed = 0
  for (let ms = 0; ms < forMs; ms += STEP_MS) {
    if (ms % TICK_MS === 0) for (const process of processes) process.tick()
    owed += (perSecond * STEP_MS) / 1000
    for (; owed >= 1; owed--) {
      const at = choose(random(), ms)
      const count = (states: readonly ({ readonly isAllowed: boolean } | undefined)[]): void => {
        if (states.every((state) => state?.isAllowed === true)) passed[at] = (passed[at] ?? 0) + 1
      }
      const states = processes[at]?.take([each]) ?? []
      if (states instanceof Promise) void states.then(count)
      else count(states)
    }
    await clock.run(STEP_MS)
  }
  await clock.run(STEP_MS)
  return { passed, all: passed.reduce((sum, one) => sum + one, 0) }
}

const uneven = (chosen: number): number => (chosen < 0.8 ? 0 : chosen < 0.95 ? 1 : 2)

describe('one limit of several processes', () => {
  it.each<[string, number, Load['pick'], number]>([
    ['one process', 1, undefined, 2000],
    ['five', 5, undefined, 2000],
    ['five of which one has most clients', 5, uneven, 2000],
    ['twenty', 20, undefined, 2000],
    [
      'twenty that become two after 4 s',
      20,
      (at, ms) => Math.floor(at * (ms < 4000 ? 20 : 2)),
      2000,
    ],
  ])('lets through what it says, within 2 %%: %s', async (_, count, pick, perSecond) => {
    const rig = open(count)
    await rig.tick()
    rig.redis.asked = 0
    const { all } = await send(rig, { forMs: 10_000, perSecond, ...(pick && { pick }) })
    const allowed = 1000 + 1000 * 10
    expect(all).toBeLessThanOrEqual(allowed * 1.001)
    expect(all).toBeGreaterThanOrEqual(allowed * 0.98)
    expect(rig.redis.asked).toBeLessThanOrEqual(perSecond * 10 * 0.05)
  })

  it.each([1, 5, 20])('lets everything through that is within it, %d processes', async (count) => {
    const rig = open(count)
    await rig.tick()
    rig.redis.asked = 0
    const { all } = await send(rig, { forMs: 6000, perSecond: 900 })
    expect(all).toBe(5400)
    expect(rig.redis.asked).toBeLessThanOrEqual(5400 * 0.05)
  })

  it('that is small is exact, and starves no process', async () => {
    const rig = open(20)
    await rig.tick()
    const each = take({ requests: 5, seconds: 60, capacity: 5 })
    const { all } = await send(rig, { forMs: 1000, perSecond: 100, each })
    expect(all).toBe(5)
    rig.clock.advance(24_000)
    expect((await send(rig, { forMs: 1000, perSecond: 100, each })).all).toBe(2)
  })

  it('loses no token with a process that ends, but what that had ahead', async () => {
    const rig = open(2)
    await rig.tick()
    const first = await send(rig, { forMs: 1000, perSecond: 2000 })
    rig.processes.pop()
    const { all } = await send(rig, { forMs: 5000, perSecond: 2000 })
    expect(first.all + all).toBeGreaterThanOrEqual(7000 * 0.98)
    expect(first.all + all).toBeLessThanOrEqual(7000)
  })

  it('takes no more keys for a tenant than there is room for: the others share a bucket', async () => {
    const rig = open(1, { perRoom: 20, inAll: 30, reserved: 5 })
    await rig.tick()
    const stateOf = async (more: Partial<LimitTake>) => {
      const taken = rig.processes[0]?.take([take({ seconds: 3600, ...more })])
      await rig.clock.run(rig.redis.replyMs)
      return (await taken)?.[0]
    }
    for (let at = 0; at < 100; at++) await stateOf({ key: `invented ${at}` })
    expect(rig.buckets.size).toBe(20)
    expect(await stateOf({ key: 'one more' })).toMatchObject({ isShared: true })
    expect(await stateOf({ key: 'alice', room: 'caller' })).toMatchObject({ isShared: false })
    expect(await stateOf({ key: 'other', tenant: 'bank' })).toMatchObject({ isShared: false })
  })
})

describe('while Redis is away', () => {
  /** What each has let through in 3 s after 3 s with Redis. */
  const leave = async (rig: Rig, load: Omit<Load, 'forMs'>) => {
    await rig.tick()
    await send(rig, { forMs: 3000, ...load })
    rig.redis.isAway = true
    return send(rig, { forMs: 3000, ...load })
  }

  it.each<[string, number, Load['pick']]>([
    ['one process', 1, undefined],
    ['five of which one has most clients', 5, uneven],
  ])('a limit stays what it was: %s', async (_, count, pick) => {
    const { all } = await leave(open(count), { perSecond: 2000, ...(pick && { pick }) })
    expect(all).toBeGreaterThanOrEqual(3000 * 0.98)
    expect(all).toBeLessThanOrEqual(2 * 4000)
  })

  it('a process keeps the clients that it had, and others get a part of the limit', async () => {
    const rig = open(5)
    const load = { perSecond: 1000 }
    await leave(rig, { ...load, pick: () => 0 })
    const kept = await send(rig, { ...load, forMs: 3000, pick: () => 0 })
    expect(kept.all).toBeGreaterThanOrEqual(3000 * 0.9)
    const moved = await send(rig, { ...load, forMs: 3000, pick: () => 1 })
    expect(moved.all).toBeGreaterThanOrEqual(600)
    expect(moved.all).toBeLessThanOrEqual(800)
  })

  it('all together never let through more than twice the limit', async () => {
    const rig = open(10)
    await leave(rig, { perSecond: 1500, pick: (at) => Math.floor(at * 4) })
    const { all } = await send(rig, { forMs: 3000, perSecond: 4000 })
    expect(all).toBeLessThanOrEqual(2 * (1000 + 3000))
    expect(all).toBeGreaterThanOrEqual(3000)
  })

  it.each([
    [3, 5],
    [20, 5],
    [20, 1],
  ])('%d processes share a limit of %d a minute, and none has nothing', async (count, requests) => {
    const rig = open(count)
    await rig.tick()
    rig.redis.isAway = true
    await rig.tick()
    const each = take({ requests, seconds: 60, capacity: requests })
    const passed = rig.processes.map(() => 0)
    for (let minute = 0; minute < count; minute++) {
      const { passed: now } = await send(rig, { forMs: 60, perSecond: 2000, each })
      for (const [at, one] of now.entries()) passed[at] = (passed[at] ?? 0) + one
      rig.clock.advance(59_940)
    }
    expect(Math.min(...passed)).toBeGreaterThanOrEqual(1)
    const all = passed.reduce((sum, one) => sum + one, 0)
    expect(all).toBeLessThanOrEqual(2 * requests * (count + 1))
  })

  it.each<[string, Partial<Rig['redis']>]>([
    ['does not answer', { replyMs: 1e9 }],
    ['takes 200 ms', { replyMs: 200 }],
    ['refuses', { isAway: true }],
  ])('no request waits longer than 100 ms for one that %s, and none fails', async (_, fault) => {
    const rig = open(1)
    await rig.tick()
    Object.assign(rig.redis, fault)
    const [process] = rig.processes
    const first = process?.take([take()])
    await rig.clock.run(100)
    expect(await first).toMatchObject([{ isAllowed: true }])
    // From now on nothing is asked for.
    expect(process?.take([take()])).toMatchObject([{ isAllowed: true }])
    expect(rig.redis.asked).toBe(1)
  })

  it.each<[string, Partial<Rig['redis']>]>([
    ['was away', { isAway: true }],
    ['was slow', { replyMs: 200 }],
  ])('one that %s is used again within a second', async (_, fault) => {
    const rig = open(2)
    await rig.tick()
    Object.assign(rig.redis, fault)
    await send(rig, { forMs: 3000, perSecond: 100 })
    Object.assign(rig.redis, { isAway: false, replyMs: 2, asked: 0 })
    await send(rig, { forMs: 1000, perSecond: 100 })
    expect(rig.processes.map(({ isAway }) => isAway)).toEqual([false, false])
    expect(rig.redis.asked).toBeGreaterThan(0)
  })

  it('a process that has never reached it takes a twentieth, and one request at least', () => {
    const passes = (requests: number) => {
      const [process] = open(1).processes
      const each = take({ requests, seconds: 60, capacity: requests })
      const states = Array.from({ length: 100 }, () => process?.take([each]))
      return states.filter((state) => !(state instanceof Promise) && state?.[0]?.isAllowed).length
    }
    expect([1000, 100, 5, 0].map(passes)).toEqual([50, 5, 1, 0])
  })

  it('of those that come back the first do not take the share of all', async () => {
    const rig = open(4)
    await rig.tick()
    rig.redis.isAway = true
    await rig.tick()
    Object.assign(rig.redis, { isAway: false, ofProcesses: 1 })
    await rig.tick()
    rig.redis.isAway = true
    await rig.tick()
    const each = take({ requests: 100, seconds: 60, capacity: 100 })
    const { all } = await send(rig, { forMs: 1000, perSecond: 1000, each })
    expect(all).toBeLessThanOrEqual(104)
  })
})
