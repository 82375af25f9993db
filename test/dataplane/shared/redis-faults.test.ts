// What one replica revokes the others learn, whatever happens meanwhile to Redis or to the way there; while it
// cannot be told, or heard, the state is away.

import { describe, expect, it } from '@jest/globals'
import type { SharedState } from '../../../dataplane/shared/shared-state.ts'
import { eventually } from '../../support/eventually.ts'
import { redisAvailability, startRedis } from '../../support/redis-server.ts'
import { startTcpRelay } from '../../support/tcp-relay.ts'
import { describeWhenAvailable } from '../../support/when-available.ts'
import { startFakeRedis } from './fake-redis.ts'
import { limitTake } from './limit-take.ts'
import { haveHealth, healthChanges, openRedisState } from './open-redis-state.ts'

const soon = (): number => Math.floor(Date.now() / 1000) + 60
const urlOf = ({ port }: { readonly port: number }): string => `redis://127.0.0.1:${port}`
const close = (...states: readonly SharedState[]): Promise<unknown> =>
  Promise.all(states.map((state) => state.close()))

const learns = (state: SharedState, key: string): Promise<void> =>
  eventually(
    () => {
      expect(state.isRevoked(key)).toBe(true)
    },
    { withinMs: 15_000 },
  )

describe('a Redis that refuses', () => {
  it('gets a revocation once it accepts it', async () => {
    await using redis = await startFakeRedis()
    const state = openRedisState(redis.url)
    await haveHealth('ok', state)
    redis.refusals.set('EVAL', 1)
    await expect(state.revoke('ticket:1', soon())).rejects.toThrow('Redis could not do it')
    expect(state.isRevoked('ticket:1')).toBe(true)
    await eventually(() => {
      expect(redis.asked.filter((name) => name === 'EVAL')).toHaveLength(2)
    })
    expect(state.health).toBe('ok')
    await state.close()
  })

  it.each(['SET', 'ZRANGEBYSCORE'])('is called again at its start: %s', async (command) => {
    await using redis = await startFakeRedis()
    redis.refusals.set(command, 1)
    const state = openRedisState(redis.url)
    const askedBefore: number[] = []
    state.onHealth(() => askedBefore.push(redis.asked.filter((name) => name === command).length))
    await haveHealth('ok', state)
    expect(askedBefore).toEqual([2])
    await state.close()
  })

  it('is listened to before anything is loaded, also when it hung up at first', async () => {
    await using redis = await startFakeRedis()
    redis.hangUps.add('SUBSCRIBE')
    const state = openRedisState(redis.url)
    await haveHealth('ok', state)
    expect(redis.asked).toContain('SUBSCRIBE')
    expect(redis.asked.indexOf('SUBSCRIBE')).toBeLessThan(redis.asked.lastIndexOf('ZRANGEBYSCORE'))
    await state.close()
  })
})

