import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openJournal } from '../../../dataplane/shared/journal.ts'
import { MemoryState, type Journal } from '../../../dataplane/shared/memory-state.ts'
import { ValuesByKind } from '../../../dataplane/shared/values-by-kind.ts'
import {
  answerCall,
  RelayedState,
  type SharedCall,
  type SharedReply,
} from '../../../dataplane/shared/relayed-state.ts'
import { RateBuckets } from '../../../dataplane/shared/rate-buckets.ts'
import { SharedStateError, type SharedState } from '../../../dataplane/shared/shared-state.ts'
import { eventually } from '../../support/eventually.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { redisAvailability, startRedis } from '../../support/redis-server.ts'
import type { Availability } from '../../support/availability.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { describeWhenAvailable } from '../../support/when-available.ts'
import { haveHealth, openRedisState } from './open-redis-state.ts'

/** Two ends of one state: what one does the other must see. */
interface Pair {
  readonly here: SharedState
  readonly there: SharedState
  /** Time goes by for both. */
  readonly pass: (ms: number) => Promise<void>
  readonly end: () => Promise<void>
}

const passing = () => {
  const clock = createManualClock({ startMs: Date.now() })
  const pass = (ms: number): Promise<void> => {
    clock.advance(ms)
    return Promise.resolve()
  }
  return { now: () => clock.now(), pass }
}

const inMemory = (): Promise<Pair> => {
  const { now, pass } = passing()
  const state = new MemoryState({ now })
  return Promise.resolve({ here: state, there: state, pass, end: () => state.close() })
}

const throughPrimary = (): Promise<Pair> => {
  const workers: RelayedState[] = []
  const { now, pass } = passing()
  const primary = new MemoryState({ now })
  const ask = (call: SharedCall): Promise<SharedReply> => {
    if (call.kind === 'revoke')
      for (const worker of workers) worker.addRevoked([[call.key, call.untilUnixSeconds]])
    return answerCall({ shared: primary, limiter: new RateBuckets(now) }, call)
  }
  const worker = () => new RelayedState(ask, now)
  const [here, there] = [worker(), worker()]
  workers.push(here, there)
  const end = async (): Promise<void> => {
    await Promise.all([here.close(), there.close(), primary.close()])
  }
  return Promise.resolve({ here, there, pass, end })
}

const inRedis = async (): Promise<Pair> => {
  const redis = await startRedis()
  const [here, there] = [openRedisState(redis.url), openRedisState(redis.url)]
  await haveHealth('ok', here, there)
  // A Redis has no clock of its own to move: what it holds for a time it holds for so much less.
  const pass = async (ms: number): Promise<void> => {
    await redis.tell(`EVAL "${SHORTEN}" 0 ${ms}`)
  }
  const end = async (): Promise<void> => {
    await Promise.all([here.close(), there.close()])
    await redis[Symbol.asyncDispose]()
  }
  return { here, there, pass, end }
}

const SHORTEN = `for _, key in ipairs(redis.call('KEYS', '*')) do
  local left = redis.call('PTTL', key)
  if left >= 0 then redis.call('PEXPIRE', key, left - ARGV[1]) end
end`.replaceAll('\n', ' ')

const soon = (): number => Math.floor(Date.now() / 1000) + 60

const here: Availability = { available: true }

const homes: readonly (readonly [string, Availability, () => Promise<Pair>])[] = [
  ['memory', here, inMemory],
  ['the primary', here, throughPrimary],
  ['Redis', redisAvailability(), inRedis],
]

