// Fresh data planes that refuse documents: which refusals keep one out of service, and for how long at most. And realms
// and documents that are revoked, past all that holds deletes back.

import { afterEach, describe, expect, it } from '@jest/globals'
import { Withholding } from '../../../../operator/fleet/sync/withholding.ts'
import type { Problem } from '../../../../language/problem.ts'
import type { DesiredDocument } from '../../../../operator/desired-set.ts'
import { aDesiredSet, aDocument } from '../../../support/desired.ts'
import { eventually } from '../../../support/eventually.ts'
import type { FakeDataPlane } from '../../../support/fake-data-plane.ts'
import {
  aFleet,
  aPlane,
  closeAll,
  HASTY,
  many,
  named,
  report,
  synced,
  ToldDataPlanes,
} from '../rig.ts'

afterEach(closeAll)

const PROBLEM: Problem = { code: 'invalid_value', path: '/versions', message: 'not to my taste' }
const EXPENSIVE: Problem = { code: 'too_expensive', path: '', message: 'it takes too long' }

const MINUTE = 60_000

describe('the time for which documents of a namespace may keep data planes out of service', () => {
  const at = (...minutes: readonly number[]): readonly boolean[] => {
    let nowMs = 0
    const withholding = new Withholding(5 * MINUTE, { now: () => nowMs })
    return minutes.map((minute) => {
      nowMs = minute * MINUTE
      return withholding.isJustified('team')
    })
  }

  it.each<[string, readonly number[], readonly boolean[]]>([
    ['begins with the first refusal', [0, 4], [true, true]],
    ['ends', [0, 5], [true, false]],
    [
      'is one for all data planes and documents, however often they ask',
      [0, 2, 4, 6, 50],
      [true, true, true, false, false],
    ],
    ['begins anew once an hour has gone by without a refusal', [0, 6, 66], [true, false, true]],
    ['is no longer where the clock is set back', [600, 604, 4, 5], [true, true, true, false]],
    [
      'does not for one that refuses again and again',
      [0, 30, 60, 90, 149],
      [true, false, false, false, false],
    ],
  ])('%s', (_title, minutes, expected) => {
    expect(at(...minutes)).toEqual(expected)
  })

  it('is its own: another namespace has lost nothing of it', () => {
    let nowMs = 0
    const withholding = new Withholding(5 * MINUTE, { now: () => nowMs })
    withholding.isJustified('team')
    nowMs = 10 * MINUTE
    expect(withholding.isJustified('team')).toBe(false)
    expect(withholding.isJustified('shop')).toBe(true)
  })

  it('is none where it is 0', () => {
    expect(new Withholding(0, { now: () => 0 }).isJustified('team')).toBe(false)
  })
})

describe('a fresh data plane', () => {
  interface Refusing {
    /** Both refuse it. */
    readonly isRefusedByAll?: boolean
    /** What the one in service holds of it. */
    readonly served?: string
    readonly problem?: Problem
    readonly withholdMs?: number
  }

  const ready = async ({ served, isRefusedByAll, problem = PROBLEM, withholdMs }: Refusing) => {
    const [good, fresh] = [await aPlane(), await aPlane()]
    const told = new ToldDataPlanes()
    const { fleet } = aFleet([], {
      dataPlanes: told,
      ...(withholdMs !== undefined && { withholdMs }),
    })
    if (served !== undefined)
      good.specs.set('a', { digest: served, managedBy: 'svc-operator', warnings: [] })
    if (isRefusedByAll === true) good.refuses.set('a', problem)
    fresh.refuses.set('a', problem)
    fleet.apply(aDesiredSet([aDocument('a'), aDocument('b')]))
    told.tell([named('good', good)])
    await synced(fleet)
    told.tell([named('good', good), named('fresh', fresh)])
    return { fleet, fresh, good }
  }

  it.each<[string, Refusing]>([
    ['no data plane serves', { isRefusedByAll: true }],
    [
      'others serve in the version before, and refuse as well',
      { isRefusedByAll: true, served: 'older' },
    ],
    ['is too expensive for it at the moment', { problem: EXPENSIVE }],
    ['others serve, where none is to wait for that', { withholdMs: 0 }],
  ])('goes into service without a document that %s', async (_title, refusing) => {
    const { fleet, fresh } = await ready(refusing)
    await synced(fleet, 1)
    expect(fresh.complete).toBe(true)
    expect([...fresh.specs.keys()]).toEqual(['b'])
    expect(report(fleet, 1).rejected.documents.has('a')).toBe(true)
  })

  it('is kept out of service where another serves the very version that it refuses', async () => {
    const { fleet, fresh, good } = await ready({})
    await eventually(() => {
      expect(report(fleet, 1)).toMatchObject({ phase: 'withheld', ready: false })
    })
    expect(report(fleet, 1).message).toContain('a (/versions: not to my taste)')
    expect(fresh.complete).toBe(false)
    expect(good.complete).toBe(true)
  })

  it('is not kept out for longer than its time, and the next one not at all', async () => {
    let aheadMs = 0
    const clock = { ...HASTY, now: () => HASTY.now() + aheadMs }
    const [good, fresh, next] = [await aPlane(), await aPlane(), await aPlane()]
    for (const each of [fresh, next]) each.refuses.set('a', PROBLEM)
    const told = new ToldDataPlanes()
    const { fleet } = aFleet([], { dataPlanes: told, clock })
    fleet.apply(aDesiredSet([aDocument('a')]))
    told.tell([named('good', good)])
    await synced(fleet)
    told.tell([named('good', good), named('fresh', fresh)])
    await eventually(() => {
      expect(report(fleet, 1).phase).toBe('withheld')
    })
    aheadMs = 300_000
    await synced(fleet, 1)
    told.tell([named('good', good), named('fresh', fresh), named('next', next)])
    await synced(fleet, 2)
    expect(next.complete).toBe(true)
  })
})

