import { afterEach, describe, expect, it } from '@jest/globals'
import {
  Controller,
  type ControllerOptions,
  type OperatorStatus,
} from '../../../operator/controller/controller.ts'
import { type Clock, SYSTEM_CLOCK } from '../../../base/clock.ts'
import {
  alwaysLeading,
  type Leadership,
  type LeadershipEvents,
} from '../../../operator/leadership.ts'
import { staticDataPlanes } from '../../../operator/fleet/static-data-planes.ts'
import type { DataPlanes } from '../../../operator/data-plane.ts'
import { compileAtOnce } from '../../../operator/reconcile/documents/compile-document.ts'
import { startEpoch } from '../../../operator/epoch.ts'
import { keyOf, type Resource } from '../../../operator/resource/resource.ts'
import {
  EMPTY_CACHE,
  type ResourceCache,
  type ResourceSource,
} from '../../../operator/resource/resource-source.ts'
import { createLog, createSilentLog } from '../../../telemetry/log.ts'
import { eventually } from '../../support/eventually.ts'
import { FakeDataPlane } from '../../support/fake-data-plane.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { aSpecification, cacheOf, resourceOf } from '../../support/resources.ts'
import { HASTY, roundTrip, whileTimePasses } from '../fleet/rig.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

class FakeSource implements ResourceSource {
  cache: ResourceCache = EMPTY_CACHE
  isSynced = false
  #onChange: () => void = () => undefined
  #onRenewed: (resource: Resource) => void = () => undefined
  /** What a live listing finds. */
  live: readonly Resource[] | undefined

