// Buckets in Redis give what buckets in memory do, whatever befell their keys; and replies that no bucket gives are errors.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type LimitTake, RateBuckets } from '../../../dataplane/shared/rate-buckets.ts'
import { RedisLimiter } from '../../../dataplane/shared/redis-limiter.ts'
import type { RedisState } from '../../../dataplane/shared/redis-state.ts'
import { createRedisTokens } from '../../../dataplane/shared/redis-tokens.ts'
import { SYSTEM_CLOCK } from '../../../base/clock.ts'
import { eventually } from '../../support/eventually.ts'
import { redisAvailability, type RedisServer, startRedis } from '../../support/redis-server.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { describeWhenAvailable } from '../../support/when-available.ts'
import { limitTake } from './limit-take.ts'
import { haveHealth, openRedisState } from './open-redis-state.ts'

/** So slow that no token comes back during a test. */
const slow = (more: Partial<LimitTake> = {}): LimitTake =>
  limitTake({ requests: 10, capacity: 10, seconds: 86_400, ...more })

/** On a machine at a halt a reply may take longer than a request waits for it. */
const PATIENT = {
  now: () => performance.now(),
  after: (ms: number, callback: () => void) => SYSTEM_CLOCK.after(100 * ms, callback),
}

describeWhenAvailable('buckets in Redis', redisAvailability(), () => {
  let redis: RedisServer
  let state: RedisState

  beforeAll(async () => {
    redis = await startRedis()
    state = openRedisState(redis.url)
    await haveHealth('ok', state)
  })

  afterAll(async () => {
    await state.close()
    await redis[Symbol.asyncDispose]()
  })

  const leftOf = async (take: LimitTake): Promise<number | undefined> =>
    (await state.tokens.lease([{ ...take, cost: 0 }], [0]))[0]?.remaining

  it('give what those in memory give', async () => {
    const random = seededRandom(11)
    const buckets = new RateBuckets(() => 0)
    const upTo = (most: number): number => Math.floor(random() * (most + 1))
    for (let round = 0; round < 200; round++) {
      const takes = ['a', 'b'].slice(upTo(1)).map((key) => {
        const requests = upTo(3) * 10
        return slow({ key, requests, capacity: requests + upTo(20), cost: upTo(4) })
      })
      const ahead = takes.map(() => upTo(3))
      if (round % 3 === 2) {
        const back = takes.map((take) => ({ take: { ...take, requests: 10 }, tokens: upTo(6) }))
        buckets.giveBack(back)
        state.tokens.giveBack(back)
      }
      const found = await state.tokens.lease(takes, ahead)
      const expected = buckets.lease(takes, ahead)
      expect(
        found.map(({ isAllowed, leased, remaining }) => [isAllowed, leased, remaining]),
      ).toEqual(expected.map(({ isAllowed, leased, remaining }) => [isAllowed, leased, remaining]))
    }
  })

  it('are refilled by the time that their keys lose, and are gone when they are full', async () => {
    const take = slow({ key: 'refilled', seconds: 100, cost: 6 })
    await state.tokens.lease([take], [0])
    const lifeMs = Number((await redis.tell('PTTL svc-gateway:limit:refilled')).slice(1))
    expect(lifeMs).toBeGreaterThan(50_000)
    expect(lifeMs).toBeLessThanOrEqual(60_000)
    await redis.tell(`PEXPIRE svc-gateway:limit:refilled ${lifeMs - 30_000}`)
    expect(await leftOf(take)).toBe(7)
    await redis.tell('PEXPIRE svc-gateway:limit:refilled 0')
    expect(await leftOf(take)).toBe(10)
  })

  it.each([
    ['whose clock was set back wait no longer than before', 'PEXPIRE KEY 900000000', 4],
    ['whose key has lost its end are full', 'PERSIST KEY', 10],
    ['that were deleted are full', 'FLUSHALL', 10],
    ['whose script was forgotten stay as they are', 'SCRIPT FLUSH', 4],
  ])('%s', async (name, command, left) => {
    const key = name.replaceAll(' ', '-')
    const take = slow({ key, cost: 6, seconds: 100_000 })
    await state.tokens.lease([take], [0])
    await redis.tell(command.replace('KEY', `svc-gateway:limit:${key}`))
    expect(await leftOf(take)).toBe(left)
    const life = Number((await redis.tell(`PTTL svc-gateway:limit:${key}`)).slice(1))
    expect(life).toBeLessThanOrEqual(60_000_000)
  })

  it.each([
    ['another type', 'LPUSH svc-gateway:limit:wrong 1'],
    ['another content', 'SET svc-gateway:limit:wrong full'],
  ])('of %s are errors', async (_, command) => {
    await redis.tell('DEL svc-gateway:limit:wrong')
    await redis.tell(command)
    await expect(state.tokens.lease([slow({ key: 'wrong' })], [0])).rejects.toThrow('Redis could')
  })

  it('are one limit of several processes, before Redis is killed and afterwards', async () => {
    const others = [openRedisState(redis.url), openRedisState(redis.url)]
    await haveHealth('ok', ...others)
    const limiters = [state, ...others].map(({ tokens }) => new RedisLimiter(tokens, PATIENT))
    const ticks = setInterval(() => {
      for (const limiter of limiters) limiter.tick()
    }, 20).unref()
    const are = (isAway: boolean): Promise<void> =>
      eventually(() => {
        expect(limiters.map((limiter) => limiter.isAway)).toEqual(limiters.map(() => isAway))
      })
    const passed = async (take: LimitTake): Promise<number> => {
      let count = 0
      for (let at = 0; at < 90; at++) {
        const states = await limiters[at % 3]?.take([take])
        if (states?.every((each) => each?.isAllowed === true) === true) count++
      }
      return count
    }
    const thirty = (key: string) => slow({ key, requests: 30, capacity: 30 })
    await are(false)
    expect(await passed(thirty('one'))).toBe(30)
    await redis.kill()
    await are(true)
    // A third for each of the three.
    expect(await passed(thirty('two'))).toBe(30)
    await redis.restart()
    await are(false)
    expect(await passed(thirty('three'))).toBe(30)
    clearInterval(ticks)
    await Promise.all(others.map((other) => other.close()))
  }, 60_000)
})

describe('a reply that no bucket gives', () => {
  const tokens = (reply: unknown) => createRedisTokens(() => Promise.resolve(reply), 'channel')

  it.each<[unknown]>([
    ['OK'],
    [null],
    [[]],
    [[1, '0']],
    [[1, '0', 3]],
    [[1, '0', -1]],
    [[1, '-1', 0]],
    [[1, 'NaN', 0]],
    [[1, '1e999', 0]],
    [[1, '0', 1e300]],
    [[1, '0', 0, '0', 0]],
  ])('is an error: %j', async (reply) => {
    await expect(tokens(reply).lease([slow()], [2])).rejects.toThrow('unexpected reply')
  })

  it.each([['OK'], [0], [-1], [1e300], [null], [[1]]])('is no count: %j', async (reply) => {
    await expect(tokens(reply).countProcesses()).rejects.toThrow('unexpected reply')
  })
})
