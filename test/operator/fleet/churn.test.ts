import { afterEach, describe, expect, it } from '@jest/globals'
import { aDesiredSet, aDocument } from '../../support/desired.ts'
import { eventually } from '../../support/eventually.ts'
import type { FakeDataPlane } from '../../support/fake-data-plane.ts'
import { freePort } from '../../support/free-port.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { SYSTEM_CLOCK } from '../../../base/clock.ts'
import {
  aFleet,
  allSynced,
  aPlane,
  closeAll,
  many,
  named,
  planes,
  putsOf,
  report,
  synced,
  ToldDataPlanes,
  whileTimePasses,
} from './rig.ts'

afterEach(closeAll)

describe('data planes that come and go', () => {
  it('are adopted, replaced and removed, and reported', async () => {
    const [first, second] = [await aPlane(), await aPlane()]
    const told = new ToldDataPlanes()
    const gone: string[] = []
    const { fleet, reports } = aFleet([], {
      dataPlanes: told,
      onGone: (name) => gone.push(name),
    })
    fleet.apply(many(1))
    told.tell([named('a', first)])
    expect(reports.map(({ phase }) => phase)).toEqual(['connecting'])
    await synced(fleet)
    told.tell([named('a', second), named('b', first)])
    await eventually(() => {
      expect(second.specs.size).toBe(1)
      expect(fleet.reports().map(({ phase }) => phase)).toEqual(['synced', 'synced'])
    })
    told.tell([named('b', first)])
    expect(fleet.reports().map(({ dataPlane }) => dataPlane.name)).toEqual(['b'])
    expect(gone).toEqual(['a'])
    expect([...fleet.counters().dataPlanes.keys()]).toEqual(['b'])
  })

  it('do not disturb the others', async () => {
    const fakes = await planes(20)
    const told = new ToldDataPlanes()
    const all = fakes.map((fake, i) => named(`pod-${i}`, fake))
    const { fleet, reports } = aFleet([], { dataPlanes: told })
    fleet.apply(many(5))
    told.tell(all.slice(0, 19))
    await allSynced(fleet)
    reports.length = 0
    const before = fakes.map(({ syncs }) => syncs.length)
    told.tell(all)
    await allSynced(fleet)
    told.tell(all.slice(1).map((dataPlane) => ({ ...dataPlane, labels: {} })))
    await allSynced(fleet)
    expect(new Set(reports.map(({ dataPlane }) => dataPlane.name))).toEqual(new Set(['pod-19']))
    expect(fakes.slice(1, 19).map(({ syncs }) => syncs.length)).toEqual(before.slice(1, 19))
  })

  it('with other labels keep what they hold, and get what those select', async () => {
    const plane = await aPlane()
    const told = new ToldDataPlanes()
    const { fleet, reports } = aFleet([], { dataPlanes: told })
    const edge = aDocument('edge', { selector: { matchLabels: { tier: 'edge' } } })
    fleet.apply(aDesiredSet([aDocument('a'), edge]))
    told.tell([named('p', plane, { labels: { tier: 'core', pod: '1' } })])
    await synced(fleet)
    expect([...plane.specs.keys()]).toEqual(['a'])
    told.tell([named('p', plane, { labels: { tier: 'edge', pod: '1' } })])
    await eventually(() => {
      expect([...plane.specs.keys()]).toEqual(['a', 'edge'])
      expect(report(fleet).dataPlane.labels).toEqual({ tier: 'edge', pod: '1' })
    })
    expect(putsOf(plane)).toEqual([['a'], ['edge']])
    expect(reports.filter(({ phase }) => phase === 'connecting')).toHaveLength(1)
  })

  it('of before all keep a document that moves, until one that it selects now has it', async () => {
    const [one, two, late] = [await aPlane(), await aPlane(), await aPlane()]
    const told = new ToldDataPlanes()
    const { fleet } = aFleet([], { dataPlanes: told })
    const inTier = (id: string, tier: string): ReturnType<typeof aDocument> =>
      aDocument(id, { selector: { matchLabels: { tier } } })
    const core = [
      named('core-1', one, { labels: { tier: 'core' } }),
      named('core-2', two, { labels: { tier: 'core' } }),
    ]
    fleet.apply(aDesiredSet([inTier('moving', 'core')]))
    told.tell(core)
    await allSynced(fleet)
    // Each of them sees the other one have it; both are to lose it.
    for (const more of ['b', 'c']) {
      fleet.apply(aDesiredSet([inTier('moving', 'edge'), inTier(more, 'core')]))
      await eventually(() => {
        expect([...one.specs.keys()].sort()).toEqual([more, 'moving'].sort())
        expect([...two.specs.keys()].sort()).toEqual([more, 'moving'].sort())
      })
    }
    told.tell([...core, named('edge', late, { labels: { tier: 'edge' } })])
    await eventually(() => {
      expect([...late.specs.keys()]).toEqual(['moving'])
      expect([...one.specs.keys(), ...two.specs.keys()]).toEqual(['c', 'c'])
    })
  })

  it.each<[string, (old: FakeDataPlane, next: FakeDataPlane, told: ToldDataPlanes) => void]>([
    ['taken', () => undefined],
    [
      'taken by one that comes',
      (old, next, told) => {
        told.tell([named('old', old, { labels: { tier: 'core' } })])
        told.tell([
          named('old', old, { labels: { tier: 'core' } }),
          named('next', next, { labels: { tier: 'edge' } }),
        ])
      },
    ],
  ])('of before lose it at once when it was %s, and not at their next poll', async (_how, act) => {
    const [old, next] = [await aPlane(), await aPlane()]
    const told = new ToldDataPlanes()
    const { fleet } = aFleet([], { dataPlanes: told, clock: SYSTEM_CLOCK, pollMs: 600_000 })
    const inTier = (tier: string) => aDocument('moving', { selector: { matchLabels: { tier } } })
    fleet.apply(aDesiredSet([inTier('core')]))
    told.tell([
      named('old', old, { labels: { tier: 'core' } }),
      named('next', next, { labels: { tier: 'edge' } }),
    ])
    await allSynced(fleet)
    fleet.apply(aDesiredSet([inTier('edge')], { version: 2 }))
    act(old, next, told)
    await eventually(() => {
      expect([[...old.specs.keys()], [...next.specs.keys()]]).toEqual([[], ['moving']])
    })
  })

  it('of before lose it when one that has it already is labelled for it', async () => {
    const [old, next] = [await aPlane(), await aPlane()]
    const told = new ToldDataPlanes()
    const { fleet } = aFleet([], { dataPlanes: told, clock: SYSTEM_CLOCK, pollMs: 600_000 })
    const inTiers = (...values: readonly string[]) =>
      aDocument('moving', {
        selector: { matchExpressions: [{ key: 'tier', operator: 'In', values }] },
      })
    const tell = (nextTier: string): void => {
      told.tell([
        named('old', old, { labels: { tier: 'core' } }),
        named('next', next, { labels: { tier: nextTier } }),
      ])
    }
    fleet.apply(aDesiredSet([inTiers('core', 'edge')]))
    tell('edge')
    await allSynced(fleet)
    // Neither is selected, so both keep it.
    fleet.apply(aDesiredSet([inTiers('west'), aDocument('x')], { version: 2 }))
    await eventually(() => {
      expect([old.specs.size, next.specs.size]).toEqual([2, 2])
    })
    tell('west')
    await eventually(() => {
      expect([[...old.specs.keys()], [...next.specs.keys()]]).toEqual([['x'], ['moving', 'x']])
    })
  })

  it('two that are alike but for a label that no document selects by are sent one compressed batch', async () => {
    const fakes = await planes(4)
    const told = new ToldDataPlanes()
    const { fleet } = aFleet([], { dataPlanes: told })
    fleet.apply(many(300))
    told.tell(fakes.map((fake, i) => named(`pod-${i}`, fake, { labels: { ordinal: String(i) } })))
    await allSynced(fleet)
    expect(fakes.map(({ specs }) => specs.size)).toEqual([300, 300, 300, 300])
    expect(fakes.map(putsOf).map((puts) => puts.length)).toEqual([2, 2, 2, 2])
  })
})

