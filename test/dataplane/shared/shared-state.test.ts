import { afterEach, describe, expect, it } from '@jest/globals'
import { openJournal } from '../../../dataplane/shared/journal.ts'
import { createMemoryState } from '../../../dataplane/shared/memory-state.ts'
import {
  answerCall,
  createRelayedState,
  type SharedCall,
  type SharedReply,
} from '../../../dataplane/shared/relayed-state.ts'
import type { SharedState } from '../../../dataplane/shared/shared-state.ts'
import { eventually } from '../../support/eventually.ts'
import { redisAvailability, startRedis } from '../../support/redis-server.ts'
import type { Availability } from '../../support/routers/recipe.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { describeWhenAvailable } from '../../support/when-available.ts'
import { haveHealth, openRedisState } from './open-redis-state.ts'

/** Two ends of one state: what one does the other must see. */
interface Pair {
  readonly here: SharedState
  readonly there: SharedState
  readonly end: () => Promise<void>
}

const inMemory = (): Promise<Pair> => {
  const state = createMemoryState({ now: Date.now })
  return Promise.resolve({ here: state, there: state, end: () => state.close() })
}

const throughPrimary = (): Promise<Pair> => {
  const workers: ReturnType<typeof createRelayedState>[] = []
  const primary = createMemoryState({ now: Date.now })
  const ask = (call: SharedCall): Promise<SharedReply> => {
    if (call.kind === 'revoke')
      for (const worker of workers) worker.addRevoked([[call.key, call.untilUnixSeconds]])
    return answerCall(primary, call)
  }
  const worker = () => createRelayedState(ask, Date.now)
  const [here, there] = [worker(), worker()]
  workers.push(here, there)
  const end = async (): Promise<void> => {
    await Promise.all([here.close(), there.close(), primary.close()])
  }
  return Promise.resolve({ here, there, end })
}

const inRedis = async (): Promise<Pair> => {
  const redis = await startRedis()
  const [here, there] = [openRedisState(redis.url), openRedisState(redis.url)]
  await haveHealth('ok', here, there)
  const end = async (): Promise<void> => {
    await Promise.all([here.close(), there.close()])
    await redis[Symbol.asyncDispose]()
  }
  return { here, there, end }
}

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
    const { here, there } = pair
    expect(await here.takeOnce('short', 1)).toBe(true)
    await eventually(async () => {
      expect(await there.takeOnce('short', 60)).toBe(true)
    })
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
    const { here, there } = pair
    const counts = await Promise.all([here, there, here].map((state) => state.increment('f', 1)))
    expect(counts.toSorted()).toEqual([1, 2, 3])
    await eventually(async () => {
      expect(await here.increment('f', 60)).toBe(1)
    })
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
      createMemoryState({ now: Date.now, ...(await openJournal(dir.path, nowSeconds)) })
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
})

describe('a revocation that could not be kept', () => {
  it('is tried again when it is asked for again', async () => {
    const kept: string[] = []
    let fault: Error | undefined = new Error('the disk is full')
    const journal = {
      append: ({ key }: { readonly key: string }): Promise<void> => {
        if (fault !== undefined) return Promise.reject(fault)
        kept.push(key)
        return Promise.resolve()
      },
      close: () => Promise.resolve(),
    }
    const state = createMemoryState({ now: Date.now, journal })
    const until = soon()
    await expect(state.revoke('ticket:1', until)).rejects.toThrow('the disk is full')
    expect(state.isRevoked('ticket:1')).toBe(true)
    await expect(state.revoke('ticket:1', until)).rejects.toThrow('the disk is full')
    fault = undefined
    await state.revoke('ticket:1', until)
    await state.revoke('ticket:1', until)
    expect(kept).toEqual(['ticket:1'])
    await state.close()
  })
})
