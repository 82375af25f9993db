import { afterEach, describe, expect, it } from '@jest/globals'
import { Controller, type OperatorStatus } from '../../../operator/controller/controller.ts'
import { type Clock, SYSTEM_CLOCK } from '../../../operator/clock.ts'
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
}

const aController = async (clock: Clock = SYSTEM_CLOCK): Promise<Fixture> => {
  const plane = await FakeDataPlane.start()
  closing.push(() => plane.close())
  const source = new FakeSource()
  const statuses: OperatorStatus[] = []
  const controller = new Controller({
    source,
    className: 'svc',
    clock: { ...clock, after: (ms, callback) => clock.after(Math.min(ms, 20), callback) },
    log: createSilentLog(),
    onStatus: (status) => statuses.push(status),
    fleet: {
      dataPlanes: staticDataPlanes([plane.url]),
      manager: 'svc-operator',
      tenure: startTenure(() => 1),
      credentials: () => Promise.resolve({ tls: {} }),
      pollMs: 20,
    },
  })
  closing.push(() => controller.stop())
  await controller.start()
  return { source, plane, controller, statuses }
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
