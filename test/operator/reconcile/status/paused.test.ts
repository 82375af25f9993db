import { describe, expect, it } from '@jest/globals'
import type { DataPlaneReport } from '../../../../operator/data-plane.ts'
import { type Reconciliation, Reconciler } from '../../../../operator/reconcile/reconciler.ts'
import {
  type ResourceStatus,
  StatusRegistry,
} from '../../../../operator/reconcile/status/status-registry.ts'
import type { Resource } from '../../../../operator/resource/resource.ts'
import { aSpecification, cacheOf, resourceOf } from '../../../support/resources.ts'

const PAUSED = { 'gateway.svc.dev/paused': 'true' }

const realm = (callTimeout = 1000, annotations = {}, generation = 1): Resource =>
  resourceOf(
    'Realm',
    'shop',
    { spec: { uri: 'com.shop', callTimeout } },
    { annotations, generation },
  )

const orders = (
  more: object = {},
  known: {
    readonly annotations?: object
    readonly generation?: number
    readonly name?: string
  } = {},
): Resource => {
  const { name = 'orders', ...rest } = known
  return resourceOf(
    'ApiSpecification',
    name,
    { spec: { document: aSpecification(name, more) } },
    rest,
  )
}

const KEY = 'ApiSpecification/default/orders'

const holding = ({ desired }: Reconciliation): DataPlaneReport => ({
  dataPlane: { name: 'a', url: 'http://a', labels: {} },
  phase: 'synced',
  message: '',
  ready: true,
  documents: new Map(
    [...desired.documents].map(([id, { digest }]) => [id, { digest, warnings: [] }]),
  ),
  realms: new Map([...desired.realms].map(([uri, { digest }]) => [uri, { digest, sessions: [] }])),
  realmsGiven: new Set(desired.realms.keys()),
  rejected: { documents: new Map(), realms: new Map() },
})

class Cluster {
  readonly #reconciler = new Reconciler({ className: 'svc' })
  readonly #book = new StatusRegistry()

  take(...resources: readonly Resource[]): Reconciliation & {
    readonly said: (key: string) => readonly string[]
    readonly statuses: ReadonlyMap<string, ResourceStatus>
  } {
    const result = this.#reconciler.reconcile(cacheOf(resources))
    const statuses = this.#book.update(result.results, [holding(result)], 1000)
    return {
      ...result,
      statuses,
      said: (key) =>
        (statuses.get(key)?.conditions ?? []).map(
          ({ type, status, reason }) => `${type}=${status} ${reason}`,
        ),
    }
  }
}

const GOOD = [
  'Accepted=True Accepted',
  'ResolvedRefs=True ResolvedRefs',
  'Programmed=True Programmed',
  'Ready=True Ready',
]
const WAITS = [
  'Accepted=True Accepted',
  'ResolvedRefs=True ResolvedRefs',
  'Programmed=False Pending',
  'Ready=False Pending',
]

