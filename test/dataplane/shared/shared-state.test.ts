import { afterEach, describe, expect, it } from '@jest/globals'
import { openJournal } from '../../../dataplane/shared/journal.ts'
import { createMemoryState } from '../../../dataplane/shared/memory-state.ts'
import { createRedisState } from '../../../dataplane/shared/redis-state.ts'
import {
  answerCall,
  createRelayedState,
  type SharedCall,
  type SharedReply,
} from '../../../dataplane/shared/relayed-state.ts'
import type { SharedState } from '../../../dataplane/shared/shared-state.ts'
import { eventually } from '../../support/eventually.ts'
import { hasRedis, startRedis } from '../../support/redis-server.ts'
import { startFakeRedis } from './fake-redis.ts'
import { isRealRequired } from '../../support/routers/recipe.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

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
  const open = (): SharedState =>
    createRedisState({ url: redis.url, now: Date.now, onTrouble: () => undefined, extraCa: [] })
  const [here, there] = [open(), open()]
  await eventually(() => {
    expect([here.health, there.health]).toEqual(['ok', 'ok'])
  })
  const end = async (): Promise<void> => {
    await Promise.all([here.close(), there.close()])
    await redis[Symbol.asyncDispose]()
  }
  return { here, there, end }
}

const REAL = isRealRequired() || hasRedis()

const homes: readonly (readonly [string, () => Promise<Pair>])[] = [
  ['memory', inMemory],
  ['the primary', throughPrimary],
  ...(REAL ? [['Redis', inRedis] as const] : []),
]

if (!REAL) console.warn('no redis-server on this machine: its tests are left out')

const soon = (): number => Math.floor(Date.now() / 1000) + 60

describe.each(homes)('shared state in %s', (_, open) => {
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
  it('is tried again when it is asked for again: journal', async () => {
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

  it('is tried again when it is asked for again: Redis', async () => {
    await using redis = await startFakeRedis()
    const state = openAt(redis.url)
    await eventually(() => {
      expect(state.health).toBe('ok')
    })
    redis.refusals.set('ZADD', 1)
    const until = soon()
    await expect(state.revoke('ticket:1', until)).rejects.toThrow('Redis could not do it')
    expect(state.isRevoked('ticket:1')).toBe(true)
    await state.revoke('ticket:1', until)
    expect(redis.asked.filter((name) => name === 'ZADD')).toHaveLength(2)
    expect(redis.asked).toContain('PUBLISH')
    await state.close()
  })
})

describe('a Redis that is not ready yet', () => {
  it('is asked again for what is revoked', async () => {
    await using redis = await startFakeRedis()
    redis.refusals.set('ZRANGEBYSCORE', 1)
    const state = openAt(redis.url)
    await eventually(() => {
      expect(redis.refusals.get('ZRANGEBYSCORE')).toBe(0)
    })
    expect(state.health).toBe('away')
    await eventually(() => {
      expect(state.health).toBe('ok')
    })
    await state.close()
  })

  it('is listened to before anything is loaded, also when it hung up at first', async () => {
    await using redis = await startFakeRedis()
    redis.hangUps.add('SUBSCRIBE')
    const state = openAt(redis.url)
    await eventually(() => {
      expect(state.health).toBe('ok')
    })
    expect(redis.asked).toContain('SUBSCRIBE')
    expect(redis.asked.indexOf('SUBSCRIBE')).toBeLessThan(redis.asked.lastIndexOf('ZRANGEBYSCORE'))
    await state.close()
  })
})

const openAt = (url: string): SharedState =>
  createRedisState({ url, now: Date.now, onTrouble: () => undefined, extraCa: [] })

const describeRedis = REAL ? describe : describe.skip

describeRedis('a Redis that goes away', () => {
  it('is away at once, refuses, and learns again what was revoked meanwhile', async () => {
    await using redis = await startRedis()
    const troubles: string[] = []
    const open = (): SharedState =>
      createRedisState({
        url: redis.url,
        now: Date.now,
        onTrouble: (message) => troubles.push(message),
        extraCa: [],
      })
    const state = open()
    const changes: string[] = []
    state.onHealth(() => changes.push(state.health))
    await eventually(() => {
      expect(state.health).toBe('ok')
    })
    await state.revoke('ticket:1', soon())
    await redis.kill()
    await eventually(() => {
      expect(state.health).toBe('away')
    })
    await expect(state.takeOnce('x', 60)).rejects.toThrow('Redis is away')
    await expect(state.revoke('ticket:2', soon())).rejects.toThrow()
    expect(state.isRevoked('ticket:2')).toBe(true)
    await redis.restart()
    await eventually(() => {
      expect(state.health).toBe('ok')
    })
    const fresh = open()
    await eventually(() => {
      expect(fresh.health).toBe('ok')
    })
    expect([fresh.isRevoked('ticket:1'), fresh.isRevoked('ticket:2')]).toEqual([true, true])
    expect(changes).toEqual(['ok', 'away', 'ok'])
    expect(troubles.length).toBeGreaterThan(0)
    await Promise.all([state.close(), fresh.close()])
  })
})
