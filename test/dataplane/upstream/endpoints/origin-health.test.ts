import { describe, expect, it } from '@jest/globals'
import { EndpointSet } from '../../../../dataplane/upstream/endpoints/endpoint-set.ts'
import {
  type HealthEvent,
  HealthRegistry,
  type OriginHealth,
  type RequestReport,
} from '../../../../dataplane/upstream/endpoints/origin-health.ts'
import { createIdlePools } from '../../../../dataplane/upstream/idle-pools.ts'
import type { OriginPool } from '../../../../dataplane/upstream/origin-pool.ts'

const rig = () => {
  let nowMs = 0
  const events: HealthEvent[] = []
  const registry = new HealthRegistry({ now: () => nowMs, onEvent: (event) => events.push(event) })
  const set = new EndpointSet()
  set.update(
    ['a', 'b'].map((address) => ({ address, family: 4 })),
    0,
    64,
  )
  const [endpoint] = set.members
  const fail = (
    health: OriginHealth,
    realm: string | undefined,
    fault: RequestReport['fault'] = 'status',
  ): void => {
    if (endpoint === undefined) throw new Error('there are two')
    for (let count = 0; count < 5; count++)
      health.report({ endpoint, realm, fault, begunAt: registry.ejectionCounter.count }, set)
  }
  const isOut = (health: OriginHealth, realm: string | undefined): boolean =>
    endpoint !== undefined && health.sharesFor(realm)?.[0]?.(endpoint) === 0
  return {
    events,
    registry,
    set,
    fail,
    isOut,
    pass: (ms: number): void => {
      nowMs += ms
    },
  }
}

describe('a fault', () => {
  it.each([
    ['refused', true],
    ['unreachable', true],
    ['connect_timeout', true],
    ['tls', true],
    ['reset', true],
    ['status', false],
    ['timeout', false],
    ['malformed', false],
  ] as const)('%s counts for all: %s', (fault, isShared) => {
    const { registry, fail, isOut, events } = rig()
    const health = registry.acquire('http://up')
    fail(health, 'a', fault)
    expect([isOut(health, 'a'), isOut(health, 'b'), isOut(health, undefined)]).toEqual([
      true,
      isShared,
      isShared,
    ])
    expect(events).toMatchObject([{ realm: isShared ? undefined : 'a', fault }])
  })

  it('of no realm that others might not see counts for none', () => {
    const { registry, fail, events } = rig()
    fail(registry.acquire('http://up'), undefined)
    expect([events, registry.size]).toEqual([[], 0])
  })

  it('is known to all who use the origin at the time, and forgotten with the last', () => {
    const { registry, fail, isOut } = rig()
    const health = registry.acquire('http://up')
    fail(health, 'a')
    expect(registry.acquire('http://up')).toBe(health)
    registry.release(health)
    expect(isOut(registry.acquire('http://up'), 'a')).toBe(true)
    registry.release(health)
    registry.release(health)
    expect(registry.size).toBe(0)
    expect(isOut(registry.acquire('http://up'), 'a')).toBe(false)
  })
})

describe('detectors of realms', () => {
  it('are bounded in sum, and it is who has most that loses one', () => {
    const { registry, fail, isOut } = rig()
    const quiet = registry.acquire('http://quiet')
    fail(quiet, 'quiet')
    const origins = Array.from({ length: 2000 }, (_, at) => registry.acquire(`http://o${at}`))
    for (const each of origins) fail(each, 'loud')
    expect(registry.size).toBe(500)
    expect(isOut(quiet, 'quiet')).toBe(true)
    const last = origins.at(-1)
    expect(last !== undefined && isOut(last, 'loud')).toBe(true)
  })

  it('of thousands of realms are bounded, too', () => {
    const { registry, fail } = rig()
    const health = registry.acquire('http://up')
    for (let at = 0; at < 2000; at++) fail(health, `r${at}`)
    expect([registry.size, health.realms.size]).toEqual([500, 500])
  })

  it('that are not needed go first', () => {
    const { registry, set, pass } = rig()
    const health = registry.acquire('http://up')
    const [endpoint] = set.members
    if (endpoint === undefined) throw new Error('there are two')
    for (let at = 0; at < 300; at++) {
      health.report({ endpoint, realm: `r${at}`, fault: 'status', begunAt: 0 }, set)
      if (at === 290) pass(61_000)
    }
    expect(registry.size).toBe(9)
  })
})

describe('a probe', () => {
  it('is one request, of the realm that has ejected the address, that need not avoid it', () => {
    const { registry, fail, set, pass } = rig()
    const health = registry.acquire('http://up')
    const [endpoint] = set.members
    fail(health, 'a')
    expect(health.findProbe(set, 'a', undefined, true)).toBeUndefined()
    pass(10_000)
    expect(health.findProbe(set, 'b', undefined, true)).toBeUndefined()
    expect(health.findProbe(set, 'a', endpoint, true)).toBeUndefined()
    expect(health.findProbe(set, 'a', undefined, true)).toBe(endpoint)
    expect(health.findProbe(set, 'a', undefined, true)).toBeUndefined()
  })

  it('is not for what is out for all, where it is due for one realm only', () => {
    const { registry, fail, set, pass } = rig()
    const health = registry.acquire('http://up')
    fail(health, 'a')
    pass(9000)
    fail(health, 'a', 'refused')
    pass(2000)
    expect(health.findProbe(set, 'a', undefined, true)).toBeUndefined()
    pass(8000)
    expect(health.findProbe(set, 'a', undefined, true)).toBe(set.members[0])
  })
})

describe('pools without connections', () => {
  const poolOf = (isLiteral: boolean, isBlank = true): OriginPool =>
    ({
      addresses: { isLiteral, set: { size: 1 } },
      health: { isBlank },
    }) as unknown as OriginPool

  it('are kept for a minute, five hundred of them', () => {
    let nowMs = 0
    const gone: OriginPool[] = []
    const idlePools = createIdlePools(
      () => nowMs,
      (pool) => gone.push(pool),
    )
    const [literal, named] = [poolOf(true), poolOf(false)]
    idlePools.put('literal', literal)
    idlePools.put('named', named)
    expect([idlePools.take('literal'), idlePools.take('named'), idlePools.take('named')]).toEqual([
      undefined,
      named,
      undefined,
    ])
    expect(gone).toEqual([literal])
    // Nothing is known of an address that has not failed.
    const failed = poolOf(true, false)
    idlePools.put('literal', failed)
    expect(idlePools.take('literal')).toBe(failed)
    for (let at = 0; at < 600; at++) idlePools.put(`o${at}`, poolOf(false))
    expect([
      idlePools.size,
      gone.length,
      idlePools.take('o99'),
      idlePools.take('o100') !== undefined,
    ]).toEqual([500, 101, undefined, true])
    nowMs = 60_000
    expect([idlePools.take('o200'), idlePools.size, gone.length]).toEqual([undefined, 0, 600])
  })
})
