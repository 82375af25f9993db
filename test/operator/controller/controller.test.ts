import { afterEach, describe, expect, it } from '@jest/globals'
import { Controller, type OperatorStatus } from '../../../operator/controller/controller.ts'
import { type Clock, SYSTEM_CLOCK } from '../../../operator/clock.ts'
import {
  alwaysLeading,
  type Leadership,
  type LeadershipEvents,
} from '../../../operator/leadership.ts'
import { staticDataPlanes } from '../../../operator/fleet/static-data-planes.ts'
import { startTenure } from '../../../operator/tenure.ts'
import type { Resource } from '../../../operator/resource/resource.ts'
import {
  EMPTY_CACHE,
  type ResourceCache,
  type ResourceSource,
} from '../../../operator/resource/resource-source.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import { eventually } from '../../support/eventually.ts'
import { FakeDataPlane } from '../../support/fake-data-plane.ts'
import { aSpecification, cacheOf, resourceOf } from '../../support/resources.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

class FakeSource implements ResourceSource {
  cache: ResourceCache = EMPTY_CACHE
  isSynced = false
  #onChange: () => void = () => undefined
  /** What a live listing finds. */
  live: readonly Resource[] | undefined

  start(onChange: () => void): Promise<void> {
    this.#onChange = onChange
    return Promise.resolve()
  }

  synced(): boolean {
    return this.isSynced
  }

  current(): ResourceCache {
    return this.cache
  }

  confirm(): Promise<boolean> {
    if (this.live !== undefined) this.show(this.live)
    return Promise.resolve(this.live !== undefined)
  }

  stop(): Promise<void> {
    return Promise.resolve()
  }

  show(resources: readonly Resource[]): void {
    this.isSynced = true
    this.cache = cacheOf(resources, { version: this.cache.version + 1 })
    this.#onChange()
  }

  nudge(): void {
    this.#onChange()
  }
}

const realm = resourceOf('Realm', 'shop', { spec: { uri: 'com.shop' } })
const many = (count: number): readonly Resource[] => [
  realm,
  ...Array.from({ length: count }, (_, i) =>
    resourceOf('ApiSpecification', `d${i}`, { spec: { document: aSpecification(`d${i}`) } }),
  ),
]

interface Fixture {
  readonly source: FakeSource
  readonly plane: FakeDataPlane
  readonly controller: Controller
  readonly statuses: OperatorStatus[]
  /** What companions were told. */
  readonly turns: readonly string[]
}

const aController = async (
  clock: Clock = SYSTEM_CLOCK,
  leadership: Leadership = alwaysLeading(startTenure(() => 1)),
): Promise<Fixture> => {
  const plane = await FakeDataPlane.start()
  closing.push(() => plane.close())
  const source = new FakeSource()
  const statuses: OperatorStatus[] = []
  const turns: string[] = []
  const controller = new Controller({
    source,
    judging: { className: 'svc' },
    leadership,
    companions: [{ lead: () => turns.push('lead'), follow: () => turns.push('follow') }],
    clock: { ...clock, after: (ms, callback) => clock.after(Math.min(ms, 20), callback) },
    log: createSilentLog(),
    onStatus: (status) => statuses.push(status),
    fleet: {
      dataPlanes: staticDataPlanes([plane.url]),
      manager: 'svc-operator',
      credentials: () => Promise.resolve({ tls: {} }),
      pollMs: 20,
    },
  })
  closing.push(() => controller.stop())
  await controller.start()
  return { source, plane, controller, statuses, turns }
}

const ready = ({ controller }: Fixture): readonly string[] =>
  [...controller.status.resources.values()].flatMap(({ conditions }) =>
    conditions.filter(({ type }) => type === 'Ready').map(({ reason }) => reason),
  )

