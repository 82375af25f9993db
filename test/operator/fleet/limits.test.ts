import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, it } from '@jest/globals'
import { SYSTEM_CLOCK } from '../../../base/clock.ts'
import { newestFirst, Recency } from '../../../operator/fleet/sync/recency.ts'
import { select, Selections } from '../../../operator/fleet/sync/selection.ts'
import { LapsingPermit } from '../../../operator/fleet/lapsing-permit.ts'
import { untilAborted } from '../../../base/until-aborted.ts'
import { aDesiredSet, aDocument } from '../../support/desired.ts'
import { eventually } from '../../support/eventually.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { settled } from '../../support/settled.ts'
import {
  aFleet,
  allSynced,
  aPlane,
  closeAll,
  closeLater,
  edited,
  many,
  named,
  NEVER,
  planes,
  putsOf,
  report,
  synced,
  ToldDataPlanes,
} from './rig.ts'

afterEach(closeAll)

it('a permit lapses when nothing is heard, and not before', () => {
  const clock = createManualClock()
  let released = 0
  const permit = new LapsingPermit(() => (released += 1), clock, 2_000)
  clock.advance(1_500)
  permit.progress()
  clock.advance(1_999)
  expect([clock.pending, released]).toEqual([1, 0])
  clock.advance(1)
  expect(released).toBe(1)
  permit.release()
  expect(clock.pending).toBe(0)
})

describe('waiting', () => {
  it.each([
    ['resolves', () => Promise.resolve(1), '1'],
    ['rejects', () => Promise.reject(new Error('broken')), 'broken'],
    ['takes for ever', () => new Promise<number>(() => undefined), 'stopped'],
  ])('for what %s', async (_name, make, expected) => {
    const ending = new AbortController()
    const waiting = untilAborted(ending.signal, make()).then(
      String,
      (error: unknown) => (error as Error).message,
    )
    await settled()
    ending.abort(new Error('stopped'))
    expect(await waiting).toBe(expected)
    await expect(untilAborted(ending.signal, Promise.resolve(1))).rejects.toThrow('stopped')
  })
})

describe('selections', () => {
  it('are made once for data planes that are alike where it matters', () => {
    const selector = { matchExpressions: [{ key: 'tier', operator: 'Exists' as const }] }
    const desired = aDesiredSet([aDocument('a'), aDocument('b', { selector })])
    const selections = new Selections(desired)
    const of = (labels: Record<string, string>, namespace?: string) =>
      selections.for({ name: 'x', url: 'u', labels, ...(namespace !== undefined && { namespace }) })
    expect(of({ pod: '1' })).toBe(of({ pod: '2' }))
    expect(of({ tier: 'x' })).not.toBe(of({}))
    expect(of({ tier: 'x' }).documents.size).toBe(2)
    expect(of({}, 'default')).not.toBe(of({}))
    expect(of({ tier: 'x' }, 'default').documents.size).toBe(1)
    expect(of({ constructor: 'x' })).toBe(of({}))
  })

  it('know the root digest of what holds just them', () => {
    const plane = { name: 'x', url: 'u', labels: {} }
    const [one, two] = [select(many(3), plane), select(many(3), plane)]
    expect(one.rootDigest()).toBe(two.rootDigest())
    expect(one.rootDigest()).not.toBe(select(many(2), plane).rootDigest())
  })
})

describe('recency', () => {
  it('is that of the set an entry came with', () => {
    const recency = new Recency()
    const first = many(3)
    const edit = aDocument('d0001', { digest: 'new' })
    recency.note(first)
    recency.note(edited(first, edit))
    const versions = [...edited(first, edit).documents.values()].map((each) => recency.of(each))
    expect(versions).toEqual([1, 2, 1])
  })

  it.each([
    ['all there from the first', 5, ['a', 'b', 'c', 'd']],
    ['two edits, the later one first', 2, ['d', 'b', 'a', 'c']],
    ['an old edit is no edit any more', 4, ['d', 'a', 'b', 'c']],
  ])('%s', (_name, since, expected) => {
    const versions: Record<string, number> = { a: 1, b: 4, c: 2, d: 5 }
    const documents = Object.keys(versions).map((id) => aDocument(id))
    const order = newestFirst(documents, ({ id }) => versions[id] ?? 0, since)
    expect(order.map(({ id }) => id)).toEqual(expected)
  })
})

