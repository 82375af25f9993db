// Tests what the web page reads of an operator: rows of documents, gateways and realms, and what is said by a standby.

import { describe, expect, it } from '@jest/globals'
import type { OperatorStatus } from '../../../operator/controller/controller.ts'
import type { DataPlaneReport } from '../../../operator/data-plane.ts'
import type { DesiredSet } from '../../../operator/desired-set.ts'
import { Reconciler } from '../../../operator/reconcile/reconciler.ts'
import { StatusRegistry } from '../../../operator/reconcile/status/status-registry.ts'
import { overviewPages, type OverviewSources } from '../../../operator/status/overview-pages.ts'
import { aSpecification, cacheOf, resourceOf } from '../../support/resources.ts'

const RESOURCES = [
  resourceOf('Realm', 'shop', {
    spec: { uri: 'com.shop', callbackSecret: { secretRef: { name: 'keys', key: 'k' } } },
  }),
  resourceOf('Secret', 'keys', { stringData: { k: 'HUSH-HUSH' } }),
  resourceOf('ApiSpecification', 'orders', { spec: { document: aSpecification('orders') } }),
  resourceOf('ApiSpecification', 'users', { spec: { document: aSpecification('users') } }),
  resourceOf('ApiSpecification', 'broken', { spec: { document: { id: 'broken' } } }),
]

const reportOf = (name: string, more: Partial<DataPlaneReport>): DataPlaneReport => ({
  dataPlane: { name, url: `https://${name}`, labels: {} },
  phase: 'synced',
  message: '',
  ready: true,
  documents: new Map(),
  realms: new Map(),
  realmsGiven: new Set(),
  rejected: { documents: new Map(), realms: new Map() },
  ...more,
})

/** Counts how often all of it is read. */
class CountedMap<V> extends Map<string, V> {
  reads = 0

  override keys() {
    this.reads++
    return super.keys()
  }

  override [Symbol.iterator]() {
    this.reads++
    return super[Symbol.iterator]()
  }
}

const setUp = (more: Partial<OverviewSources> = {}) => {
  const { results, desired } = new Reconciler({ className: 'svc' }).reconcile(cacheOf(RESOURCES))
  const held = (entries: DesiredSet['documents']) =>
    new Map([...entries].map(([id, { digest }]) => [id, { digest, warnings: [] }] as const))
  const [realm] = desired.realms.values()
  const session = { url: 'ws://router', state: 'refused', reason: 'no_such_realm' } as const
  const realms = new Map([['com.shop', { digest: realm?.digest ?? '', sessions: [session] }]])
  const dataPlanes = [
    reportOf('one', { documents: held(desired.documents), realms }),
    reportOf('two', {
      phase: 'syncing',
      documents: new Map([
        ['orders', { digest: 'old', warnings: [] }],
        ['gone', { digest: 'x', warnings: [] }],
      ]),
      rejected: {
        documents: new Map([
          [
            'orders',
            { digest: 'new', errors: [{ code: 'invalid_value', path: '/x', message: 'bad' }] },
          ],
        ]),
        realms: new Map(),
      },
    }),
  ]
  const status: OperatorStatus = {
    isReady: true,
    isLeading: true,
    resources: new StatusRegistry().update(results, dataPlanes, 0),
    dataPlanes,
    notes: [],
  }
  const pages = overviewPages({
    status: () => status,
    desired: () => desired,
    manager: 'svc',
    ...more,
  })
  return {
    desired,
    read: async (path: string, query = ''): Promise<unknown> => {
      const page = await pages[path]?.(query)
      return typeof page === 'object' && 'json' in page && page.status === undefined
        ? page.json
        : page
    },
  }
}