const isOneState = (open: () => Promise<Pair>): void => {
  let pair: Pair | undefined
  afterEach(async () => {
    await pair?.end()
    pair = undefined
  })

  it('caches a value for both, whatever it was, for its time', async () => {
    pair = await open()
    const { here, there, pass } = pair
    expect(await here.cache('upstream-token:a', 'one', 60)).toBe(true)
    expect(await there.cache('upstream-token:a', 'two', 60)).toBe(true)
    expect(await here.read('upstream-token:a')).toBe('two')
    await pass(61_000)
    expect(await there.read('upstream-token:a')).toBeUndefined()
  })

  it('gives a key to the first who takes it, of many at once', async () => {
    pair = await open()
    const { here, there } = pair
    const takers = Array.from({ length: 20 }, (_x, at) => (at % 2 === 0 ? here : there))
    const taken = await Promise.all(takers.map((state) => state.takeOnce('state:1', 60)))
    expect(taken.filter(Boolean)).toHaveLength(1)
    expect(await there.takeOnce('state:1', 60)).toBe(false)
    expect(await there.takeOnce('__proto__', 60)).toBe(true)
    expect(await here.takeOnce('constructor', 60)).toBe(true)
  })

  it('forgets what has expired', async () => {
    pair = await open()
    const { here, there, pass } = pair
    expect(await here.takeOnce('short', 600)).toBe(true)
    await pass(540_000)
    expect(await there.takeOnce('short', 600)).toBe(false)
    await pass(60_000)
    expect(await there.takeOnce('short', 600)).toBe(true)
  })

  it('replaces only what stands there', async () => {
    pair = await open()
    const { here, there } = pair
    expect(await here.read('family:1')).toBeUndefined()
    expect(await here.replace('family:1', 'b', 'c', 60)).toBe(false)
    expect(await here.replace('family:1', undefined, 'a', 60)).toBe(true)
    expect(await there.replace('family:1', undefined, 'x', 60)).toBe(false)
    expect(await there.read('family:1')).toBe('a')
    const raced = await Promise.all(
      Array.from({ length: 10 }, (_x, at) =>
        (at % 2 === 0 ? here : there).replace('family:1', 'a', `b${at}`, 60),
      ),
    )
    expect(raced.filter(Boolean)).toHaveLength(1)
  })

  it('counts within a window', async () => {
    pair = await open()
    const { here, there, pass } = pair
    const counts = await Promise.all([here, there, here].map((state) => state.increment('f', 600)))
    expect(counts.toSorted()).toEqual([1, 2, 3])
    await pass(540_000)
    expect(await there.increment('f', 600)).toBe(4)
    await pass(60_000)
    expect(await here.increment('f', 600)).toBe(1)
  })

  it('tells every process what is revoked', async () => {
    pair = await open()
    const { here, there } = pair
    expect(here.isRevoked('ticket:1')).toBe(false)
    await here.revoke('ticket:1', soon())
    expect(here.isRevoked('ticket:1')).toBe(true)
    await eventually(() => {
      expect(there.isRevoked('ticket:1')).toBe(true)
    })
    await here.revoke('ticket:old', soon() - 3600)
    expect(here.isRevoked('ticket:old')).toBe(false)
    expect(there.isRevoked('constructor')).toBe(false)
  })
}

for (const [home, availability, open] of homes)
  describeWhenAvailable(`shared state in ${home}`, availability, () => {
    isOneState(open)
  })

describe('the journal', () => {
  it('brings back what was revoked, used and replaced', async () => {
    await using dir = await makeTempDir()
    const nowSeconds = (): number => Date.now() / 1000
    const open = async () =>
      new MemoryState({ now: Date.now, ...(await openJournal(dir.path, nowSeconds)) })
    const first = await open()
    await Promise.all([
      first.takeOnce('state:1', 60),
      first.revoke('ticket:1', soon()),
      first.replace('family:1', undefined, 'a', 60),
    ])
    await first.replace('family:1', 'a', 'b', 60)
    await first.close()
    const second = await open()
    expect(await second.takeOnce('state:1', 60)).toBe(false)
    expect(second.isRevoked('ticket:1')).toBe(true)
    expect(await second.read('family:1')).toBe('b')
    await second.close()
  })

  it('forgets what has expired or was replaced once that is most of it, and nothing else', async () => {
    await using dir = await makeTempDir()
    const clock = createManualClock({ startMs: 1_000_000 })
    const nowSeconds = (): number => clock.now() / 1000
    const { journal } = await openJournal(dir.path, nowSeconds)
    const file = join(dir.path, 'shared/journal')
    const keep = (name: string, until: number): Promise<unknown> =>
      Promise.all(
        Array.from({ length: 7000 }, (_x, at) =>
          journal.append({ kind: 'revoked', key: `${name}:${at}`, until }),
        ),
      )
    const entriesOf = async (): Promise<number> =>
      (await readFile(file, 'utf8')).split('"kind"').length - 1
    await keep('short', 1001)
    await keep('long', 9999)
    expect(await entriesOf()).toBe(14_000)
    clock.advance(1_000_000)
    await keep('late', 9999)
    // Of 21,000 entries 14,000 still count.
    expect(await entriesOf()).toBe(21_000)
    await keep('late', 9998)
    expect(await entriesOf()).toBe(14_000)
    await journal.close()
    const { journal: next, restored } = await openJournal(dir.path, nowSeconds)
    expect(restored).toHaveLength(14_000)
    await next.close()
  })
})