  start(onChange: () => void, onRenewed: (resource: Resource) => void): Promise<void> {
    this.#onChange = onChange
    this.#onRenewed = onRenewed
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

  /** Somebody has written into its status. */
  renew(resource: Resource): void {
    const resources = new Map(this.cache.resources).set(keyOf(resource), resource)
    this.cache = { ...this.cache, resources }
    this.#onRenewed(resource)
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
  /** Of what the status in the API was told. */
  readonly recorded: readonly Resource[]
  /** What leaderOnlyTasks were told. */
  readonly turns: readonly string[]
}

const aController = async (
  clock: Clock = HASTY,
  leadership: Leadership = alwaysLeading(startEpoch(() => 1)),
  dataPlanesOf: (url: string) => DataPlanes = (url) => staticDataPlanes([url]),
  more: Partial<Pick<ControllerOptions, 'compiler' | 'validating' | 'log'>> = {},
): Promise<Fixture> => {
  const plane = await FakeDataPlane.start()
  closing.push(() => plane.close())
  const source = new FakeSource()
  const statuses: OperatorStatus[] = []
  const turns: string[] = []
  const recorded: Resource[] = []
  const controller = new Controller({
    source,
    validating: { className: 'svc' },
    leadership,
    onRecorded: (resource) => recorded.push(resource),
    leaderOnlyTasks: [{ lead: () => turns.push('lead'), follow: () => turns.push('follow') }],
    clock,
    log: createSilentLog(),
    ...more,
    onStatus: (status) => statuses.push(status),
    fleet: {
      dataPlanes: dataPlanesOf(plane.url),
      manager: 'svc-operator',
      credentials: () => Promise.resolve({ tls: {} }),
      pollMs: 20,
    },
  })
  closing.push(() => controller.stop())
  await controller.start()
  return { source, plane, controller, statuses, recorded, turns }
}

const ready = ({ controller }: Fixture): readonly string[] =>
  [...controller.status.resources.values()].flatMap(({ conditions }) =>
    conditions.filter(({ type }) => type === 'Ready').map(({ reason }) => reason),
  )

describe('from resources to data planes to conditions', () => {
  it('nothing is sent before the source is whole', async () => {
    const clock = createManualClock()
    const fixture = await aController(clock)
    fixture.source.nudge()
    await clock.run(60_000)
    await roundTrip(fixture.plane)
    expect(fixture.plane.calls).toHaveLength(1)
    expect(fixture.controller.status.isReady).toBe(false)
    fixture.source.show(many(2))
    await whileTimePasses(clock, () => {
      expect(ready(fixture)).toEqual(['Ready', 'Ready', 'Ready'])
    })
    expect(fixture.plane.specs.size).toBe(2)
  })

  it('nothing is decided before what serves is compiled', async () => {
    let isAwaiting = true
    const tell: (() => void)[] = []
    const fixture = await aController(undefined, undefined, undefined, {
      compiler: (onResult) => {
        tell.push(onResult)
        return { ...compileAtOnce(), isAwaitingServing: () => isAwaiting }
      },
    })
    fixture.source.show(many(2))
    for (const onResult of tell) onResult()
    await roundTrip(fixture.plane)
    expect([fixture.controller.status.isReady, fixture.plane.syncs]).toEqual([false, []])
    isAwaiting = false
    for (const onResult of tell) onResult()
    await eventually(() => {
      expect(ready(fixture)).toEqual(['Ready', 'Ready', 'Ready'])
    })
  })

  it('room that a smaller version leaves in a quota is used without any other change', async () => {
    const namespaceQuota = { documents: 9, routes: 3, bytes: 1e6, realms: 9 }
    const fixture = await aController(undefined, undefined, undefined, {
      validating: { className: 'svc', namespaceQuota },
    })
    const document = (id: string, host: string, generation: number): Resource =>
      resourceOf(
        'ApiSpecification',
        id,
        { spec: { document: aSpecification(id, { host }) } },
        { generation },
      )
    const waiting = document('b', '[www.]b.test', 1)
    fixture.source.show([realm, document('a', '[www.]a.test', 1), waiting])
    await eventually(() => {
      expect([...ready(fixture)].sort()).toEqual(['QuotaExceeded', 'Ready', 'Ready'])
    })
    fixture.source.show([realm, document('a', 'a.test', 2), waiting])
    await eventually(() => {
      expect(ready(fixture)).toEqual(['Ready', 'Ready', 'Ready'])
    })
    expect([...fixture.plane.specs.keys()].sort()).toEqual(['a', 'b'])
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
    const clock = createManualClock()
    const fixture = await aController(clock)
    fixture.source.show(many(20))
    await whileTimePasses(clock, () => {
      expect(fixture.plane.specs.size).toBe(20)
      expect(fixture.plane.complete).toBe(true)
    })
    fixture.source.show([realm])
    await whileTimePasses(clock, () => {
      expect(fixture.controller.status.dataPlanes[0]?.phase).toBe('holding')
    })
    fixture.source.live = many(20)
    clock.advance(60_000)
    await whileTimePasses(clock, () => {
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

const DOC = 'ApiSpecification/default/d0'

/** As an operator leaves it that has put it, long ago. */
const told = (
  digest: string,
  {
    id = 'd0',
    document = aSpecification(id),
    generation = 1,
  }: { readonly id?: string; readonly document?: object; readonly generation?: number } = {},
): Resource =>
  resourceOf(
    'ApiSpecification',
    id,
    {
      spec: { document },
      status: {
        conditions: (['Accepted', 'ResolvedRefs', 'Programmed', 'Ready'] as const).map((type) => ({
          type,
          status: 'True',
          reason: type,
          message: 'as it was',
          observedGeneration: 1,
          lastTransitionTime: '2020-01-01T00:00:00Z',
        })),
        programmedGeneration: 1,
        programmedDigest: digest,
      },
    },
    { generation, resourceVersion: '2' },
  )

describe('what is written into a status', () => {
  const programmedSince = ({ controller }: Fixture, name = 'd0'): string | undefined =>
    controller.status.resources
      .get(`ApiSpecification/default/${name}`)
      ?.conditions.find(({ type, status }) => type === 'Programmed' && status === 'True')
      ?.lastTransitionTime

  it('is reported at once, and looked at a moment later, once for all', async () => {
    const fixture = await aController()
    const { source, controller, statuses, recorded } = fixture
    source.show(many(2))
    await eventually(() => {
      expect(ready(fixture)).toEqual(['Ready', 'Ready', 'Ready'])
    })
    const { length: count } = statuses
    const digest = controller.desired?.documents.get('d0')?.digest ?? ''
    source.renew(told(digest))
    source.renew(told(digest))
    expect(recorded).toEqual([told(digest), told(digest)])
    expect(statuses).toHaveLength(count)
    await eventually(() => {
      expect(controller.status.resources.get(DOC)?.result.resource).toEqual(told(digest))
    })
    expect(statuses).toHaveLength(count + 1)
  })

  it('by another operator before a standby leads, and before it says anything: it goes on from there', async () => {
    const leadership = new TakingTurns()
    const known = { isKnown: false, tell: (): void => undefined }
    const fixture = await aController(HASTY, leadership, (url) => ({
      ...staticDataPlanes([url]),
      start: (adopt) => {
        known.tell = () => {
          known.isKnown = true
          staticDataPlanes([url]).start(adopt)
        }
      },
      synced: () => known.isKnown,
    }))
    const { source, controller } = fixture
    source.show(many(2))
    const [first = '', second = ''] = ['d0', 'd1'].map(
      (id) => controller.desired?.documents.get(id)?.digest,
    )
    source.renew(told(first))
    leadership.events?.onLead(startEpoch(() => 7))
    source.renew(told(second, { id: 'd1' }))
    known.tell()
    await eventually(() => {
      expect(ready(fixture)).toEqual(['Ready', 'Ready', 'Ready'])
    })
    expect(programmedSince(fixture, 'd0')).toBe('2020-01-01T00:00:00Z')
    expect(programmedSince(fixture, 'd1')).toBe('2020-01-01T00:00:00Z')
  })

  it('by another operator between two turns of ours: it goes on from there', async () => {
    const leadership = new TakingTurns()
    const fixture = await aController(HASTY, leadership)
    const { source, controller } = fixture
    source.show(many(1))
    leadership.events?.onLead(startEpoch(() => 7))
    await eventually(() => {
      expect(ready(fixture)).toEqual(['Ready', 'Ready'])
    })
    expect(programmedSince(fixture)).not.toBe('2020-01-01T00:00:00Z')
    leadership.events?.onLose()
    source.renew(told(controller.desired?.documents.get('d0')?.digest ?? ''))
    leadership.events?.onLead(startEpoch(() => 9))
    await eventually(() => {
      expect(ready(fixture)).toEqual(['Ready', 'Ready'])
    })
    expect(programmedSince(fixture)).toBe('2020-01-01T00:00:00Z')
  })

  it('says what serves, though the standby has seen nothing of it that was good', async () => {
    const leadership = new TakingTurns()
    const fixture = await aController(HASTY, leadership)
    const { source, controller, plane } = fixture
    const bad = { ...aSpecification('d0'), host: 'b ad' }
    const broken = resourceOf(
      'ApiSpecification',
      'd0',
      { spec: { document: bad } },
      { generation: 2 },
    )
    // No data plane has it, as far as its status goes: nothing is kept for it.
    source.show([realm, { ...broken, conditions: [] } as Resource])
    source.renew(told('sha256:other', { document: bad, generation: 2 }))
    leadership.events?.onLead(startEpoch(() => 7))
    expect(controller.desired?.kept.documents).toEqual(new Set(['d0']))
    await eventually(() => {
      expect(plane.complete).toBe(true)
    })
    expect(controller.status.resources.get(DOC)?.result.serving?.digest).toBe('sha256:other')
    expect(controller.status.resources.get(DOC)?.programmed?.digest).toBe('sha256:other')
  })
})

describe('turns', () => {
  it('a standby validates and sends nothing; the leader sends; what was the leader sends nothing more', async () => {
    const leadership = new TakingTurns()
    const fixture = await aController(HASTY, leadership)
    const { source, plane, controller, turns } = fixture
    source.show(many(3))
    expect(controller.desired?.documents.size).toBe(3)
    expect(controller.status).toMatchObject({ isReady: true, isLeading: false, dataPlanes: [] })
    expect(plane.calls).toEqual([])

    leadership.events?.onLead(startEpoch(() => 7))
    await eventually(() => {
      expect(ready(fixture)).toEqual(['Ready', 'Ready', 'Ready', 'Ready'])
    })
    expect(controller.status.isLeading).toBe(true)

    leadership.events?.onLose()
    expect(controller.status).toMatchObject({ isLeading: false, dataPlanes: [] })
    // A question that was on its way may still arrive; nothing that changes anything does.
    const sent = plane.syncs.length
    source.show(many(4))
    await eventually(() => {
      expect(controller.desired?.documents.size).toBe(4)
    })
    for (let trips = 0; trips < 5; trips += 1) await roundTrip(plane)
    expect(plane.syncs).toHaveLength(sent)
    expect(turns).toEqual(['lead', 'follow'])

    leadership.events?.onLead(startEpoch(() => 9))
    await eventually(() => {
      expect(plane.specs.size).toBe(4)
    })
    expect(turns).toEqual(['lead', 'follow', 'lead'])
  })

  it('gives its turn back when it stops, after its leader-only tasks were stopped', async () => {
    const leadership = new TakingTurns()
    const { controller, turns } = await aController(HASTY, leadership)
    leadership.events?.onLead(startEpoch(() => 1))
    await controller.stop()
    expect(turns).toEqual(['lead', 'follow'])
    expect(leadership.hasStopped).toBe(true)
    leadership.events?.onLead(startEpoch(() => 2))
    expect(turns).toEqual(['lead', 'follow'])
  })

  it('goes on where it fails on one document, and says so in the log and in its status', async () => {
    const lines: string[] = []
    const log = createLog({
      level: 'error',
      name: 'test',
      destination: { write: (line) => lines.push(line) },
    })
    const atOnce = compileAtOnce()
    const fixture = await aController(HASTY, undefined, undefined, {
      log,
      compiler: () => ({
        ...atOnce,
        compile: (request) => {
          if (request.key.endsWith('/d1')) throw new TypeError('of one document')
          return atOnce.compile(request)
        },
      }),
    })
    fixture.source.show(many(3))
    await eventually(() => {
      expect(ready(fixture)).toEqual(['Ready', 'Ready', 'Invalid', 'Ready'])
    })
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain('the operator failed on a resource')
    expect(lines[0]).toContain('"resource":"ApiSpecification/default/d1"')
    expect(lines[0]).toContain('of one document')
  })

  it('says nothing of a status before the data planes are known', async () => {
    let tell: (planes: readonly []) => void = () => undefined
    let isKnown = false
    const statuses: OperatorStatus[] = []
    const source = new FakeSource()
    const controller = new Controller({
      source,
      validating: { className: 'svc' },
      leadership: alwaysLeading(startEpoch(() => 1)),
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