describe('the overview of an operator', () => {
  it('counts states', async () => {
    expect(await setUp().read('/overview')).toMatchObject({
      program: 'operator',
      manager: 'svc',
      message: null,
      // Two of them are not on both gateways.
      documents: { failed: 3, ready: 0 },
      gateways: { ready: 1, pending: 1, degraded: 0, failed: 0 },
    })
  })

  it('lists the erroneous document first, with pointer and place', async () => {
    const locate = () => ({ line: 7, column: 3 })
    const origin = { file: 'a.yaml', line: 1, column: 1 }
    const resources = RESOURCES.map((resource) => ({ ...resource, origin }))
    const { results } = new Reconciler({ className: 'svc' }).reconcile(cacheOf(resources))
    const all = new StatusRegistry().update(results, [], 0)
    const status = { isReady: true, isLeading: true, resources: all, dataPlanes: [], notes: [] }
    const { read } = setUp({ status: () => status, locate })
    const page = (await read('/overview/documents', 'limit=1')) as {
      readonly documents: readonly object[]
      readonly next: string
    }
    expect(page).toMatchObject({
      documents: [
        {
          key: 'default/broken',
          state: 'failed',
          reason: 'Invalid',
          place: 'a.yaml:7:3',
          pointer: '/spec/document/host',
        },
      ],
      total: 3,
      next: '0 default/broken',
    })
    const rest = await read('/overview/documents', `after=${encodeURIComponent(page.next)}`)
    expect(rest).toMatchObject({ documents: [{}, {}], next: null })
  })

  it.each([
    ['match=USERS', ['default/users']],
    ['match=orders.test', ['default/orders']],
    ['state=failed&match=broken', ['default/broken']],
    ['state=ready', []],
  ])('searches documents: %s', async (query, keys) => {
    const { documents } = (await setUp().read('/overview/documents', query)) as {
      readonly documents: readonly { readonly key: string }[]
    }
    expect(documents.map(({ key }) => key)).toEqual(keys)
  })

  it('tells which gateways hold which version', async () => {
    const { read, desired } = setUp()
    const digest = desired.documents.get('orders')?.digest
    expect(await read('/overview/document', 'key=default%2Forders')).toMatchObject({
      versions: [
        { digest, isWanted: true, count: 1, gateways: ['one'] },
        { digest: 'old', isWanted: false, count: 1, gateways: ['two'] },
      ],
    })
    expect(await read('/overview/document', 'key=default%2Fusers')).toMatchObject({
      versions: [{ isWanted: true }, { digest: null, isWanted: false, gateways: ['two'] }],
    })
  })

  it('tells how far gateways are behind, in what, and why', async () => {
    const { read, desired } = setUp()
    const page = (await read('/overview/gateways')) as { gateways: readonly object[] }
    expect(page.gateways).toMatchObject([
      { name: 'two', lag: { missing: 2, outdated: 1, extra: 1 }, rejected: 1 },
      { name: 'one', lag: { missing: 0, outdated: 0, extra: 0 }, rejected: 0 },
    ])
    const [two, one] = page.gateways as { digest: string; wanted: string }[]
    expect([one?.digest, two?.wanted]).toEqual([one?.wanted, one?.wanted])
    expect(two?.digest).not.toBe(two?.wanted)
    const wanted = desired.documents.get('orders')?.digest
    expect(await read('/overview/gateway', 'name=two')).toMatchObject({
      differences: [
        { kind: 'document', key: 'gone', wanted: null, held: 'x', rejection: null },
        { kind: 'document', key: 'orders', wanted, held: 'old', rejection: '/x bad' },
        { kind: 'document', key: 'users', held: null },
        { kind: 'realm', key: 'com.shop', held: null },
      ],
      moreDifferences: 0,
    })
  })

  it('compares a gateway once, however often it is shown', async () => {
    const { desired } = setUp()
    const documents = new CountedMap([['orders', { digest: 'old', warnings: [] }]])
    const dataPlanes = [reportOf('two', { phase: 'syncing', documents })]
    const status = { isReady: true, isLeading: true, resources: new Map(), dataPlanes, notes: [] }
    const { read } = setUp({ status: () => status, desired: () => desired })
    const first = await read('/overview/gateways')
    const { reads } = documents
    expect(reads).toBeGreaterThan(0)
    expect(await read('/overview/gateways')).toEqual(first)
    expect(documents.reads).toBe(reads)
  })

  it('lists the names of gateways, and compares none', async () => {
    const documents = new CountedMap([['orders', { digest: 'old', warnings: [] }]])
    const dataPlanes = ['two', 'one'].map((name) => reportOf(name, { documents }))
    const status = { isReady: true, isLeading: true, resources: new Map(), dataPlanes, notes: [] }
    const { read } = setUp({ status: () => status })
    expect(await read('/overview/gateways', 'view=names&limit=1')).toEqual({
      gateways: [{ name: 'one' }],
      total: 2,
      next: expect.stringContaining('one'),
    })
    expect(documents.reads).toBe(0)
  })

  it('reports of realms what is used and what fails, and no secret', async () => {
    const { read } = setUp()
    const page = await read('/overview/realms')
    expect(page).toMatchObject({
      realms: [
        {
          uri: 'com.shop',
          key: 'default/shop',
          documents: 2,
          gateways: 1,
          sessions: { open: 0, refused: 1 },
          troubles: ['one ws://router refused: no_such_realm'],
        },
      ],
    })
    const all = await Promise.all(
      ['/overview', '/overview/documents', '/overview/gateways'].map((path) => read(path)),
    )
    expect(JSON.stringify([page, all])).not.toContain('HUSH')
  })

  it.each([
    ['/overview/document', 'key=default%2Fnone', 404],
    ['/overview/document', '', 404],
    ['/overview/gateway', 'name=none', 404],
    ['/overview/documents', 'state=odd', 400],
    ['/overview/documents', 'limit=x', 400],
  ])('%s?%s is %i', async (path, query, status) => {
    expect(await setUp().read(path, query)).toMatchObject({ status })
  })

  it('names the leader, where this is a standby', async () => {
    const leader = { role: 'standby', leader: null, message: 'b leads' } as const
    const { read } = setUp({ leader: () => leader })
    expect(await read('/overview')).toMatchObject({ message: 'b leads' })
    for (const path of ['/overview/documents', '/overview/document', '/overview/gateway'])
      expect(await read(path)).toEqual({ error: 'b leads' })
  })
})