describe('a data plane that was restarted', () => {
  it('gets a round at once when its restart is known, though it was backing off', async () => {
    const plane = await aPlane(await freePort())
    const { port } = plane
    const told = new ToldDataPlanes()
    // Back-off waits are real here: half a minute in the end.
    const { fleet } = aFleet([], { dataPlanes: told, clock: SYSTEM_CLOCK, pollMs: 60_000 })
    fleet.apply(many(3))
    told.tell([named('p', plane, { incarnation: 'c1' })])
    await synced(fleet)
    await plane.close()
    told.tell([named('p', plane, { incarnation: 'c1', labels: { a: 'b' } })])
    plane.restart()
    await plane.listen(port)
    expect(plane.specs.size).toBe(0)
    told.tell([named('p', plane, { incarnation: 'c2', labels: { a: 'b' } })])
    expect(report(fleet)).toMatchObject({ phase: 'connecting', ready: false })
    expect(report(fleet).documents.size).toBe(0)
    await synced(fleet)
    expect(plane.specs.size).toBe(3)
  })

  it('that is known before it listens is found within moments of listening', async () => {
    const plane = await aPlane(await freePort())
    const { port } = plane
    await plane.close()
    const clock = createManualClock()
    const patienceMs = 2_000
    const { fleet } = aFleet([plane], { clock, limits: { patienceMs } })
    fleet.apply(many(1))
    const waits: number[] = []
    await eventually(
      () => {
        const { nextInMs = patienceMs } = clock
        // As long as a try is under way, what waits is its turn.
        if (nextInMs !== patienceMs) {
          waits.push(nextInMs)
          clock.advance(nextInMs)
        }
        expect(waits.length).toBeGreaterThan(20)
      },
      { everyMs: 1 },
    )
    expect(Math.max(...waits)).toBeLessThanOrEqual(1_000)
    await plane.listen(port)
    await whileTimePasses(clock, () => {
      expect(report(fleet).phase).toBe('synced')
    })
  })

  it('is not a way round the guard of deletes', async () => {
    const plane = await aPlane()
    const told = new ToldDataPlanes()
    const { fleet } = aFleet([], { dataPlanes: told })
    const desired = many(10)
    fleet.apply(desired)
    told.tell([named('p', plane, { incarnation: 'c1' })])
    await synced(fleet)
    const keep = (count: number) => ({
      ...desired,
      version: 20 - count,
      documents: new Map([...desired.documents].slice(0, count)),
    })
    fleet.apply(keep(6))
    await eventually(() => {
      expect(plane.specs.size).toBe(6)
    })
    plane.restart({ keeps: true })
    told.tell([named('p', plane, { incarnation: 'c2' })])
    await synced(fleet)
    fleet.apply(keep(2))
    await eventually(() => {
      expect(report(fleet)).toMatchObject({ phase: 'holding' })
    })
    expect(plane.specs.size).toBe(6)
  })

  it('with its snapshot is only completed', async () => {
    const plane = await aPlane()
    const told = new ToldDataPlanes()
    const { fleet } = aFleet([], { dataPlanes: told })
    fleet.apply(many(3))
    told.tell([named('p', plane, { incarnation: 'c1' })])
    await synced(fleet)
    plane.restart({ keeps: true })
    told.tell([named('p', plane, { incarnation: 'c2' })])
    await synced(fleet)
    expect(putsOf(plane)).toHaveLength(1)
    expect(plane.complete).toBe(true)
  })
})

describe('a fleet', () => {
  it('that was stopped may be started again: it believes nothing, and waits for what is desired', async () => {
    const plane = await aPlane()
    const { fleet } = aFleet([plane])
    fleet.apply(many(3))
    await synced(fleet)
    await fleet.stop()
    expect(fleet.reports()).toEqual([])
    plane.restart()
    const before = plane.calls.length
    fleet.start()
    expect(report(fleet).phase).toBe('connecting')
    fleet.apply(many(2, 7))
    await synced(fleet)
    expect(plane.specs.size).toBe(2)
    expect(plane.calls[before]?.headers['if-none-match']).toBeUndefined()
  })
})