describe('a realm that is revoked', () => {
  const gone = (plane: FakeDataPlane) =>
    eventually(() => {
      expect([...plane.realms.keys()]).toEqual([])
    })
  const revoked = { realmList: [], revokedRealms: new Set(['com.shop']) }

  it.each<[string, Parameters<typeof aDesiredSet>]>([
    ['nothing may be deleted', [[aDocument('a')], { holdDeletes: 'a CRD is gone' }]],
    [
      'its uri is kept for a Realm that names it',
      [[aDocument('a')], { kept: { documents: new Set(), realms: new Set(['com.shop']) } }],
    ],
    ['very many documents go at once', [[]]],
  ])('goes from data planes also where %s', async (_title, [documents, more]) => {
    const plane = await aPlane()
    const { fleet } = aFleet([plane])
    fleet.apply(many(10))
    await synced(fleet)
    fleet.apply(aDesiredSet(documents, { ...revoked, ...more }))
    await gone(plane)
    await eventually(() => {
      expect(report(fleet).phase).toBe('holding')
    })
    // Of the documents those stay that are held back.
    expect(plane.specs.size).toBeGreaterThanOrEqual(10)
  })
})

describe('documents that are revoked', () => {
  const without = (count: number, ...gone: readonly string[]): readonly DesiredDocument[] =>
    [...many(count).documents.values()].filter(({ id }) => !gone.includes(id))

  it('go while nothing else may be deleted', async () => {
    const plane = await aPlane()
    const { fleet } = aFleet([plane])
    fleet.apply(many(3))
    await synced(fleet)
    const ids = [...plane.specs.keys()]
    const [revoked = '', deleted = ''] = ids
    const more = { revokedDocuments: new Set([revoked]), holdDeletes: 'a CRD is gone' }
    fleet.apply(aDesiredSet(without(3, revoked, deleted), more))
    await eventually(() => {
      expect(report(fleet).phase).toBe('holding')
    })
    expect([...plane.specs.keys()].sort()).toEqual(ids.filter((id) => id !== revoked).sort())
  })

  it('go at once, however many they are', async () => {
    const plane = await aPlane()
    const { fleet } = aFleet([plane])
    fleet.apply(many(500))
    await synced(fleet)
    const revokedDocuments = new Set(plane.specs.keys())
    fleet.apply(aDesiredSet([], { ...many(0), documents: new Map(), revokedDocuments }))
    await eventually(() => {
      expect(plane.specs.size).toBe(0)
    })
  })

  it('go from a data plane that comes back with them', async () => {
    const [steady, late] = [await aPlane(), await aPlane()]
    const told = new ToldDataPlanes()
    const { fleet } = aFleet([], { dataPlanes: told })
    told.tell([named('steady', steady), named('late', late)])
    const desired = many(3)
    fleet.apply(desired)
    await synced(fleet, 0)
    await synced(fleet, 1)
    told.tell([named('steady', steady)])
    const [revoked = ''] = [...late.specs.keys()]
    const more = { revokedDocuments: new Set([revoked]), holdDeletes: 'a CRD is gone' }
    fleet.apply(aDesiredSet(without(3, revoked), more))
    await synced(fleet, 0)
    told.tell([named('steady', steady), named('late', late)])
    await eventually(() => {
      expect(late.specs.has(revoked)).toBe(false)
    })
  })
})