describe('room in memory', () => {
  const fill = async (state: SharedState, kind: string, ttlSeconds: number): Promise<number> => {
    for (let count = 0; ; count++)
      try {
        await state.takeOnce(`${kind}:filler-${count}`, ttlSeconds)
      } catch (error) {
        expect(error).toBeInstanceOf(SharedStateError)
        return count
      }
  }

  it('is bounded for each kind: what anybody may cause leaves room for all else', async () => {
    const clock = createManualClock()
    const state = new MemoryState({ now: () => clock.now() })
    await state.replace('refresh:1', undefined, 'a', 3600)
    expect(await fill(state, 'oidc-state', 600)).toBe(200_000)
    expect(await state.replace('refresh:1', 'a', 'b', 3600)).toBe(true)
    expect(await state.replace('refresh:2', undefined, 'a', 3600)).toBe(true)
    expect(await state.takeOnce('oidc-jti:1', 600)).toBe(true)
    await state.revoke('ticket:1', clock.now() / 1000 + 60)
    expect(state.isRevoked('ticket:1')).toBe(true)
    // What is held can still be told from what is new.
    expect(await state.takeOnce('oidc-state:filler-0', 600)).toBe(false)
    await state.close()
  })

  it('of deliveries is bounded for each realm, and keeps some for every other one', () => {
    const values = new ValuesByKind()
    const fill = (owner: string): number => {
      for (let count = 0; ; count++) {
        const key = `signed:${owner}:${count}`
        if (!values.hasRoomFor(key, 0)) return count
        values.set(key, { value: '1', until: 300 })
      }
    }
    expect(['a', 'b', 'c', 'd', 'e', 'f'].map(fill)).toEqual([
      50_000, 50_000, 50_000, 50_000, 1000, 1000,
    ])
    values.sweep(300)
    values.set('signed:a:1', { value: '1', until: 600 })
    values.delete('signed:a:1')
    expect(fill('a')).toBe(50_000)
    expect(fill('oidc')).toBe(50_000)
  })

  it('comes back when what was there has expired, looked for once a second', async () => {
    const clock = createManualClock()
    const state = new MemoryState({ now: () => clock.now() })
    const filled = await fill(state, 'unheard of', 1)
    expect(await fill(state, '__proto__', 1)).toBe(0)
    expect(await fill(state, 'oidc-jti', 1)).toBe(filled)
    clock.advance(999)
    await expect(state.takeOnce('unheard of:new', 1)).rejects.toBeInstanceOf(SharedStateError)
    clock.advance(1)
    expect(await state.takeOnce('unheard of:new', 1)).toBe(true)
    await state.close()
  })
})

/** A journal that writes nothing down while it has a fault. */
const faultyJournal = () => {
  const disk: { fault: Error | undefined; readonly kept: string[] } = {
    fault: new Error('the disk is full'),
    kept: [],
  }
  const journal: Journal = {
    append: ({ key }) => {
      if (disk.fault !== undefined) return Promise.reject(disk.fault)
      disk.kept.push(key)
      return Promise.resolve()
    },
    close: () => Promise.resolve(),
  }
  return { disk, journal }
}

describe('counts in memory', () => {
  it('go on while very many others are counted, as long as they are used', async () => {
    const state = new MemoryState({ now: Date.now })
    for (let at = 0; at < 300_000; at++) {
      if (at % 50_000 === 0) await state.increment('failures-of-user:alice', 3600)
      await state.increment(`failures:${at}`, 3600)
    }
    expect(await state.increment('failures-of-user:alice', 3600)).toBe(7)
    expect(await state.increment('failures:0', 3600)).toBe(1)
    await state.close()
  })
})

describe('what could not be kept', () => {
  it('counts as not done, and may be done again', async () => {
    const { disk, journal } = faultyJournal()
    const state = new MemoryState({ now: Date.now, journal })
    await expect(state.takeOnce('state:1', 60)).rejects.toBeInstanceOf(SharedStateError)
    disk.fault = undefined
    expect(await state.takeOnce('state:1', 60)).toBe(true)
    await state.replace('family:1', undefined, 'a', 60)
    disk.fault = new Error('the disk is full')
    await expect(state.replace('family:1', 'a', 'b', 60)).rejects.toThrow('the disk is full')
    disk.fault = undefined
    expect(await state.replace('family:1', 'a', 'b', 60)).toBe(true)
    await state.close()
  })
})

describe('a revocation that could not be kept', () => {
  it('is tried again each minute', async () => {
    jest.useFakeTimers()
    const { disk, journal } = faultyJournal()
    try {
      const state = new MemoryState({ now: Date.now, journal })
      await expect(state.revoke('ticket:1', soon() + 3600)).rejects.toThrow('the disk is full')
      await jest.advanceTimersByTimeAsync(60_000)
      disk.fault = undefined
      await jest.advanceTimersByTimeAsync(180_000)
      expect(disk.kept).toEqual(['ticket:1'])
      await state.close()
    } finally {
      jest.useRealTimers()
    }
  })

  it('is tried again when it is requested again', async () => {
    const { disk, journal } = faultyJournal()
    const state = new MemoryState({ now: Date.now, journal })
    const until = soon()
    await expect(state.revoke('ticket:1', until)).rejects.toThrow('the disk is full')
    expect(state.isRevoked('ticket:1')).toBe(true)
    await expect(state.revoke('ticket:1', until)).rejects.toThrow('the disk is full')
    disk.fault = undefined
    await state.revoke('ticket:1', until)
    await state.revoke('ticket:1', until)
    expect(disk.kept).toEqual(['ticket:1'])
    await state.close()
  })
})