describe('from resources to data planes to conditions', () => {
  it('nothing is sent before the source is whole', async () => {
    const fixture = await aController()
    fixture.source.nudge()
    await new Promise((resolve) => setTimeout(resolve, 60))
    expect(fixture.plane.calls).toEqual([])
    expect(fixture.controller.status.isReady).toBe(false)
    fixture.source.show(many(2))
    await eventually(() => {
      expect(ready(fixture)).toEqual(['Ready', 'Ready', 'Ready'])
    })
    expect(fixture.plane.specs.size).toBe(2)
  })

  it('a change travels alone, and a cache of the same version not at all', async () => {
    const fixture = await aController()
    fixture.source.show(many(3))
    await eventually(() => {
      expect(ready(fixture)).toEqual(['Ready', 'Ready', 'Ready', 'Ready'])
    })
    const before = fixture.plane.syncs.length
    const changed = resourceOf(
      'ApiSpecification',
      'd1',
      { spec: { document: aSpecification('d1', { name: 'new' }) } },
      { generation: 2 },
    )
    fixture.source.show(
      many(3).map((resource) => (resource.metadata.name === 'd1' ? changed : resource)),
    )
    await eventually(() => {
      expect(
        fixture.plane.syncs
          .slice(before)
          .flatMap(({ specs }) => specs?.put?.map(({ id }) => id) ?? []),
      ).toEqual(['d1'])
    })
    const count = fixture.statuses.length
    fixture.source.nudge()
    expect(fixture.statuses).toHaveLength(count)
  })

  it('a mass delete waits for a live listing, which may bring the resources back', async () => {
    let nowMs = 1_000_000
    const fixture = await aController({ ...SYSTEM_CLOCK, now: () => (nowMs += 25) })
    fixture.source.show(many(20))
    await eventually(() => {
      expect(fixture.plane.specs.size).toBe(20)
      expect(fixture.plane.complete).toBe(true)
    })
    fixture.source.show([realm])
    await eventually(() => {
      expect(fixture.controller.status.dataPlanes[0]?.phase).toBe('holding')
    })
    fixture.source.live = many(20)
    nowMs += 60_000
    await eventually(() => {
      expect(fixture.controller.status.dataPlanes[0]?.phase).toBe('synced')
    })
    expect(fixture.plane.specs.size).toBe(20)
    expect(fixture.plane.syncs.flatMap(({ specs }) => specs?.delete ?? [])).toEqual([])
  })
})

/** Turns as a test gives them. */
class TakingTurns implements Leadership {
  events: LeadershipEvents | undefined
  hasStopped = false

  start(events: LeadershipEvents): Promise<void> {
    this.events = events
    return Promise.resolve()
  }

  stop(): Promise<void> {
    this.hasStopped = true
    return Promise.resolve()
  }
}

describe('turns', () => {
  it('a standby judges and sends nothing; the leader sends; what was the leader sends nothing more', async () => {
    const leadership = new TakingTurns()
    const fixture = await aController(SYSTEM_CLOCK, leadership)
    const { source, plane, controller, turns } = fixture
    source.show(many(3))
    expect(controller.desired?.documents.size).toBe(3)
    expect(controller.status).toMatchObject({ isReady: true, isLeading: false, dataPlanes: [] })
    expect(plane.calls).toEqual([])

    leadership.events?.onLead(startTenure(() => 7))
    await eventually(() => {
      expect(ready(fixture)).toEqual(['Ready', 'Ready', 'Ready', 'Ready'])
    })
    expect(controller.status.isLeading).toBe(true)

    leadership.events?.onLose()
    expect(controller.status).toMatchObject({ isLeading: false, dataPlanes: [] })
    // A question that was on its way may still arrive; nothing that changes anything does.
    const sent = plane.syncs.length
    source.show(many(4))
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(plane.syncs).toHaveLength(sent)
    expect(turns).toEqual(['lead', 'follow'])

    leadership.events?.onLead(startTenure(() => 9))
    await eventually(() => {
      expect(plane.specs.size).toBe(4)
    })
    expect(turns).toEqual(['lead', 'follow', 'lead'])
  })

  it('gives its turn back when it stops, after its companions were told', async () => {
    const leadership = new TakingTurns()
    const { controller, turns } = await aController(SYSTEM_CLOCK, leadership)
    leadership.events?.onLead(startTenure(() => 1))
    await controller.stop()
    expect(turns).toEqual(['lead', 'follow'])
    expect(leadership.hasStopped).toBe(true)
    leadership.events?.onLead(startTenure(() => 2))
    expect(turns).toEqual(['lead', 'follow'])
  })

  it('says nothing of a status before the data planes are known', async () => {
    let tell: (planes: readonly []) => void = () => undefined
    let isKnown = false
    const statuses: OperatorStatus[] = []
    const source = new FakeSource()
    const controller = new Controller({
      source,
      judging: { className: 'svc' },
      leadership: alwaysLeading(startTenure(() => 1)),
      clock: SYSTEM_CLOCK,
      log: createSilentLog(),
      onStatus: (status) => statuses.push(status),
      fleet: {
        dataPlanes: {
          start: (onChange) => {
            tell = onChange
          },
          synced: () => isKnown,
          stop: () => undefined,
        },
        manager: 'svc-operator',
        credentials: () => Promise.resolve({ tls: {} }),
      },
    })
    closing.push(() => controller.stop())
    await controller.start()
    source.show(many(1))
    expect(statuses).toEqual([])
    isKnown = true
    tell([])
    await eventually(() => {
      expect(statuses.at(-1)?.resources.size).toBe(2)
    })
  })
})