describe('what all data planes share', () => {
  it('so many rounds at work at once, and no more', async () => {
    const fakes = await planes(12)
    let inside = 0
    let most = 0
    for (const fake of fakes) {
      fake.onMoment = async (moment) => {
        if (moment === 'arrived') most = Math.max(most, (inside += 1))
        else inside -= 1
        // Others may arrive meanwhile.
        for (let turns = 0; turns < 20; turns += 1) await settled()
      }
    }
    const { fleet } = aFleet(fakes, {
      clock: SYSTEM_CLOCK,
      pollMs: 10_000,
      limits: { rounds: 3, patienceMs: 60_000 },
    })
    fleet.apply(many(5))
    await allSynced(fleet)
    expect(most).toBe(3)
    expect(fleet.counters()).toMatchObject({ roundsAtWork: 0, bodyBytesInFlight: 0 })
  })

  it('so many bytes under way at once, and no more', async () => {
    const fakes = await planes(8)
    const text = randomBytes(60_000).toString('base64')
    const desired = aDesiredSet([aDocument('a', { spec: { id: 'a', text } })])
    let most = 0
    const { fleet } = aFleet(fakes, { limits: { bodyBytes: 150_000 } })
    for (const fake of fakes) {
      fake.onMoment = () => {
        most = Math.max(most, fleet.counters().bodyBytesInFlight)
      }
    }
    fleet.apply(desired)
    await allSynced(fleet)
    expect(most).toBeGreaterThan(60_000)
    expect(most).toBeLessThanOrEqual(150_000)
    expect(fleet.counters().bodyBytesInFlight).toBe(0)
  })

  it('sidecars of one namespace that hang, however many, leave turns to all others', async () => {
    const hanging = await planes(6)
    for (const fake of hanging) fake.isHanging = true
    const [sidecar, shared] = await planes(2)
    if (!sidecar || !shared) throw new Error('no data planes')
    const told = new ToldDataPlanes()
    const { fleet } = aFleet([], {
      dataPlanes: told,
      limits: { rounds: 4, patienceMs: 60_000 },
      clock: SYSTEM_CLOCK,
    })
    fleet.apply(aDesiredSet([aDocument('a')]))
    const inShop = hanging.map((fake, i) => named(`shop/${i}`, fake, { namespace: 'shop' }))
    told.tell([...inShop, named('bank/0', sidecar, { namespace: 'bank' }), named('all', shared)])
    await eventually(() => {
      expect(fleet.reports().map(({ phase }) => phase)).toEqual([
        ...hanging.map(() => 'connecting'),
        'synced',
        'synced',
      ])
    })
    told.tell([])
  })

  it('a fresh data plane goes before those that are in service', async () => {
    const [busy, checked, changed, fresh] = await planes(4)
    if (!busy || !checked || !changed || !fresh) throw new Error('no data planes')
    const told = new ToldDataPlanes()
    const { fleet } = aFleet([], {
      dataPlanes: told,
      pollMs: 50,
      limits: { rounds: 1, patienceMs: 60_000 },
      clock: SYSTEM_CLOCK,
    })
    const [a, b] = [{ tier: 'a' }, { tier: 'b' }]
    const inB = (id: string, digest: string) =>
      aDocument(id, { digest, selector: { matchLabels: b } })
    const desired = aDesiredSet([aDocument('x'), inB('y', '1')])
    fleet.apply(desired)
    const first = [named('busy', busy, { labels: a }), named('checked', checked, { labels: a })]
    told.tell([...first, named('changed', changed, { labels: b })])
    await allSynced(fleet)
    const order: string[] = []
    const release = Promise.withResolvers<undefined>()
    const isHeld = Promise.withResolvers<undefined>()
    busy.onMoment = () => {
      isHeld.resolve(undefined)
      return release.promise
    }
    for (const [name, fake] of Object.entries({ checked, changed, fresh }))
      fake.onMoment = (moment) => {
        if (moment === 'arrived') order.push(name)
      }
    // It has the only turn; the others are woken by the edit, and queue up behind it.
    await isHeld.promise
    order.length = 0
    fleet.apply(edited(desired, inB('y', '2')))
    told.tell([
      ...first,
      named('changed', changed, { labels: b }),
      named('fresh', fresh, { labels: a }),
    ])
    release.resolve(undefined)
    await allSynced(fleet)
    // Its first calls, to its completion: the state, what it is sent, and that this is all.
    expect(order.slice(0, 3)).toEqual(['fresh', 'fresh', 'fresh'])
    await eventually(() => {
      expect(order).toEqual(expect.arrayContaining(['changed']))
    })
  })

  it('one compression of a batch for all cold data planes', async () => {
    const fakes = await planes(30)
    const { fleet } = aFleet(fakes, { pollMs: 10_000 })
    fleet.apply(
      aDesiredSet(
        Array.from({ length: 250 }, (_, i) =>
          aDocument(`d${i}`, { spec: { id: `d${i}`, text: 'lorem ipsum '.repeat(20) } }),
        ),
      ),
    )
    await allSynced(fleet)
    expect(new Set(fakes.map(({ specs }) => specs.size))).toEqual(new Set([250]))
    const sent = fleet.counters()
    // 70 KB of text each: what is sent is what was compressed.
    expect(sent.pushedBytes).toBeLessThan(30 * 20_000)
    expect(sent.pushes).toEqual({ ok: 90, refused: 0, failed: 0 })
  })
})