describeWhenAvailable('a real Redis', redisAvailability(), () => {
  it('that goes away is away at once, and learns again what was revoked meanwhile', async () => {
    await using redis = await startRedis()
    const errors: string[] = []
    const state = openRedisState(redis.url, { onTrouble: (message) => errors.push(message) })
    const changes = healthChanges(state)
    await haveHealth('ok', state)
    await state.revoke('ticket:1', soon())
    await redis.kill()
    await haveHealth('away', state)
    await expect(state.takeOnce('x', 60)).rejects.toThrow('Redis is away')
    await expect(state.revoke('ticket:2', soon())).rejects.toThrow()
    expect(state.isRevoked('ticket:2')).toBe(true)
    await redis.restart()
    await haveHealth('ok', state)
    const fresh = openRedisState(redis.url)
    await haveHealth('ok', fresh)
    expect([fresh.isRevoked('ticket:1'), fresh.isRevoked('ticket:2')]).toEqual([true, true])
    expect(changes).toEqual(['ok', 'away', 'ok'])
    expect(errors.length).toBeGreaterThan(0)
    await close(state, fresh)
  }, 60_000)

  it('from which one alone was cut off: it tells the others when it is back', async () => {
    await using redis = await startRedis()
    await using relay = await startTcpRelay(redis.port)
    const [cutOff, other] = [openRedisState(urlOf(relay)), openRedisState(redis.url)]
    await haveHealth('ok', cutOff, other)
    relay.cut()
    await expect(cutOff.revoke('ticket:1', soon())).rejects.toThrow()
    await learns(other, 'ticket:1')
    await haveHealth('ok', cutOff)
    await close(cutOff, other)
  }, 60_000)

  it('that does not answer is away, and what was revoked meanwhile is heard afterwards', async () => {
    await using redis = await startRedis()
    await using relay = await startTcpRelay(redis.port)
    // On a machine at a halt a good connection counts as frozen too, and is opened anew.
    const times = { pingEveryMs: 50, silenceMs: 300 }
    const [cutOff, other] = [openRedisState(urlOf(relay), { times }), openRedisState(redis.url)]
    await haveHealth('ok', cutOff, other)
    relay.freeze()
    await other.revoke('ticket:1', soon())
    await haveHealth('away', cutOff)
    relay.thaw()
    await haveHealth('ok', cutOff)
    expect(cutOff.isRevoked('ticket:1')).toBe(true)
    await close(cutOff, other)
  }, 60_000)

  it.each([
    ['is full', 'CONFIG SET maxmemory 1', 'CONFIG SET maxmemory 0', 'OOM'],
    [
      'lacks the replicas it needs',
      'CONFIG SET min-replicas-to-write 1',
      'CONFIG SET min-replicas-to-write 0',
      'NOREPLICAS',
    ],
    [
      'takes no more scripts',
      'ACL SETUSER default -eval -set',
      'ACL SETUSER default +eval +set',
      'NOPERM',
    ],
  ])(
    'that %s is away for all, and hears it all afterwards',
    async (_, fault, cure, reason) => {
      await using redis = await startRedis()
      const errors: string[] = []
      const one = openRedisState(redis.url, { onTrouble: (message) => errors.push(message) })
      const two = openRedisState(redis.url)
      let ticket = 'ticket:'
      // The round of every second may meet the fault before the revocation does: then once more.
      await eventually(
        async () => {
          await redis.tell(cure)
          await haveHealth('ok', one, two)
          ticket += '1'
          await redis.tell(fault)
          await expect(one.revoke(ticket, soon())).rejects.toThrow(reason)
        },
        { withinMs: 20_000 },
      )
      await haveHealth('away', one, two)
      expect(errors.join()).toContain(reason)
      await redis.tell(cure)
      await haveHealth('ok', one, two)
      await learns(two, ticket)
      await close(one, two)
    },
    60_000,
  )

  it('behind whose address another one serves by now is left for that, without being cut off', async () => {
    await using before = await startRedis()
    await using after = await startRedis()
    await using relay = await startTcpRelay(before.port)
    const state = openRedisState(urlOf(relay))
    const changes = healthChanges(state)
    await haveHealth('ok', state)
    await state.revoke('ticket:1', soon())
    relay.leadTo(after.port)
    // Of a failover: what replication has not brought there is lost.
    await before.tell(`REPLICAOF 127.0.0.1 ${after.port}`)
    await eventually(
      () => {
        expect(changes).toEqual(['ok', 'away', 'ok'])
      },
      { withinMs: 15_000 },
    )
    await state.revoke('ticket:2', soon())
    const fresh = openRedisState(after.url)
    await haveHealth('ok', fresh)
    expect([fresh.isRevoked('ticket:1'), fresh.isRevoked('ticket:2')]).toEqual([true, true])
    await close(state, fresh)
  }, 60_000)

  it('that lost its data without a word gets it again from each process that has it', async () => {
    await using redis = await startRedis()
    const state = openRedisState(redis.url)
    await haveHealth('ok', state)
    await state.revoke('ticket:1', soon())
    await redis.tell('FLUSHALL')
    // It begins with nothing, and finds nothing: it must not be taken for one who has told all.
    const fresh = openRedisState(redis.url)
    await haveHealth('ok', fresh)
    await learns(fresh, 'ticket:1')
    expect(state.health).toBe('ok')
    await close(state, fresh)
  }, 60_000)

  it('needs no more rights than are documented', async () => {
    await using redis = await startRedis()
    await redis.tell(`ACL SETUSER gateway on >secret ${RIGHTS}`)
    const errors: string[] = []
    const url = `redis://gateway:secret@127.0.0.1:${redis.port}`
    const [one, two] = [
      openRedisState(url, { onTrouble: (message) => errors.push(message) }),
      openRedisState(url),
    ]
    await haveHealth('ok', one, two)
    expect(await one.takeOnce('state:1', 60)).toBe(true)
    expect(await one.replace('family:1', undefined, 'a', 60)).toBe(true)
    expect(await two.replace('family:1', 'a', 'b', 60)).toBe(true)
    expect(await two.read('family:1')).toBe('b')
    expect(await one.increment('failures', 60)).toBe(1)
    await one.revoke('ticket:1', soon())
    await learns(two, 'ticket:1')
    expect(await one.tokens.lease([limitTake()], [0])).toMatchObject([{ isAllowed: true }])
    expect(await two.tokens.countProcesses()).toBe(2)
    expect(errors).toEqual([])
    await close(one, two)
  }, 60_000)
})

const RIGHTS =
  '~svc-gateway:* &svc-gateway:* +@connection +@read +@write +@pubsub +eval -@dangerous'