describe('a paused document', () => {
  it('serves as it is; a newer spec is validated, not put; then it goes on', () => {
    const cluster = new Cluster()
    const first = cluster.take(realm(), orders())
    const paused = cluster.take(realm(), orders({}, { annotations: PAUSED }))
    expect(paused.said(KEY)).toEqual(GOOD)
    const newer = { annotations: PAUSED, generation: 2 }
    const held = cluster.take(realm(), orders({ name: 'new' }, newer))
    expect(held.said(KEY)).toEqual(WAITS)
    expect(held.results.get(KEY)).toMatchObject({ isHeld: true, serving: { generation: 1 } })
    expect(held.desired.documents.get('orders')).toBe(first.desired.documents.get('orders'))
    const free = cluster.take(realm(), orders({ name: 'new' }, { generation: 2 }))
    expect(free.said(KEY)).toEqual(GOOD)
    expect(free.desired.documents.get('orders')?.spec['name']).toBe('new')
  })

  it('goes on also where nothing but the annotation changes', () => {
    const cluster = new Cluster()
    cluster.take(realm(), orders())
    const newer = orders({ name: 'new' }, { generation: 2 })
    const annotations = { ...PAUSED }
    const paused = { ...newer, metadata: { ...newer.metadata, annotations } }
    const held = cluster.take(realm(), paused)
    expect(held.said(KEY)).toEqual(WAITS)
    expect(cluster.take(realm(), newer).said(KEY)).toEqual(GOOD)
    expect(cluster.take(realm(), paused).said(KEY)).toEqual(GOOD)
  })

  it('tells what waits and what serves', () => {
    const cluster = new Cluster()
    const known = { annotations: PAUSED, generation: 2 }
    const words = (result: ReturnType<Cluster['take']>): string | undefined =>
      result.statuses.get(KEY)?.conditions.find(({ type }) => type === 'Programmed')?.message
    expect(words(cluster.take(realm(), orders({}, { annotations: PAUSED })))).toBe(
      'paused: generation 1 is validated and waits, no version of it serves; ' +
        'remove the annotation gateway.svc.dev/paused to go on',
    )
    cluster.take(realm(), orders())
    expect(words(cluster.take(realm(), orders({ name: 'new' }, known)))).toBe(
      'paused: generation 2 is validated and waits, generation 1 serves; ' +
        'remove the annotation gateway.svc.dev/paused to go on',
    )
  })

  it('says what is wrong with the newer spec', () => {
    const cluster = new Cluster()
    cluster.take(realm(), orders({}, { annotations: PAUSED }))
    cluster.take(realm(), orders())
    const held = cluster.take(realm(), orders({ host: 5 }, { annotations: PAUSED, generation: 2 }))
    expect(held.said(KEY)).toContain('Accepted=False Invalid')
    expect(held.said(KEY)).toContain('Stalled=True Invalid')
  })

  it('says which older document has its routes', () => {
    const cluster = new Cluster()
    const other = orders({ host: 'h.test' }, { name: 'a' })
    cluster.take(realm(), other, orders())
    const held = { annotations: PAUSED, generation: 2 }
    const taking = orders({ host: 'h.test' }, held)
    expect(cluster.take(realm(), other, taking).said(KEY)).toContain('Accepted=False Conflicted')
    expect(cluster.take(realm(), taking).said(KEY)).toEqual(WAITS)
  })

  it('takes no route from a younger one before it is put', () => {
    const cluster = new Cluster()
    const young = resourceOf(
      'ApiSpecification',
      'z',
      { spec: { document: aSpecification('z', { host: 'h.test' }) } },
      { createdAt: 9000 },
    )
    cluster.take(realm(), orders(), young)
    const taking = orders({ host: 'h.test' }, { annotations: PAUSED, generation: 2 })
    const held = cluster.take(realm(), taking, young)
    expect(held.said('ApiSpecification/default/z')).toEqual(GOOD)
    const taken = cluster.take(realm(), orders({ host: 'h.test' }, { generation: 2 }), young)
    expect(taken.said('ApiSpecification/default/z')).toContain('Accepted=False Conflicted')
  })

  it('a new selector waits too', () => {
    const cluster = new Cluster()
    cluster.take(realm(), orders())
    const spec = {
      document: aSpecification('orders'),
      dataPlaneSelector: { matchLabels: { tier: 'edge' } },
    }
    const known = { annotations: PAUSED, generation: 2 }
    const held = cluster.take(realm(), resourceOf('ApiSpecification', 'orders', { spec }, known))
    expect(held.results.get(KEY)?.isHeld).toBe(true)
    expect(held.desired.documents.get('orders')?.selector).toBeUndefined()
  })

  it('that never served serves nothing; deleted, it is gone', () => {
    const cluster = new Cluster()
    const held = cluster.take(realm(), orders({}, { annotations: PAUSED }))
    expect(held.said(KEY)).toEqual(WAITS)
    expect(held.desired.documents.size).toBe(0)
    const message = held.results.get(KEY)
    expect(message?.serving).toBeUndefined()
    cluster.take(realm(), orders())
    cluster.take(realm(), orders({}, { annotations: PAUSED }))
    const gone = cluster.take(realm())
    expect([gone.desired.documents.size, gone.desired.kept.documents.size]).toEqual([0, 0])
  })

  it.each(['True', 'yes', '', 'false', '1'])('%j does not pause', (value) => {
    const annotations = { 'gateway.svc.dev/paused': value }
    expect(new Cluster().take(realm(), orders({}, { annotations })).said(KEY)).toEqual(GOOD)
  })
})

describe('a paused realm', () => {
  const REALM = 'Realm/default/shop'

  it('stays as it is and says that something waits', () => {
    const cluster = new Cluster()
    const first = cluster.take(realm(), orders())
    expect(cluster.take(realm(1000, PAUSED), orders()).said(REALM)).toContain('Ready=True Ready')
    const held = cluster.take(realm(2000, PAUSED, 2), orders())
    expect(held.said(REALM)).toContain('Ready=False Pending')
    expect(held.said(KEY)).toEqual(GOOD)
    expect(held.desired.realms.get('com.shop')).toBe(first.desired.realms.get('com.shop'))
    const free = cluster.take(realm(2000, {}, 2), orders())
    expect(free.desired.realms.get('com.shop')?.record).toMatchObject({ call_timeout: 2000 })
  })

  it('that was never put holds its documents back, and their data planes keep what they have', () => {
    const held = new Cluster().take(realm(1000, PAUSED), orders())
    expect([...held.desired.kept.realms]).toEqual(['com.shop'])
    expect(held.said(REALM)).toContain('Ready=False Pending')
    expect(held.said(KEY)).toContain('ResolvedRefs=False RealmNotFound')
  })
})