describe('a data plane that hangs', () => {
  it('does not keep nineteen others waiting, even where turns are few', async () => {
    const fakes = await planes(20)
    const hung = fakes.slice(0, 3)
    for (const fake of hung) fake.isHanging = true
    const { fleet } = aFleet(fakes, {
      timeoutMs: 60_000,
      limits: { rounds: 2, patienceMs: 20 },
    })
    fleet.apply(many(5))
    await eventually(
      () => {
        const phases = fleet.reports().map(({ phase }) => phase)
        expect(phases.filter((phase) => phase === 'synced')).toHaveLength(17)
      },
      { withinMs: 15_000 },
    )
    expect(
      fleet
        .reports()
        .slice(0, 3)
        .map(({ phase }) => phase),
    ).toEqual(hung.map(() => 'connecting'))
    fleet.apply(edited(many(5), aDocument('new')))
    await eventually(
      () => {
        expect(fakes.filter(({ specs }) => specs.has('new'))).toHaveLength(17)
      },
      { withinMs: 15_000 },
    )
  })

  it('in the middle of a sync call delays no other one, and is given up at once', async () => {
    const [hung, well] = [await aPlane(), await aPlane()]
    const { fleet } = aFleet([hung, well], { timeoutMs: 60_000 })
    hung.misbehaviours.push({ until: NEVER, on: 'sync' })
    fleet.apply(many(5))
    await synced(fleet, 1)
    expect(report(fleet, 0).phase).toBe('connecting')
    await fleet.stop()
    expect(fleet.reports()).toEqual([])
  })
})

describe('live edits', () => {
  it('go before the rest of an initial list', async () => {
    const plane = await aPlane()
    const initial = many(1_000)
    const { fleet } = aFleet([plane], { clock: SYSTEM_CLOCK, pollMs: 10_000 })
    const edits = [
      aDocument('d0990', { digest: 'edited' }),
      aDocument('fresh', { digest: 'second' }),
      aDocument('fresh', { digest: 'third' }),
    ]
    let desired = initial
    plane.onMoment = (moment) => {
      const edit = moment === 'done' && plane.syncs.length > 0 ? edits.shift() : undefined
      if (edit === undefined) return
      desired = edited(desired, edit)
      fleet.apply(desired)
    }
    fleet.apply(initial)
    await synced(fleet)
    const puts = putsOf(plane)
    // Each with one batch of the list, so that both come to an end.
    expect(puts.slice(1, 5).map((ids) => (ids.length < 3 ? ids : ids.length))).toEqual([
      ['d0990'],
      200,
      ['fresh'],
      200,
    ])
    expect(plane.specs.size).toBe(1_001)
    expect(plane.specs.get('d0990')?.digest).toBe('edited')
    expect(plane.specs.get('fresh')?.digest).toBe('third')
    expect(puts.flat().filter((id) => id === 'd0001')).toHaveLength(1)
  })

  it('that never end do not keep the initial list waiting for ever', async () => {
    const plane = await aPlane()
    const { fleet } = aFleet([plane], { clock: SYSTEM_CLOCK, pollMs: 10_000 })
    let desired = many(500)
    let edits = 0
    plane.onMoment = (moment) => {
      if (moment !== 'arrived' || plane.specs.size >= 500) return
      edits += 1
      desired = edited(desired, aDocument('hot', { digest: `v${edits}` }))
      fleet.apply(desired)
    }
    fleet.apply(desired)
    await synced(fleet)
    expect(plane.specs.size).toBe(501)
  })
})

describe('counters', () => {
  it('tell what was sent, answered and taken', async () => {
    const [well, odd] = [await aPlane(), await aPlane()]
    odd.refuses.set('d0001', { code: 'invalid_value', path: '', message: 'no' })
    odd.misbehaviours.push({ status: 500, on: 'sync' }, { status: 412, on: 'sync' })
    const told = new ToldDataPlanes()
    const { fleet } = aFleet([], { dataPlanes: told })
    closeLater(() => fleet.stop())
    fleet.apply(many(3))
    told.tell([named('well', well)])
    await synced(fleet)
    told.tell([named('well', well), named('odd', odd)])
    await eventually(() => {
      expect(report(fleet, 1).phase).toBe('withheld')
    })
    const { dataPlanes, pushes, items, polls, pushedBytes, rounds } = fleet.counters()
    expect(dataPlanes.get('well')).toMatchObject({
      pushes: { ok: 2, refused: 0, failed: 0 },
      items: { loaded: 4, unchanged: 0, rejected: 0, deleted: 0 },
    })
    expect(dataPlanes.get('odd')).toMatchObject({
      pushes: { ok: 1, refused: 1, failed: 1 },
      items: { loaded: 3, unchanged: 0, rejected: 1, deleted: 0 },
    })
    expect(pushes).toEqual({ ok: 3, refused: 1, failed: 1 })
    expect(items).toEqual({ loaded: 7, unchanged: 0, rejected: 1, deleted: 0 })
    expect(polls.changed).toBeGreaterThanOrEqual(2)
    expect(pushedBytes).toBeGreaterThan(500)
    expect(rounds).toMatchObject({ count: 2 })
    expect(rounds.buckets.at(-1)).toEqual({ le: Infinity, count: 2 })
    told.tell([named('odd', odd)])
    expect([...fleet.counters().dataPlanes.keys()]).toEqual(['odd'])
    expect(fleet.counters().pushes.ok).toBe(3)
  })
})
